// What every client that holds conversations must be able to do through the
// gateway, at the upstream of every format. A client is an adapter:
//
//   name                        as in the Go test, which makes models of this name
//   can                         what the client itself has; see usual
//   ask(model, question, options)       one reply
//   stream(model, question, options)    the same, streamed, and read to the end
//   open(model, question, options)      an async iterable of a stream's events
//   raised                      its error classes by status, and by what happened
//   status(error), code(error), said(error)  what an error says
//   make({maxRetries, apiKey, timeout}) the same adapter with other settings
//
// A question is {prompt, system, tools, choice, serial, schema, image, effort, show,
// maxTokens, stop, earlier}; earlier is {answer, results}: the turn before and
// what its calls returned. An answer is {text, pieces, thoughts, calls, argumentPieces,
// finish, usage, model, turn}.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { z } from 'zod';
import { formats } from './formats.js';
import { caught, seen, until, via } from './platform.js';

/** tools are what questions may offer; the simulated model calls those that it is told to. */
export const tools = {
  get_weather: {
    description: 'The weather of a city',
    schema: z.object({ city: z.string(), unit: z.enum(['c', 'f']) }),
    parameters: {
      type: 'object', properties: { city: { type: 'string' }, unit: { type: 'string', enum: ['c', 'f'] } },
      required: ['city', 'unit'], additionalProperties: false,
    },
  },
  get_time: {
    description: 'The time in a zone',
    schema: z.object({ zone: z.string() }),
    parameters: { type: 'object', properties: { zone: { type: 'string' } }, required: ['zone'], additionalProperties: false },
  },
};

export const person = z.object({ name: z.string(), steps: z.array(z.object({ n: z.number().int() })) });
export const personSchema = {
  type: 'object', additionalProperties: false, required: ['name', 'steps'],
  properties: {
    name: { type: 'string' },
    steps: { type: 'array', items: { type: 'object', additionalProperties: false, properties: { n: { type: 'integer' } }, required: ['n'] } },
  },
};

export const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==';
export const imageAddress = 'https://images.example/a.png';

const usual = {
  modelName: true,      // replies say which model answered
  serial: true,         // one call at a time can be asked for
  choice: true,         // a tool can be demanded
  image: true,
  imageURL: true,
  thoughts: true,       // shown
  asks: true,           // and can be asked for
  foreign: true,        // also under the name that OpenAI's imitators give them
  proof: true,          // and given back
  streamedProof: true,  // also when they were streamed
  effort: true,         // reasoning can be asked for
  usage: true,          // of streams as well
  reasoningUsage: true,
  cachedUsage: true,
  stop: true,
  refusal: true,        // is told from an answer
  refusalText: true,    // and its words are shown
  codes: true,          // errors keep the gateway's code
  retries: true,
  timeout: true,
  argumentPieces: true, // a stream shows them
  inTurn: false,        // its format has one call after the other
};

const both = 'get_weather for “Paris” and get_time';

export function battery(client) {
  const can = { ...usual, ...client.can };
  describe(client.name, { concurrency: formats.length }, () => { // most of the time they wait for their retries
    for (const format of formats) {
      describe(`at ${format.word}`, { concurrency: 4 }, () => {
        const model = (name) => via(format.word, name);
        talking({ client, can, format, model });
        calling({ client, can, format, model });
        thinking({ client, can, format, model });
        failing({ client, can, format, model });
        leaving({ client, can, format, model });
      });
    }
  });
}

/** checkUsage holds for every reply. */
function checkUsage(usage) {
  assert.ok(usage.input > 0 && usage.output > 0, JSON.stringify(usage));
  if (usage.total !== undefined) assert.equal(usage.total, usage.input + usage.output, JSON.stringify(usage));
}

