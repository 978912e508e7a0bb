// The @anthropic-ai/sdk package's messages.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import Anthropic from '@anthropic-ai/sdk';
import { zodOutputFormat } from '@anthropic-ai/sdk/helpers/zod';
import { battery, imageAddress, person, png, tools } from './shared/battery.js';
import { formats } from './shared/formats.js';
import { apiKey, caught, collect, gateway, via } from './shared/platform.js';

/** body is a question as a request. */
function body(model, q) {
  const sources = { data: { type: 'base64', media_type: 'image/png', data: png }, url: { type: 'url', url: imageAddress } };
  const messages = [{
    role: 'user',
    content: q.image ? [{ type: 'image', source: sources[q.image] }, { type: 'text', text: q.prompt }] : q.prompt,
  }];
  if (q.earlier) {
    messages.push({ role: 'assistant', content: q.earlier.answer.turn });
    messages.push({ role: 'user', content: q.earlier.results.map((r) => ({ type: 'tool_result', tool_use_id: r.id, content: r.output })) });
  }
  const one = q.serial ? { disable_parallel_tool_use: true } : {};
  const choices = { required: { type: 'any', ...one }, none: { type: 'none' }, undefined: q.serial ? { type: 'auto', ...one } : undefined };
  return {
    model, messages, system: q.system, max_tokens: q.maxTokens ?? 4096,
    tools: q.tools?.map((name) => ({ name, description: tools[name].description, input_schema: tools[name].parameters, strict: true })),
    tool_choice: q.choice?.name ? { type: 'tool', name: q.choice.name } : choices[q.choice],
    output_config: q.schema ? { format: zodOutputFormat(person) } : undefined,
    thinking: q.effort ? { type: 'enabled', budget_tokens: 1024, display: q.show ? 'summarized' : undefined } : undefined,
    stop_sequences: q.stop,
  };
}

const finishes = { end_turn: 'stop', stop_sequence: 'stop', max_tokens: 'length', tool_use: 'tools', refusal: 'refused' };

function answer(reply) {
  const of = (type) => reply.content.filter((b) => b.type === type);
  const u = reply.usage;
  return {
    text: of('text').map((b) => b.text).join(''), object: reply.parsed_output ?? undefined, model: reply.model, turn: reply.content,
    refusal: of('text').map((b) => b.text).join('') || reply.stop_details?.explanation,
    thoughts: of('thinking').map((b) => b.thinking).join(''),
    calls: of('tool_use').map((b) => ({ id: b.id, name: b.name, input: b.input })),
    finish: finishes[reply.stop_reason], stopped: reply.stop_sequence,
    usage: {
      input: u.input_tokens + (u.cache_read_input_tokens ?? 0) + (u.cache_creation_input_tokens ?? 0), output: u.output_tokens,
      cached: u.cache_read_input_tokens, reasoning: u.output_tokens_details?.thinking_tokens,
    },
  };
}

function adapter({ timeout, ...settings } = {}) {
  const client = new Anthropic({ baseURL: gateway, apiKey, maxRetries: 0, timeout, ...settings });
  return {
    name: 'anthropic',
    can: { stopped: true, inTurn: true },
    make: adapter,
    open: (model, q, options) => client.messages.create({ ...body(model, q), stream: true }, options),
    ask: async (model, q, options) => answer(await client.messages[q.schema ? 'parse' : 'create'](body(model, q), options)),
    async stream(model, q, options) {
      const stream = client.messages.stream(body(model, q), options);
      const events = await collect(stream);
      checkOrder(events);
      const whole = answer(await stream.finalMessage());
      const deltas = (type) => events.filter((e) => e.type === 'content_block_delta' && e.delta.type === type);
      whole.pieces = deltas('text_delta').map((e) => e.delta.text);
      const ids = new Map(events.filter((e) => e.content_block?.type === 'tool_use').map((e) => [e.index, e.content_block.id]));
      whole.argumentPieces = new Map([...ids].map(([index, id]) => [
        id, deltas('input_json_delta').filter((e) => e.index === index).map((e) => e.delta.partial_json),
      ]));
      return whole;
    },
    raised: {
      400: Anthropic.BadRequestError, 401: Anthropic.AuthenticationError, 404: Anthropic.NotFoundError, 429: Anthropic.RateLimitError,
      502: Anthropic.InternalServerError, stream: Error, abort: (e) => e instanceof Anthropic.APIUserAbortError,
    },
    status: (e) => e.status,
    code: (e) => e.error.error.code,
    retryAfter: (e) => e.headers.get('retry-after'),
  };
}

