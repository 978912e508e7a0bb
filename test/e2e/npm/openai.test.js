// The openai package's chat completions.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import OpenAI from 'openai';
import { zodResponseFormat } from 'openai/helpers/zod';
import { battery, imageAddress, person, png, tools } from './shared/battery.js';
import { apiKey, caught, collect, v1, via } from './shared/platform.js';

const finishes = { stop: 'stop', length: 'length', tool_calls: 'tools', content_filter: 'refused' };

/** body is a question as a request. */
function body(model, q, strict) {
  const messages = [];
  if (q.system) messages.push({ role: 'system', content: q.system });
  const images = { data: `data:image/png;base64,${png}`, url: imageAddress };
  messages.push({
    role: 'user',
    content: q.image ? [{ type: 'text', text: q.prompt }, { type: 'image_url', image_url: { url: images[q.image] } }] : q.prompt,
  });
  if (q.earlier) {
    messages.push(q.earlier.answer.turn, ...q.earlier.results.map((r) => ({ role: 'tool', tool_call_id: r.id, content: r.output })));
  }
  return {
    model, messages,
    tools: q.tools?.map((name) => ({ type: 'function', function: { name, description: tools[name].description, parameters: tools[name].parameters, strict } })),
    tool_choice: q.choice?.name ? { type: 'function', function: { name: q.choice.name } } : q.choice,
    parallel_tool_calls: q.serial ? false : undefined,
    response_format: q.schema ? zodResponseFormat(person, 'person') : undefined,
    // Where thoughts are to be seen they are asked for in OpenRouter's words; OpenAI's API shows none.
    ...(q.show ? { reasoning: { effort: q.effort, summary: 'auto' } } : { reasoning_effort: q.effort }),
    max_completion_tokens: q.maxTokens, stop: q.stop,
  };
}

function answer(reply) {
  const { message, finish_reason: finish } = reply.choices[0];
  const u = reply.usage;
  return {
    text: message.content ?? '', refusal: message.refusal, thoughts: message.reasoning_content, turn: message, model: reply.model,
    object: message.parsed ?? undefined,
    finish: message.refusal ? 'refused' : finishes[finish],
    calls: (message.tool_calls ?? []).map((c) => ({ id: c.id, name: c.function.name, input: JSON.parse(c.function.arguments) })),
    usage: u && {
      input: u.prompt_tokens, output: u.completion_tokens, total: u.total_tokens,
      reasoning: u.completion_tokens_details.reasoning_tokens, cached: u.prompt_tokens_details.cached_tokens,
    },
  };
}

/** details joins what a stream brings of the gateway's reasoning_details. */
function details(chunks) {
  const joined = [];
  for (const one of chunks.flatMap((c) => c.choices[0]?.delta.reasoning_details ?? [])) {
    const known = joined[one.index] ??= {};
    for (const [key, value] of Object.entries(one)) {
      known[key] = ['text', 'summary', 'data'].includes(key) ? (known[key] ?? '') + value : value;
    }
  }
  return joined.filter(Boolean);
}

function adapter(settings = {}) {
  const client = new OpenAI({ baseURL: v1, apiKey, maxRetries: 0, ...settings });
  const open = (model, q, options) => client.chat.completions.create({ ...body(model, q), stream: true, stream_options: { include_usage: true } }, options);
  return {
    name: 'openai-chat',
    can: {},
    make: adapter,
    open,
    ask: async (model, q, options) => answer(await client.chat.completions[q.schema ? 'parse' : 'create'](body(model, q, true), options)),
    async stream(model, q, options) {
      const chunks = [];
      const stream = client.chat.completions.stream({ ...body(model, q), stream_options: { include_usage: true } }, options);
      for await (const chunk of stream) chunks.push(chunk);
      const whole = answer(await stream.finalChatCompletion());
      const deltas = chunks.map((c) => c.choices[0]?.delta ?? {});
      whole.pieces = deltas.map((d) => d.content ?? '').filter(Boolean);
      whole.thoughts = deltas.map((d) => d.reasoning_content ?? '').join('');
      const proofs = details(chunks);
      if (proofs.length > 0) whole.turn = { ...whole.turn, reasoning_details: proofs };
      whole.argumentPieces = new Map();
      const ids = [];
      for (const call of deltas.flatMap((d) => d.tool_calls ?? [])) {
        ids[call.index] ??= call.id;
        const pieces = whole.argumentPieces.get(ids[call.index]) ?? [];
        whole.argumentPieces.set(ids[call.index], [...pieces, call.function?.arguments ?? '']);
      }
      return whole;
    },
    raised: {
      400: OpenAI.BadRequestError, 401: OpenAI.AuthenticationError, 404: OpenAI.NotFoundError, 429: OpenAI.RateLimitError,
      502: OpenAI.InternalServerError, stream: Error, abort: (e) => e instanceof OpenAI.APIUserAbortError,
    },
    status: (e) => e.status,
    code: (e) => e.code,
    retryAfter: (e) => e.headers.get('retry-after'),
  };
}

battery(adapter());

const client = new OpenAI({ baseURL: v1, apiKey, maxRetries: 0 });
const user = (content) => [{ role: 'user', content }];
const say = (model, more = {}, options) => client.chat.completions.create({ model, messages: user('Say hello'), ...more }, options);

