// The openai package against a running Signalbox. The Go test beside this
// folder starts the platform and passes:
//   SIGNALBOX_URL, SIGNALBOX_KEY   the gateway's /v1 and an API key
//   SIMULATOR_STATS                where the simulated provider's counts are
import assert from 'node:assert/strict';
import { test } from 'node:test';
import OpenAI from 'openai';

const baseURL = process.env.SIGNALBOX_URL;
const apiKey = process.env.SIGNALBOX_KEY;
const client = new OpenAI({ baseURL, apiKey, maxRetries: 0 });
const user = (content) => [{ role: 'user', content }];
const say = (model, more = {}) => client.chat.completions.create({ model, messages: user('Say hello'), ...more });

const tool = (name, properties) => ({
  type: 'function',
  function: { name, parameters: { type: 'object', properties, required: Object.keys(properties) } },
});
const tools = [tool('get_weather', { city: { type: 'string' } }), tool('get_time', { zone: { type: 'string' } })];

/** until waits for a condition of the provider's counts. */
async function until(condition) {
  const end = Date.now() + 5000;
  for (;;) {
    const stats = await (await fetch(process.env.SIMULATOR_STATS)).json();
    if (condition(stats)) return stats;
    if (Date.now() > end) assert.fail(`the provider never got there: ${JSON.stringify(stats)}`);
    await new Promise((wake) => setTimeout(wake, 10));
  }
}

test('a plain chat completion', async () => {
  const { data, response } = await say('sim/small').withResponse();
  assert.equal(data.object, 'chat.completion');
  assert.match(data.choices[0].message.content, /Say hello/);
  assert.equal(data.model, 'sim/small');
  assert.ok(data.usage.total_tokens > 0);
  assert.match(response.headers.get('x-signalbox-request-id'), /^req_/);
  assert.equal(response.headers.get('x-signalbox-provider'), 'north');
});

test('a streamed one gives the same text and no usage that nobody asked for', async () => {
  const plain = await say('sim/small');
  let text = '';
  let finish;
  for await (const chunk of await say('sim/small', { stream: true })) {
    assert.equal(chunk.choices.length, 1);
    assert.ok(!chunk.usage);
    text += chunk.choices[0].delta.content ?? '';
    finish = chunk.choices[0].finish_reason ?? finish;
  }
  assert.equal(text, plain.choices[0].message.content);
  assert.equal(finish, 'stop');
});

test('a streamed one with usage', async () => {
  const chunks = [];
  for await (const chunk of await say('sim/small', { stream: true, stream_options: { include_usage: true } })) chunks.push(chunk);
  const last = chunks.at(-1);
  assert.equal(last.choices.length, 0);
  assert.ok(last.usage.total_tokens > 0);
});

test('tools, in parallel', async () => {
  const reply = await client.chat.completions.create({ model: 'sim/small', messages: user('get_weather for Paris and get_time'), tools });
  const message = reply.choices[0].message;
  assert.equal(message.content, null);
  assert.deepEqual(message.tool_calls.map((c) => c.function.name), ['get_weather', 'get_time']);
  for (const call of message.tool_calls) JSON.parse(call.function.arguments);

  const answer = await client.chat.completions.create({
    model: 'sim/small',
    tools,
    messages: [
      ...user('get_weather for Paris'),
      message,
      ...message.tool_calls.map((c) => ({ role: 'tool', tool_call_id: c.id, content: `21 degrees ${c.id}` })),
    ],
  });
  assert.match(answer.choices[0].message.content, /21 degrees/);
});

test('tools with streamed arguments, through the stream helper', async () => {
  const stream = client.chat.completions.stream({
    model: 'sim/small', messages: user('get_weather in parallel for “Paris” and “Rome”'), tools,
  });
  let deltas = 0;
  stream.on('tool_calls.function.arguments.delta', () => { deltas++; });
  const { choices } = await stream.finalChatCompletion();
  const calls = choices[0].message.tool_calls;
  assert.equal(calls.length, 2);
  assert.notEqual(calls[0].id, calls[1].id);
  assert.deepEqual(calls.map((c) => JSON.parse(c.function.arguments).city), ['Paris', 'Rome']);
  assert.ok(deltas >= 4, `${deltas} deltas`);
});

test('structured output, through the parse helper', async () => {
  const schema = {
    type: 'object',
    additionalProperties: false,
    required: ['name', 'steps'],
    properties: { name: { type: 'string' }, steps: { type: 'array', items: { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] } } },
  };
  const reply = await client.chat.completions.parse({
    model: 'sim/small',
    messages: user('Describe “Ada”'),
    response_format: { type: 'json_schema', json_schema: { name: 'person', strict: true, schema } },
  });
  assert.deepEqual(JSON.parse(reply.choices[0].message.content), { name: 'Ada', steps: [{ n: 1 }] });
});