/** checkOrder holds for every stream: blocks are opened in order, one at a time, and closed before the message ends. */
function checkOrder(events) {
  assert.equal(events[0].type, 'message_start');
  assert.deepEqual(events.slice(-2).map((e) => e.type), ['message_delta', 'message_stop']);
  let open = null;
  let next = 0;
  for (const e of events) {
    if (e.type === 'content_block_start') {
      assert.equal(open, null, 'two blocks are open');
      assert.equal(e.index, next++);
      open = e.index;
    } else if (e.type === 'content_block_delta' || e.type === 'content_block_stop') {
      assert.equal(e.index, open);
      if (e.type === 'content_block_stop') open = null;
    }
  }
  assert.equal(open, null, 'a block is left open');
}

battery(adapter());

const client = new Anthropic({ baseURL: gateway, apiKey, maxRetries: 0 });
const user = (content) => [{ role: 'user', content }];
const say = (model, more = {}, options) => client.messages.create({ model, max_tokens: 256, messages: user('Say hello'), ...more }, options);

for (const format of formats) {
  test(`tokens are counted at ${format.word}`, async () => {
    const count = await client.messages.countTokens({ model: via(format.word, 'small'), system: 'Be brief.', messages: user('Say hello to all of us') });
    assert.ok(Number.isInteger(count.input_tokens) && count.input_tokens > 0);
  });

  test(`a document is read at ${format.word}`, async () => {
    const reply = await say(via(format.word, 'small'), {
      messages: user([{ type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0xLjQ=' } }, { type: 'text', text: 'What is this?' }]),
    });
    assert.match(reply.content[0].text, /I read 1 document/);
  });

  test(`a failed tool is told at ${format.word}`, async () => {
    const model = via(format.word, 'small');
    const q = { prompt: 'get_time for “Rome”', tools: ['get_time'] };
    const first = await client.messages.create(body(model, q));
    const call = first.content.find((b) => b.type === 'tool_use');
    const reply = await client.messages.create({
      ...body(model, q),
      messages: [...user(q.prompt), { role: 'assistant', content: first.content }, ...user([{ type: 'tool_result', tool_use_id: call.id, is_error: true, content: [{ type: 'text', text: 'no clock' }] }])],
    });
    assert.match(reply.content[0].text, /no clock/);
  });
}

test('cache marks reach those that have them, and their usage comes back', async () => {
  const long = 'All of this is worth keeping. '.repeat(400);
  for (const format of formats.filter((f) => ['anthropic', 'bedrock', 'vertex-claude'].includes(f.word))) {
    const ask = () => say(via(format.word, 'small'), {
      system: [{ type: 'text', text: `${format.word} ${long}`, cache_control: { type: 'ephemeral', ttl: '5m' } }],
      messages: user([{ type: 'text', text: long, cache_control: { type: 'ephemeral', ttl: '5m' } }, { type: 'text', text: 'Say hello' }]),
    });
    const { usage: first } = await ask();
    const { usage: second } = await ask();
    assert.ok(first.cache_creation_input_tokens > 1000, JSON.stringify(first));
    assert.equal(first.cache_creation.ephemeral_5m_input_tokens, first.cache_creation_input_tokens);
    assert.equal(second.cache_read_input_tokens, first.cache_creation_input_tokens);
  }
  const reply = await say(via('openai-chat', 'small'), { system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } }] });
  assert.match(reply.content[0].text, /2 words long/);
});