function talking({ client, can, format, model }) {
  test('plain and streamed replies are the same', async () => {
    const question = { prompt: 'Say hello', system: 'Be brief.' };
    const plain = await client.ask(model('small'), question);
    assert.match(plain.text, /You wrote: “Say hello”\. My instructions are 2 words long\./);
    assert.equal(plain.finish, 'stop');
    if (can.modelName) assert.equal(plain.model, model('small'));
    checkUsage(plain.usage);

    const streamed = await client.stream(model('small'), question);
    assert.ok(streamed.pieces.length >= 10, `${streamed.pieces.length} pieces`);
    assert.equal(streamed.pieces.join(''), plain.text);
    assert.equal(streamed.finish, 'stop');
    if (can.modelName) assert.equal(streamed.model, model('small'));
    if (can.usage) assert.deepEqual(streamed.usage, plain.usage);
  });

  test('structured output', async () => {
    const question = { prompt: 'Describe “Ada”', schema: true };
    const plain = await client.ask(model('small'), question);
    assert.deepEqual(plain.object ?? JSON.parse(plain.text), { name: 'Ada', steps: [{ n: 1 }] });
    const streamed = await client.stream(model('small'), question);
    assert.deepEqual(streamed.object ?? JSON.parse(streamed.text), { name: 'Ada', steps: [{ n: 1 }] });
  });

  test('an image by value', async () => {
    const reply = await client.ask(model('small'), { prompt: 'What is this?', image: 'data' });
    assert.match(reply.text, /I received 1 image/);
  });

  if (can.imageURL) {
    test(`an image by address ${format.imageURL ? 'is passed on' : 'is refused'}`, async () => {
      const question = { prompt: 'What is this?', image: 'url' };
      if (format.imageURL) {
        assert.match((await client.ask(model('small'), question)).text, /I received 1 image/);
        return;
      }
      const failure = await caught(client.ask(model('small'), question));
      assert.ok(failure instanceof client.raised[400], `${failure.constructor.name}: ${failure.message}`);
      assert.equal(client.status(failure), 400);
      if (can.codes) assert.equal(client.code(failure), 'unsupported_model_or_endpoint');
      assert.match(client.said ? client.said(failure) : failure.message, /image/);
    });
  }

  test('a reply that reaches the limit', async () => {
    const question = { prompt: 'Say hello', maxTokens: 16 };
    for (const reply of [await client.ask(model('small'), question), await client.stream(model('small'), question)]) {
      assert.equal(reply.finish, 'length');
      assert.equal(reply.text.trim().split(/\s+/).length, 16);
    }
  });

  if (can.stop) {
    test(`stop sequences ${format.stop ? 'end the reply' : 'are left out'}`, async () => {
      const question = { prompt: 'Say hello', stop: ['provider'] };
      for (const reply of [await client.ask(model('small'), question), await client.stream(model('small'), question)]) {
        if (format.stop) assert.equal(reply.text, 'Hello from the simulated ');
        else assert.match(reply.text, /I always say the same/);
        assert.equal(reply.finish, 'stop');
        if (client.can?.stopped) assert.equal(reply.stopped, format.stopped ? 'provider' : null);
      }
    });
  }

  test('a refusal', async () => {
    const question = { prompt: 'Say hello' };
    for (const reply of [await client.ask(model('refuse-1'), question), await client.stream(model('refuse-1'), question)]) {
      if (can.refusal) assert.equal(reply.finish, 'refused');
      if (can.refusal && can.refusalText && format.refusal === 'text') assert.match(reply.refusal ?? reply.text, /refuses to help with that/);
    }
  });

  test('usage of a cache', async () => {
    const question = { prompt: 'Say hello, and then say it again' };
    const plain = await client.ask(model('cached-1'), question);
    const streamed = await client.stream(model('cached-1'), question);
    checkUsage(plain.usage);
    if (can.cachedUsage) assert.ok(plain.usage.cached > 0, JSON.stringify(plain.usage));
    if (can.usage) assert.deepEqual(streamed.usage, plain.usage);
  });
}

