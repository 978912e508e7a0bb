// The openai package's responses.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import OpenAI from 'openai';
import { zodTextFormat } from 'openai/helpers/zod';
import { battery, imageAddress, person, png, tools } from './shared/battery.js';
import { apiKey, caught, collect, v1, via } from './shared/platform.js';

/** body is a question as a request. */
function body(model, q) {
  const images = { data: `data:image/png;base64,${png}`, url: imageAddress };
  const input = [{
    role: 'user',
    content: q.image ? [{ type: 'input_text', text: q.prompt }, { type: 'input_image', image_url: images[q.image], detail: 'auto' }] : q.prompt,
  }];
  if (q.earlier) {
    input.push(...q.earlier.answer.turn, ...q.earlier.results.map((r) => ({ type: 'function_call_output', call_id: r.id, output: r.output })));
  }
  return {
    model, input, instructions: q.system, store: false, include: ['reasoning.encrypted_content'],
    tools: q.tools?.map((name) => ({ type: 'function', name, description: tools[name].description, parameters: tools[name].parameters, strict: true })),
    tool_choice: q.choice?.name ? { type: 'function', name: q.choice.name } : q.choice,
    parallel_tool_calls: q.serial ? false : undefined,
    text: q.schema ? { format: zodTextFormat(person, 'person') } : undefined,
    reasoning: q.effort ? { effort: q.effort, summary: 'auto' } : undefined,
    max_output_tokens: q.maxTokens,
  };
}

function answer(reply) {
  const parts = reply.output.flatMap((item) => item.content ?? []);
  const refusal = parts.find((p) => p.type === 'refusal')?.refusal;
  const calls = reply.output.filter((item) => item.type === 'function_call').map((c) => ({ id: c.call_id, item: c.id, name: c.name, input: JSON.parse(c.arguments) }));
  const u = reply.usage;
  const ended = { completed: 'stop', incomplete: reply.incomplete_details?.reason === 'content_filter' ? 'refused' : 'length' }[reply.status];
  return {
    text: reply.output_text, refusal, object: reply.output_parsed ?? undefined, calls, model: reply.model, turn: reply.output,
    thoughts: reply.output.filter((i) => i.type === 'reasoning').flatMap((i) => i.summary.map((s) => s.text)).join(''),
    finish: refusal ? 'refused' : calls.length > 0 ? 'tools' : ended,
    usage: u && {
      input: u.input_tokens, output: u.output_tokens, total: u.total_tokens,
      reasoning: u.output_tokens_details.reasoning_tokens, cached: u.input_tokens_details.cached_tokens,
    },
  };
}

function adapter(settings = {}) {
  const client = new OpenAI({ baseURL: v1, apiKey, maxRetries: 0, ...settings });
  return {
    name: 'openai-responses',
    can: { stop: false },
    make: adapter,
    open: (model, q, options) => client.responses.create({ ...body(model, q), stream: true }, options),
    ask: async (model, q, options) => answer(await client.responses.parse(body(model, q), options)),
    async stream(model, q, options) {
      const stream = client.responses.stream(body(model, q), options);
      const events = await collect(stream);
      checkOrder(events);
      const whole = answer(await stream.finalResponse());
      const of = (type) => events.filter((e) => e.type === type);
      whole.pieces = of('response.output_text.delta').map((e) => e.delta);
      const shown = of('response.reasoning_summary_text.delta').map((e) => e.delta).join('');
      assert.equal(shown, whole.thoughts);
      whole.argumentPieces = new Map(whole.calls.map((c) => [
        c.id, of('response.function_call_arguments.delta').filter((e) => e.item_id === c.item).map((e) => e.delta),
      ]));
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

/** checkOrder holds for every stream: numbers without a gap, and each item and part opened once and closed. */
function checkOrder(events) {
  assert.deepEqual(events.map((e) => e.sequence_number), events.map((_, i) => i));
  assert.deepEqual(events.slice(0, 2).map((e) => e.type), ['response.created', 'response.in_progress']);
  const opened = events.filter((e) => e.type === 'response.output_item.added').map((e) => e.item.id);
  const closed = events.filter((e) => e.type === 'response.output_item.done').map((e) => e.item.id);
  assert.deepEqual([...closed].sort(), [...opened].sort());
  assert.equal(new Set(opened).size, opened.length);
  assert.match(events.at(-1).type, /^response\.(completed|incomplete)$/);
  assert.deepEqual(events.at(-1).response.output.map((i) => i.id), opened);
}

battery(adapter());

const client = new OpenAI({ baseURL: v1, apiKey, maxRetries: 0 });

test('a conversation that the provider keeps goes on there', async () => {
  const model = via('openai-responses', 'small');
  const first = await client.responses.create({ model, input: 'get_time for “Rome”', tools: body(model, { prompt: '', tools: ['get_time'] }).tools });
  const call = first.output.find((i) => i.type === 'function_call');
  const second = await client.responses.create({
    model, previous_response_id: first.id, input: [{ type: 'function_call_output', call_id: call.call_id, output: 'it is noon' }],
  });
  assert.match(second.output_text, /it is noon/);
});

test('and is refused where another provider would have to know it', async () => {
  for (const format of ['compatible', 'anthropic', 'google', 'bedrock']) {
    const failure = await caught(client.responses.create({ model: via(format, 'small'), input: 'x', previous_response_id: 'resp_1' }));
    assert.ok(failure instanceof OpenAI.BadRequestError, format);
    assert.equal(failure.code, 'unsupported_model_or_endpoint');
    assert.match(failure.message, /previous_response_id/);
  }
});

test('a string is a whole input', async () => {
  for (const format of ['openai-responses', 'compatible', 'anthropic', 'google']) {
    assert.match((await client.responses.create({ model: via(format, 'small'), input: 'Say hello' })).output_text, /“Say hello”/);
  }
});

test('files in, at each kind of provider', async () => {
  for (const format of ['openai-responses', 'openai-chat', 'anthropic', 'bedrock', 'google', 'vertex']) {
    const reply = await client.responses.create({
      model: via(format, 'small'),
      input: [{ role: 'user', content: [{ type: 'input_text', text: 'What is this?' }, { type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERi0xLjQ=' }] }],
    });
    assert.match(reply.output_text, /I read 1 document/, format);
  }
});

test('custom tools take text', async () => {
  const ask = (format) => client.responses.create({ model: via(format, 'small'), input: 'use run_code', tools: [{ type: 'custom', name: 'run_code' }] });
  for (const format of ['openai-responses', 'openai-chat']) {
    assert.match((await ask(format)).output.find((i) => i.type === 'custom_tool_call').input, /^run /, format);
  }
});

for (const [name, kind, status, code, call] of [
  ['a wrong key', OpenAI.AuthenticationError, 401, 'unauthorized', () => new OpenAI({ baseURL: v1, apiKey: 'sk-wrong', maxRetries: 0 }).responses.create({ model: 'sim/small', input: 'x' })],
  ['an unknown model', OpenAI.NotFoundError, 404, 'model_not_found', () => client.responses.create({ model: 'sim/no-such-model', input: 'x' })],
  ['a wrong field', OpenAI.BadRequestError, 400, 'validation_error', () => client.responses.create({ model: 'sim/small', input: 'x', stream: 'yes' })],
]) {
  test(`${name} is raised as ${kind.name}`, async () => {
    const failure = await caught(call());
    assert.ok(failure instanceof kind, `${failure.constructor.name}: ${failure.message}`);
    assert.equal(failure.status, status);
    assert.equal(failure.code, code);
  });
}