test('redacted thoughts go back as they came', async () => {
  const q = { prompt: 'get_time for “Rome”', tools: ['get_time'], effort: 'low' };
  for (const word of ['anthropic', 'bedrock']) {
    const model = via(word, 'redacted-reason-1');
    const first = await client.messages.create(body(model, q));
    assert.ok(first.content.some((b) => b.type === 'redacted_thinking'), word);
    const results = [{ id: first.content.find((b) => b.type === 'tool_use').id, output: 'noon' }];
    const second = await client.messages.create(body(model, { ...q, earlier: { answer: { turn: first.content }, results } }));
    assert.match(second.content.at(-1).text, /noon/);
  }
});

test('beta headers reach Anthropic and nobody else', async () => {
  const reply = await client.beta.messages.create({ model: via('anthropic', 'small'), max_tokens: 64, messages: user('Say hello'), betas: ['a-beta-2026-01-01'] });
  assert.match(reply.content[0].text, /Say hello/);
  assert.match((await client.beta.messages.create({ model: via('google', 'small'), max_tokens: 64, messages: user('Say hello'), betas: ['a-beta-2026-01-01'] })).content[0].text, /Say hello/);
});

for (const [name, kind, status, type, code, call] of [
  ['a wrong key', Anthropic.AuthenticationError, 401, 'authentication_error', 'unauthorized', () => new Anthropic({ baseURL: gateway, apiKey: 'sk-wrong', maxRetries: 0 }).messages.create({ model: 'sim/small', max_tokens: 9, messages: user('x') })],
  ['an unknown model', Anthropic.NotFoundError, 404, 'not_found_error', 'model_not_found', () => say('sim/no-such-model')],
  ['a wrong field', Anthropic.BadRequestError, 400, 'invalid_request_error', 'validation_error', () => say('sim/small', { max_tokens: 'many' })],
  ['a role that is not there', Anthropic.BadRequestError, 400, 'invalid_request_error', undefined, () => say(via('google', 'small'), { messages: [{ role: 'wizard', content: 'x' }] })],
]) {
  test(`${name} is raised as ${kind.name}`, async () => {
    const failure = await caught(call());
    assert.ok(failure instanceof kind, `${failure.constructor.name}: ${failure.message}`);
    assert.equal(failure.status, status);
    assert.equal(failure.error.type, 'error');
    assert.equal(failure.error.error.type, type);
    if (code) assert.equal(failure.error.error.code, code);
    assert.match(failure.requestID, /^req_/);
  });
}

test("the client's timeout is raised as its own kind", async () => {
  const failure = await caught(say('sim/hang', {}, { timeout: 300 }));
  assert.ok(failure instanceof Anthropic.APIConnectionTimeoutError, failure.constructor.name);
});

test("the gateway's timeout for the first byte is a 504", async () => {
  const failure = await caught(say('sim/hang', {}, { headers: { 'x-signalbox-timeout-ms': '1000' } }));
  assert.equal(failure.status, 504);
  assert.equal(failure.error.error.code, 'upstream_timeout');
});

test('models.list() pages through what the key may use, and models.retrieve() finds one', async () => {
  const all = await collect(client.models.list({ limit: 50 }));
  const ids = all.map((m) => m.id);
  for (const model of all) {
    assert.equal(model.type, 'model');
    assert.ok(model.display_name.length > 0);
    assert.ok(!Number.isNaN(Date.parse(model.created_at)));
  }
  assert.ok(ids.includes('sim/small') && ids.length > 50);
  assert.equal(new Set(ids).size, ids.length);
  assert.equal((await client.models.retrieve('sim/small')).id, 'sim/small');
  assert.ok(await caught(client.models.retrieve('sim/no-such-model')) instanceof Anthropic.NotFoundError);
});
