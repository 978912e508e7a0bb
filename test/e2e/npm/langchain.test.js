// The @langchain/openai package, with chat completions and with responses.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { AIMessage, HumanMessage, SystemMessage, ToolMessage } from '@langchain/core/messages';
import { ChatOpenAI, OpenAIEmbeddings } from '@langchain/openai';
import { battery, imageAddress, person, png, tools } from './shared/battery.js';
import { apiKey, caught, v1 } from './shared/platform.js';

/** history is a question as messages. */
function history(q) {
  const images = { data: `data:image/png;base64,${png}`, url: imageAddress };
  const messages = q.system ? [new SystemMessage(q.system)] : [];
  messages.push(new HumanMessage({
    content: q.image ? [{ type: 'text', text: q.prompt }, { type: 'image_url', image_url: { url: images[q.image] } }] : q.prompt,
  }));
  if (q.earlier) {
    messages.push(q.earlier.answer.turn);
    messages.push(...q.earlier.results.map((r) => new ToolMessage({ tool_call_id: r.id, name: r.name, content: r.output })));
  }
  return messages;
}

function runnable(model, q, useResponsesApi, settings) {
  const llm = new ChatOpenAI({
    model, apiKey, maxRetries: 0, configuration: { baseURL: v1 }, useResponsesApi, streamUsage: true, zdrEnabled: useResponsesApi,
    maxTokens: q.maxTokens, stop: q.stop,
    // It believes no model of an unknown name to reason.
    modelKwargs: q.effort && (useResponsesApi ? { reasoning: { effort: q.effort, summary: 'auto' }, include: ['reasoning.encrypted_content'] } : { reasoning_effort: q.effort }),
    ...settings,
  });
  if (q.schema) return llm.withStructuredOutput(person, { name: 'person', method: 'jsonSchema' });
  if (!q.tools) return llm;
  return llm.bindTools(
    q.tools.map((name) => ({ type: 'function', function: { name, description: tools[name].description, parameters: tools[name].parameters } })),
    { tool_choice: q.choice?.name ?? q.choice, parallel_tool_calls: q.serial ? false : undefined },
  );
}

const finishes = { stop: 'stop', length: 'length', tool_calls: 'tools', content_filter: 'refused' };

function finishOf(message, calls) {
  const { finish_reason: finish, status, incomplete_details: incomplete } = message.response_metadata;
  if (message.additional_kwargs.refusal) return 'refused';
  if (finish) return finishes[finish];
  if (status === 'incomplete') return incomplete.reason === 'content_filter' ? 'refused' : 'length';
  return calls.length > 0 ? 'tools' : 'stop';
}

function answer(message) {
  const u = message.usage_metadata;
  const calls = (message.tool_calls ?? []).map((c) => ({ id: c.id, name: c.name, input: c.args }));
  const items = (message.response_metadata.output ?? []).filter((i) => i.type === 'reasoning');
  const reasoning = items.length > 0 ? { summary: items.flatMap((i) => i.summary) } : message.additional_kwargs.reasoning;
  return {
    text: message.text, calls, turn: message, refusal: message.additional_kwargs.refusal,
    thoughts: reasoning ? reasoning.summary.map((s) => s.text).join('') : message.additional_kwargs.reasoning_content,
    finish: finishOf(message, calls), model: message.response_metadata.model_name ?? message.response_metadata.model,
    usage: u && {
      input: u.input_tokens, output: u.output_tokens, total: u.total_tokens, reasoning: u.output_token_details?.reasoning, cached: u.input_token_details?.cache_read,
    },
  };
}

function adapter(name, useResponsesApi, can, { maxRetries = 0, ...settings } = {}) {
  const run = (model, q) => runnable(model, q, useResponsesApi, { maxRetries, ...settings });
  return {
    name, can,
    make: (other) => adapter(name, useResponsesApi, can, other),
    open: (model, q, options) => run(model, q).stream(history(q), options),
    async ask(model, q, options) {
      const reply = await run(model, q).invoke(history(q), options);
      return q.schema ? { object: reply } : answer(reply);
    },
    async stream(model, q, options) {
      let whole;
      const chunks = [];
      for await (const chunk of await run(model, q).stream(history(q), options)) {
        chunks.push(chunk);
        whole = whole?.concat ? whole.concat(chunk) : chunk;
      }
      if (q.schema) return { object: whole };
      const out = answer(whole);
      // What was streamed goes back as a message, as an agent keeps it.
      out.turn = new AIMessage({ ...whole, content: whole.content, tool_calls: whole.tool_calls, additional_kwargs: whole.additional_kwargs, response_metadata: whole.response_metadata, id: whole.id });
      out.pieces = chunks.map((c) => c.text).filter((text) => text !== '');
      const ids = [];
      out.argumentPieces = new Map();
      for (const part of chunks.flatMap((c) => c.tool_call_chunks ?? [])) {
        ids[part.index] ??= part.id;
        out.argumentPieces.set(ids[part.index], [...(out.argumentPieces.get(ids[part.index]) ?? []), part.args ?? '']);
      }
      return out;
    },
    raised: {
      400: Error, 401: Error, 404: Error, 429: Error, 502: Error, stream: Error,
      abort: (e) => e.name === 'AbortError' || /abort/i.test(e.message),
    },
    // One kind it raises as its own, around the error that it had.
    status: (e) => (e.cause ?? e).status,
    code: (e) => (e.cause ?? e).code,
    retryAfter: (e) => e.headers.get('retry-after'),
  };
}

describe('each API', { concurrency: 2 }, () => {
  // With chat completions the client keeps no proofs, cannot ask for thoughts and does not tell refusals.
  battery(adapter('langchain-chat', false, { proof: false, asks: false, refusal: false }));
  // With responses it leaves out a choice that is a word, and the proofs of what it streams.
  battery(adapter('langchain-responses', true, { stop: false, refusalText: false, choice: false, streamedProof: false }));
});

test('embeddings, one and many', async () => {
  const embeddings = new OpenAIEmbeddings({ model: 'signalbox-sim/embed', apiKey, configuration: { baseURL: v1 }, maxRetries: 0 });
  const one = await embeddings.embedQuery('a word');
  const many = await embeddings.embedDocuments(['a word', 'another']);
  assert.equal(one.length, 256);
  assert.equal(many.length, 2);
  assert.deepEqual(many[0], one);
});

test('a wrong key and an unknown model carry the client’s codes', async () => {
  const say = (settings) => new ChatOpenAI({ model: 'sim/small', apiKey, maxRetries: 0, configuration: { baseURL: v1 }, ...settings }).invoke('x');
  const key = await caught(say({ apiKey: 'sk-wrong' }));
  assert.equal(key.status, 401);
  assert.equal(key.lc_error_code, 'MODEL_AUTHENTICATION');
  const model = await caught(say({ model: 'sim/no-such-model' }));
  assert.equal(model.status, 404);
  assert.equal(model.lc_error_code, 'MODEL_NOT_FOUND');
});

test('the client’s timeout ends the call', async () => {
  const failure = await caught(new ChatOpenAI({ model: 'sim/hang', apiKey, maxRetries: 0, timeout: 300, configuration: { baseURL: v1 } }).invoke('x'));
  assert.equal(failure.name, 'TimeoutError');
});

test('batches of questions', async () => {
  const llm = new ChatOpenAI({ model: 'sim/small', apiKey, configuration: { baseURL: v1 } });
  const replies = await llm.batch(['one', 'two', 'three']);
  assert.deepEqual(replies.map((r) => r.text.match(/“(.*)”/)[1]), ['one', 'two', 'three']);
});