function calling({ client, can, format, model }) {
  for (const way of ['ask', 'stream']) {
    test(`tools in parallel, and back (${way})`, async () => {
      const question = { prompt: both, tools: ['get_weather', 'get_time'] };
      const reply = await client[way](model('small'), question);
      assert.deepEqual(reply.calls.map((c) => [c.name, c.input]), [
        ['get_weather', { city: 'Paris', unit: 'c' }], ['get_time', { zone: 'Paris' }],
      ]);
      assert.equal(new Set(reply.calls.map((c) => c.id)).size, 2);
      for (const call of reply.calls) assert.equal(typeof call.id, 'string');
      assert.equal(reply.finish, 'tools');
      if (can.usage || way === 'ask') checkUsage(reply.usage);

      const results = reply.calls.map((c) => ({ ...c, output: `${c.name} says 21` }));
      const answer = await client[way](model('small'), { ...question, earlier: { answer: reply, results } });
      assert.match(answer.text, /get_weather returned: .*get_weather says 21.* get_time returned: .*get_time says 21/);
      assert.equal(answer.finish, 'stop');
    });
  }

  test('arguments of two calls of one tool, streamed', async () => {
    const reply = await client.stream(model('small'), { prompt: 'get_weather in parallel for “Paris” and “Rome”', tools: ['get_weather'] });
    assert.deepEqual(reply.calls.map((c) => c.input.city), ['Paris', 'Rome']);
    if (!can.argumentPieces) return;
    for (const [i, call] of reply.calls.entries()) {
      const pieces = reply.argumentPieces.get(call.id);
      assert.deepEqual(JSON.parse(pieces.join('')), call.input);
      // Of calls that an upstream makes at once, the later ones wait where the format has one after the other.
      if (format.pieces && (i === 0 || !can.inTurn)) assert.ok(pieces.filter((p) => p !== '').length >= 3, `${pieces.length} pieces`);
    }
  });

  if (can.serial) {
    test(`one call at a time ${format.serial ? 'is kept to' : 'cannot be asked for'}`, async () => {
      const reply = await client.ask(model('small'), { prompt: both, tools: ['get_weather', 'get_time'], serial: true });
      assert.equal(reply.calls.length, format.serial ? 1 : 2);
    });
  }

  if (can.choice) {
    test('a demanded tool, any tool, and none', async () => {
      const ask = (choice) => client.ask(model('small'), { prompt: 'Say hello', tools: ['get_weather', 'get_time'], choice });
      assert.deepEqual((await ask({ name: 'get_time' })).calls.map((c) => c.name), ['get_time']);
      assert.equal((await ask('required')).calls.length, 1);
      const none = await client.ask(model('small'), { prompt: both, tools: ['get_weather', 'get_time'], choice: 'none' });
      assert.deepEqual(none.calls, []);
      assert.match(none.text, /Hello/);
    });
  }
}

function thinking({ client, can, format, model }) {
  const own = `${client.name}-reason-1`;
  const show = can.asks && format.thoughts !== 'never';
  const shown = can.thoughts && (show || format.thoughts === 'always') && (can.foreign || format.word !== 'compatible');
  for (const way of ['ask', 'stream']) {
    test(`thoughts are ${shown ? 'shown' : 'counted'} (${way})`, async () => {
      const reply = await client[way](model(own), { prompt: 'Say hello', effort: 'low', show });
      if (shown) assert.match(reply.thoughts, /^The caller wrote 2 words\. .* useful thing to do\.$/);
      assert.match(reply.text, /^Hello from/);
      assert.equal(reply.finish, 'stop');
      if (can.reasoningUsage && (can.usage || way === 'ask') && format.reasoningUsage) {
        assert.ok(reply.usage.reasoning > 0, JSON.stringify(reply.usage));
      }
    });

    test(`thoughts go back with their proof (${way})`, async () => {
      const question = { prompt: both, tools: ['get_weather', 'get_time'], effort: 'low', show };
      const reply = await client[way](model(own), question);
      assert.equal(reply.calls.length, 2);
      const results = reply.calls.map((c) => ({ ...c, output: `${c.name} says ${way} 21` }));
      const before = (await seen(format, own)).length;
      const answer = await client[way](model(own), { ...question, earlier: { answer: reply, results } });
      assert.match(answer.text, /get_weather says \w+ 21/);
      if (!can.proof || !format.proof || (way === 'stream' && !can.streamedProof)) return;
      const bodies = (await seen(format, own)).slice(before).map((r) => r.body).filter((b) => b.includes(`says ${way} 21`));
      assert.ok(bodies.some((b) => b.includes(format.proof)), `no ${format.proof} in ${bodies}`);
    });
  }
}

