// The @openrouter/sdk package.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OpenRouter } from '@openrouter/sdk';
import * as errors from '@openrouter/sdk/models/errors';
import { z } from 'zod';
import { battery, imageAddress, person, png, tools } from './shared/battery.js';
import { formats } from './shared/formats.js';
import { apiKey, caught, collect, v1, via } from './shared/platform.js';

/** body is a question as a request. */
function body(model, q) {
  const images = { data: `data:image/png;base64,${png}`, url: imageAddress };
  const messages = q.system ? [{ role: 'system', content: q.system }] : [];
  messages.push({
    role: 'user',
    content: q.image ? [{ type: 'text', text: q.prompt }, { type: 'image_url', imageUrl: { url: images[q.image] } }] : q.prompt,
  });
  if (q.earlier) {
    messages.push(q.earlier.answer.turn, ...q.earlier.results.map((r) => ({ role: 'tool', toolCallId: r.id, content: r.output })));
  }
  return {
    model, messages,
    tools: q.tools?.map((name) => ({ type: 'function', function: { name, description: tools[name].description, parameters: tools[name].parameters } })),
    toolChoice: q.choice?.name ? { type: 'function', function: { name: q.choice.name } } : q.choice,
    parallelToolCalls: q.serial ? false : undefined,
    responseFormat: q.schema ? { type: 'json_schema', jsonSchema: { name: 'person', strict: true, schema: z.toJSONSchema(person) } } : undefined,
    ...(q.show ? { reasoning: { effort: q.effort, summary: 'auto' } } : { reasoningEffort: q.effort }),
    maxCompletionTokens: q.maxTokens, stop: q.stop,
  };
}

const finishes = { stop: 'stop', length: 'length', tool_calls: 'tools', content_filter: 'refused' };

function answer({ message, finishReason, usage: u, model }) {
  return {
    text: message.content ?? '', refusal: message.refusal, thoughts: (message.reasoningDetails ?? []).map((d) => d.text ?? d.summary ?? '').join('') || message.reasoning,
    turn: message, model, finish: message.refusal ? 'refused' : finishes[finishReason],
    calls: (message.toolCalls ?? []).map((c) => ({ id: c.id, name: c.function.name, input: JSON.parse(c.function.arguments) })),
    usage: u && {
      input: u.promptTokens, output: u.completionTokens, total: u.totalTokens,
      reasoning: u.completionTokensDetails.reasoningTokens, cached: u.promptTokensDetails.cachedTokens,
    },
  };
}

/** joined is the message that chunks bring. */
function joined(chunks) {
  const message = { role: 'assistant', content: '' };
  const ids = [];
  const argumentPieces = new Map();
  for (const delta of chunks.map((c) => c.choices[0]?.delta).filter(Boolean)) {
    message.content += delta.content ?? '';
    if (delta.refusal) message.refusal = (message.refusal ?? '') + delta.refusal;
    if (delta.reasoning) message.reasoning = (message.reasoning ?? '') + delta.reasoning;
    for (const one of delta.reasoningDetails ?? []) {
      message.reasoningDetails ??= [];
      const known = message.reasoningDetails.find((d) => d.index === one.index && d.type === one.type);
      if (!known) message.reasoningDetails.push({ ...one });
      else for (const key of ['text', 'summary', 'data', 'signature']) if (one[key]) known[key] = (known[key] ?? '') + one[key];
      if (known) known.format ??= one.format;
    }
    for (const call of delta.toolCalls ?? []) {
      message.toolCalls ??= [];
      const known = message.toolCalls[call.index] ??= { type: 'function', id: call.id, function: { name: call.function.name, arguments: '' } };
      known.function.arguments += call.function?.arguments ?? '';
      ids[call.index] ??= call.id;
      argumentPieces.set(ids[call.index], [...(argumentPieces.get(ids[call.index]) ?? []), call.function?.arguments ?? '']);
    }
  }
  return { message, argumentPieces };
}