test('the headers of a reply name the request and who served it', async () => {
  const { data, response } = await say('sim/small').withResponse();
  assert.equal(data.object, 'chat.completion');
  assert.match(response.headers.get('x-signalbox-request-id'), /^req_/);
  assert.equal(data._request_id, response.headers.get('x-request-id'));
  assert.equal(response.headers.get('x-signalbox-provider'), 'north');
});

test('a stream has no usage that nobody asked for', async () => {
  for (const format of ['compatible', 'anthropic', 'google', 'openai-responses']) {
    for (const chunk of await collect(await say(via(format, 'small'), { stream: true }))) {
      assert.equal(chunk.choices.length, 1);
      assert.ok(!chunk.usage);
    }
  }
});

test('several choices, log probabilities and a seed pass where a provider has them', async () => {
  const reply = await say(via('openai-chat', 'small'), { n: 2, seed: 7, logprobs: true, top_logprobs: 2 });
  assert.equal(reply.choices.length, 2);
  assert.ok(reply.choices[1].logprobs.content[0].top_logprobs.length === 2);
});

test('and are refused where none has, if they are required', async () => {
  const failure = await caught(say(via('anthropic', 'small'), { seed: 7, provider: { require_parameters: true } }));
  assert.ok(failure instanceof OpenAI.BadRequestError);
  assert.equal(failure.code, 'unsupported_model_or_endpoint');
});

test('custom tools take text', async () => {
  const reply = await client.chat.completions.create({
    model: via('openai-chat', 'small'), messages: user('use run_code'), tools: [{ type: 'custom', custom: { name: 'run_code', description: 'Runs code' } }],
  });
  assert.match(reply.choices[0].message.tool_calls[0].custom.input, /^run /);
});

test('audio in and out', async () => {
  const reply = await client.chat.completions.create({
    model: via('openai-chat', 'small'), modalities: ['text', 'audio'], audio: { voice: 'alloy', format: 'wav' },
    messages: user([{ type: 'text', text: 'Listen' }, { type: 'input_audio', input_audio: { data: 'UklGRgAAAABXQVZF', format: 'wav' } }]),
  });
  assert.match(reply.choices[0].message.audio.transcript, /I heard 1 recording/);
});

test('files in, at each kind of provider', async () => {
  const file = { filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERi0xLjQ=' };
  for (const format of ['openai-chat', 'openai-responses', 'anthropic', 'bedrock', 'google', 'vertex']) {
    const reply = await client.chat.completions.create({
      model: via(format, 'small'), messages: user([{ type: 'text', text: 'What is this?' }, { type: 'file', file }]),
    });
    assert.match(reply.choices[0].message.content, /I read 1 document/, format);
  }
});

for (const [name, kind, status, code, call] of [
  ['a wrong key', OpenAI.AuthenticationError, 401, 'unauthorized', () => new OpenAI({ baseURL: v1, apiKey: 'sk-wrong', maxRetries: 0 }).chat.completions.create({ model: 'sim/small', messages: user('x') })],
  ['an unknown model', OpenAI.NotFoundError, 404, 'model_not_found', () => say('sim/no-such-model')],
  ['a wrong field', OpenAI.BadRequestError, 400, 'validation_error', () => say('sim/small', { provider: { onyl: ['north'] } })],
  ["the provider's own refusal", OpenAI.BadRequestError, 400, 'upstream_rejected', () => say('sim/small', { temperature: 9 })],
  ['a surface that the model lacks', OpenAI.BadRequestError, 400, 'unsupported_model_or_endpoint', () => say('signalbox-sim/embed')],
]) {
  test(`${name} is raised as ${kind.name}`, async () => {
    const failure = await caught(call());
    assert.ok(failure instanceof kind, `${failure.constructor.name}: ${failure.message}`);
    assert.equal(failure.status, status);
    assert.equal(failure.code, code);
    assert.ok(failure.error.request_id.startsWith('req_'));
    assert.ok(failure.error.message.length > 0);
  });
}

test('a cut stream has no finish', async () => {
  let finish = null;
  await caught((async () => { for await (const c of await say('sim/cut-3', { stream: true })) finish = c.choices[0]?.finish_reason ?? finish; })());
  assert.equal(finish, null);
});

test("the client's timeout is raised as its own kind", async () => {
  const failure = await caught(say('sim/hang', {}, { timeout: 300 }));
  assert.ok(failure instanceof OpenAI.APIConnectionTimeoutError, failure.constructor.name);
});

test("the gateway's timeout for the first byte is a 504", async () => {
  const failure = await caught(say('sim/hang', {}, { headers: { 'x-signalbox-timeout-ms': '1000' } }));
  assert.equal(failure.status, 504);
  assert.equal(failure.code, 'upstream_timeout');
});

test('models.list() pages through what the key may use, and models.retrieve() finds one', async () => {
  const all = await collect(client.models.list());
  for (const model of all) assert.equal(model.object, 'model');
  const ids = all.map((m) => m.id);
  assert.ok(ids.includes('sim/small'));
  assert.equal(new Set(ids).size, ids.length);
  assert.equal((await client.models.retrieve('sim/small')).id, 'sim/small');
  assert.ok(await caught(client.models.retrieve('sim/no-such-model')) instanceof OpenAI.NotFoundError);
});