/** refusals are what goes wrong upstream, and what callers are told. */
const refusals = [
  ['the provider refuses the request', 'fault-status-400', 400, 'upstream_rejected'],
  ['the provider refuses the platform’s key', 'fault-status-401', 502, 'upstream_credential_rejected'],
  ['the provider limits the rate', 'fault-status-429-retry-7', 429, 'upstream_rate_limited'],
  ['the provider fails', 'fault-status-500', 502, 'upstream_server_error'],
  ['the provider is overloaded', 'fault-status-503', 502, 'upstream_server_error'],
  ['the provider is not there', 'fault-reset', 502, 'upstream_unreachable'],
  ['the context is too long', 'fault-context', 400, 'context_length_exceeded'],
];

function failing({ client, can, format, model }) {
  const check = (failure, status, code) => {
    assert.ok(failure instanceof client.raised[status], `${failure.constructor.name}: ${failure.message}`);
    assert.equal(client.status(failure), status, failure.message);
    if (can.codes) assert.equal(client.code(failure), code);
    assert.ok(failure.message.length > 0);
    assert.ok(!failure.message.includes('[object Object]'), failure.message);
  };
  for (const [name, fault, status, code] of refusals) {
    test(`${name}: ${client.raised[status].name}`, async () => {
      const question = { prompt: 'x' };
      const failure = await caught(client.ask(model(fault), question));
      check(failure, status, code);
      if (status === 429 && client.retryAfter) assert.equal(client.retryAfter(failure), '7');
      check(await caught(client.stream(model(fault), question)), status, code);
    });
  }

  test('an error in the first event of a stream is an error of the call', async () => {
    check(await caught(client.stream(model('fault-error-first'), { prompt: 'x' })), 502, 'upstream_server_error');
  });

  for (const fault of ['fault-error-mid', 'fault-cut-3']) {
    test(`a stream that fails in the middle is raised: ${fault}`, async () => {
      const events = [];
      const failure = await caught((async () => {
        for await (const event of await client.open(model(fault), { prompt: 'Say hello' })) events.push(event);
      })());
      assert.ok(events.length > 0, 'nothing came before the failure');
      assert.ok(failure instanceof client.raised.stream, `${failure.constructor.name}: ${failure.message}`);
    });
  }
}

function leaving({ client, can, format, model }) {
  const own = (terms) => `${client.name}-fault-${terms}`;

  test('an abort in the middle of a stream ends the upstream call', async () => {
    const name = own('hang-3');
    const before = (await seen(format, name)).length;
    const leave = new AbortController();
    await caught((async () => {
      for await (const _ of await client.open(model(name), { prompt: 'Say hello' }, { signal: leave.signal })) leave.abort();
      throw new Error('the loop ended');
    })());
    await until(format, name, (all) => all.length > before && all.slice(before).every((r) => r.aborted));
  });

  test('an abort before the reply ends the upstream call', async () => {
    const name = own('hang');
    const before = (await seen(format, name)).length;
    const leave = new AbortController();
    const ended = caught(client.ask(model(name), { prompt: 'x' }, { signal: leave.signal }));
    await until(format, name, (all) => all.length > before);
    leave.abort();
    const failure = await ended;
    assert.ok(client.raised.abort(failure), `${failure.constructor.name}: ${failure.message}`);
    await until(format, name, (all) => all.slice(before).every((r) => r.aborted));
  });

  if (can.retries) {
    for (const terms of ['status-429-retry-1-times-1', 'status-503-times-1']) {
      test(`the client’s own retry finds the provider well again: ${terms}`, async () => {
        const reply = await client.make({ maxRetries: 2 }).ask(model(own(terms)), { prompt: 'Say hello' });
        assert.match(reply.text, /Say hello/);
        assert.equal((await seen(format, own(terms))).length, 2);
      });
    }
  }
}