function adapter({ maxRetries = 0 } = {}) {
  const backoff = { initialInterval: 300, maxInterval: 2000, exponent: 1.5, maxElapsedTime: 20000 };
  const retryConfig = maxRetries > 0 ? { strategy: 'backoff', backoff, retryConnectionErrors: true } : { strategy: 'none' };
  const client = new OpenRouter({ apiKey, serverURL: v1, retryConfig });
  const options = ({ signal } = {}) => ({ retryCodes: ['429', '5XX'], ...(signal ? { signal } : {}) });
  const open = (model, q, o) => client.chat.send({ chatRequest: { ...body(model, q), stream: true } }, options(o));
  return {
    name: 'openrouter-chat',
    can: { usage: false, foreign: false }, // OpenRouter sends usage unasked
    make: adapter,
    open,
    async ask(model, q, o) {
      const reply = await client.chat.send({ chatRequest: { ...body(model, q), stream: false } }, options(o));
      return answer({ ...reply.choices[0], usage: reply.usage, model: reply.model });
    },
    async stream(model, q, o) {
      const chunks = await collect(await open(model, q, o));
      const broken = chunks.find((c) => c.error);
      if (broken) throw Object.assign(new Error(broken.error.message), { statusCode: broken.error.code });
      const { message, argumentPieces } = joined(chunks);
      const finishReason = chunks.map((c) => c.choices[0]?.finishReason).filter(Boolean).at(-1);
      const usage = chunks.map((c) => c.usage).filter(Boolean).at(-1);
      const whole = answer({ message, finishReason, usage, model: chunks[0].model });
      whole.pieces = chunks.map((c) => c.choices[0]?.delta.content ?? '').filter(Boolean);
      whole.argumentPieces = argumentPieces;
      return whole;
    },
    // OpenRouter's codes are numbers, OpenAI's and ours are words: errors are of the base class, with all in them.
    raised: {
      400: errors.OpenRouterError, 401: errors.OpenRouterError, 404: errors.OpenRouterError, 429: errors.OpenRouterError, 502: errors.OpenRouterError, stream: Error,
      abort: (e) => e instanceof errors.RequestAbortedError,
    },
    status: (e) => e.statusCode,
    code: (e) => JSON.parse(e.body).error.code,
    said: (e) => e.body,
    retryAfter: (e) => e.headers.get('retry-after'),
  };
}

battery(adapter());

const client = new OpenRouter({ apiKey, serverURL: v1, retryConfig: { strategy: 'none' } });

test('fallback models and preferences of providers', async () => {
  const ask = (more) => client.chat.send({ chatRequest: { messages: [{ role: 'user', content: 'Say hello' }], ...more } });
  const fallen = await ask({ model: via('compatible', 'fault-status-503'), models: [via('anthropic', 'small')] });
  assert.equal(fallen.model, via('anthropic', 'small'));
  const ordered = await ask({ model: 'sim/both', provider: { order: ['south'], allowFallbacks: false } });
  assert.match(ordered.choices[0].message.content, /Say hello/);
  const nobody = await caught(ask({ model: 'sim/small', provider: { only: ['south'] } }));
  assert.equal(nobody.statusCode, 400);
});

test('embeddings', async () => {
  const reply = await client.embeddings.generate({ requestBody: { model: 'signalbox-sim/embed', input: ['a word', 'another'], encodingFormat: 'float' } });
  assert.equal(reply.data.length, 2);
  assert.equal(reply.data[0].embedding.length, 256);
});

test('responses, plain and streamed', async () => {
  for (const { word } of formats) {
    const reply = await client.beta.responses.send({ responsesRequest: { model: via(word, 'small'), input: 'Say hello' } });
    const text = reply.output.flatMap((i) => i.content ?? []).map((p) => p.text).join('');
    assert.match(text, /“Say hello”/, word);
    const events = await collect(await client.beta.responses.send({ responsesRequest: { model: via(word, 'small'), input: 'Say hello', stream: true } }));
    assert.equal(events.filter((e) => e.type === 'response.output_text.delta').map((e) => e.delta).join(''), text, word);
    assert.equal(events.at(-1).type, 'response.completed');
  }
});

test('a wrong key and an unknown model', async () => {
  const say = (c, model) => c.chat.send({ chatRequest: { model, messages: [{ role: 'user', content: 'x' }] } });
  const key = await caught(say(new OpenRouter({ apiKey: 'sk-wrong', serverURL: v1, retryConfig: { strategy: 'none' } }), 'sim/small'));
  assert.equal(key.statusCode, 401);
  assert.equal(JSON.parse(key.body).error.code, 'unauthorized');
  assert.equal((await caught(say(client, 'sim/no-such-model'))).statusCode, 404);
});