test('images as input', async () => {
  const reply = await client.chat.completions.create({
    model: 'sim/small',
    messages: [{
      role: 'user',
      content: [{ type: 'text', text: 'What is this?' }, { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } }],
    }],
  });
  assert.match(reply.choices[0].message.content, /1 image/);
});

for (const [name, kind, status, code, call] of [
  ['a wrong key', OpenAI.AuthenticationError, 401, 'unauthorized', () => new OpenAI({ baseURL, apiKey: 'sk-wrong', maxRetries: 0 }).chat.completions.create({ model: 'sim/small', messages: user('x') })],
  ['an unknown model', OpenAI.NotFoundError, 404, 'model_not_found', () => say('sim/no-such-model')],
  ['a wrong field', OpenAI.BadRequestError, 400, 'validation_error', () => say('sim/small', { provider: { onyl: ['north'] } })],
  ["the provider's own refusal", OpenAI.BadRequestError, 400, 'upstream_rejected', () => say('sim/small', { temperature: 9 })],
  ["the provider's rate limit", OpenAI.RateLimitError, 429, 'upstream_rate_limited', () => say('sim/status-429-retry-7')],
  ["the provider's failure", OpenAI.InternalServerError, 502, 'upstream_server_error', () => say('sim/status-503')],
  ["the provider's refusal of the platform's key", OpenAI.InternalServerError, 502, 'upstream_credential_rejected', () => say('sim/status-401')],
  ['a provider that is not there', OpenAI.InternalServerError, 502, 'upstream_unreachable', () => say('sim/reset')],
]) {
  test(`${name} is raised as ${kind.name}`, async () => {
    const failure = await call().then(() => assert.fail('it answered'), (e) => e);
    assert.ok(failure instanceof kind, `${failure.constructor.name}: ${failure.message}`);
    assert.equal(failure.status, status);
    assert.equal(failure.code, code);
    assert.ok(failure.error.request_id.startsWith('req_'));
    assert.ok(failure.error.message.length > 0);
  });
}

test('an error in the middle of a stream is raised', async () => {
  const stream = await say('sim/error-mid', { stream: true });
  const failure = await (async () => { for await (const _ of stream); })().then(() => assert.fail('it ended well'), (e) => e);
  assert.ok(failure instanceof OpenAI.APIError, failure.constructor.name);
});

test('a cut stream does not end well', async () => {
  const stream = await say('sim/cut-3', { stream: true });
  let finish = null;
  const failure = await (async () => { for await (const c of stream) finish = c.choices[0]?.finish_reason ?? finish; })().then(() => null, (e) => e);
  assert.ok(failure, 'it ended well');
  assert.equal(finish, null);
});

test('an abort in the middle of a stream ends the upstream call', async () => {
  const before = await until((s) => s.Active === 0);
  const stream = await say('sim/hang-3', { stream: true });
  for await (const chunk of stream) if (chunk.choices[0].delta.content) break; // leaving the loop aborts
  await until((s) => s.Aborted > before.Aborted && s.Active === 0);
});

test('an abort before the reply ends the upstream call', async () => {
  const before = await until((s) => s.Active === 0);
  const leave = new AbortController();
  const pending = client.chat.completions.create({ model: 'sim/hang', messages: user('x') }, { signal: leave.signal });
  const ended = pending.then(() => assert.fail('it answered'), (e) => e);
  await until((s) => s.Active === 1);
  leave.abort();
  assert.ok((await ended) instanceof OpenAI.APIUserAbortError);
  await until((s) => s.Aborted > before.Aborted && s.Active === 0);
});

test("the client's timeout is raised as its own kind", async () => {
  const failure = await client.chat.completions.create({ model: 'sim/hang', messages: user('x') }, { timeout: 300 }).then(() => assert.fail('it answered'), (e) => e);
  assert.ok(failure instanceof OpenAI.APIConnectionTimeoutError, failure.constructor.name);
  await until((s) => s.Active === 0);
});

test("the gateway's timeout for the first byte is a 504", async () => {
  const failure = await client.chat.completions
    .create({ model: 'sim/hang', messages: user('x') }, { headers: { 'x-signalbox-timeout-ms': '1000' } })
    .then(() => assert.fail('it answered'), (e) => e);
  assert.equal(failure.status, 504);
  assert.equal(failure.code, 'upstream_timeout');
});

test('retries are the client’s own and find the provider well again', async () => {
  const patient = new OpenAI({ baseURL, apiKey, maxRetries: 2 });
  const reply = await patient.chat.completions.create({ model: 'sim/status-500-times-1', messages: user('Say hello') });
  assert.match(reply.choices[0].message.content, /Say hello/);
});

test('models.list() pages through what the key may use', async () => {
  const ids = [];
  for await (const model of client.models.list()) {
    assert.equal(model.object, 'model');
    ids.push(model.id);
  }
  assert.ok(ids.includes('sim/small'));
  assert.equal(new Set(ids).size, ids.length);
});

test('models.retrieve() finds one', async () => {
  const model = await client.models.retrieve('sim/small');
  assert.equal(model.id, 'sim/small');
});
