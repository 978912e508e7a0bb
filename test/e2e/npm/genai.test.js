// The @google/genai package.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError, FinishReason, FunctionCallingConfigMode, GoogleGenAI } from '@google/genai';
import { z } from 'zod';
import { battery, imageAddress, person, png, tools } from './shared/battery.js';
import { formats } from './shared/formats.js';
import { apiKey, caught, collect, gateway, via } from './shared/platform.js';

/** ask is a question as the client's parameters. */
function ask(model, q, { signal } = {}) {
  const images = { data: { inlineData: { mimeType: 'image/png', data: png } }, url: { fileData: { mimeType: 'image/png', fileUri: imageAddress } } };
  const contents = [{ role: 'user', parts: [{ text: q.prompt }, ...(q.image ? [images[q.image]] : [])] }];
  if (q.earlier) {
    contents.push(q.earlier.answer.turn);
    contents.push({ role: 'user', parts: q.earlier.results.map((r) => ({ functionResponse: { id: r.id, name: r.name, response: { output: r.output } } })) });
  }
  const modes = { required: { mode: FunctionCallingConfigMode.ANY }, none: { mode: FunctionCallingConfigMode.NONE } };
  const mode = q.choice?.name ? { mode: FunctionCallingConfigMode.ANY, allowedFunctionNames: [q.choice.name] } : modes[q.choice];
  return {
    model, contents,
    config: {
      abortSignal: signal, systemInstruction: q.system, maxOutputTokens: q.maxTokens, stopSequences: q.stop,
      tools: q.tools && [{ functionDeclarations: q.tools.map((name) => ({ name, description: tools[name].description, parametersJsonSchema: tools[name].parameters })) }],
      toolConfig: mode && { functionCallingConfig: mode },
      ...(q.schema ? { responseMimeType: 'application/json', responseJsonSchema: z.toJSONSchema(person) } : {}),
      thinkingConfig: q.effort ? { includeThoughts: true, thinkingBudget: 1024 } : undefined,
    },
  };
}

const finishes = { [FinishReason.STOP]: 'stop', [FinishReason.MAX_TOKENS]: 'length', [FinishReason.SAFETY]: 'refused' };

function answer(chunks) {
  const parts = chunks.flatMap((c) => c.candidates?.[0]?.content?.parts ?? []);
  const last = chunks.at(-1);
  const finish = chunks.map((c) => c.candidates?.[0]?.finishReason).filter(Boolean);
  assert.equal(finish.length, 1, `${finish}`);
  const calls = parts.filter((p) => p.functionCall).map((p) => ({ id: p.functionCall.id, name: p.functionCall.name, input: p.functionCall.args }));
  const u = last.usageMetadata;
  return {
    text: parts.filter((p) => !p.thought).map((p) => p.text ?? '').join(''), thoughts: parts.filter((p) => p.thought).map((p) => p.text ?? '').join(''),
    pieces: parts.filter((p) => p.text && !p.thought).map((p) => p.text),
    calls, turn: { role: 'model', parts }, model: last.modelVersion,
    finish: calls.length > 0 && finish[0] === 'STOP' ? 'tools' : finishes[finish[0]],
    usage: u && {
      input: u.promptTokenCount, output: (u.candidatesTokenCount ?? 0) + (u.thoughtsTokenCount ?? 0), total: u.totalTokenCount,
      reasoning: u.thoughtsTokenCount, cached: u.cachedContentTokenCount,
    },
  };
}

function adapter({ maxRetries = 0, ...settings } = {}) {
  const retryOptions = { attempts: maxRetries + 1, initialDelay: 0.2 };
  const client = new GoogleGenAI({ apiKey, httpOptions: { baseUrl: gateway, retryOptions }, ...settings });
  return {
    name: 'genai',
    can: { serial: false, argumentPieces: false, refusalText: false },
    make: adapter,
    open: (model, q, options) => client.models.generateContentStream(ask(model, q, options)),
    ask: async (model, q, options) => answer([await client.models.generateContent(ask(model, q, options))]),
    stream: async (model, q, options) => answer(await collect(await client.models.generateContentStream(ask(model, q, options)))),
    raised: { 400: ApiError, 401: ApiError, 404: ApiError, 429: ApiError, 502: ApiError, stream: Error, abort: (e) => e.name === 'AbortError' },
    status: (e) => e.status,
    code: (e) => JSON.parse(e.message).error.error_code,
  };
}

battery(adapter());

const client = new GoogleGenAI({ apiKey, httpOptions: { baseUrl: gateway } });
const say = (model, config) => client.models.generateContent({ model, contents: 'Say hello', config });

for (const format of formats) {
  test(`tokens are counted at ${format.word}`, async () => {
    const count = await client.models.countTokens({ model: via(format.word, 'small'), contents: 'Say hello to all of us' });
    assert.ok(Number.isInteger(count.totalTokens) && count.totalTokens > 0);
  });

  test(`a chat keeps its history at ${format.word}`, async () => {
    const chat = client.chats.create({ model: via(format.word, 'small') });
    assert.match((await chat.sendMessage({ message: 'Say hello' })).text, /“Say hello”/);
    for await (const _ of await chat.sendMessageStream({ message: 'And again' }));
    assert.match((await chat.sendMessage({ message: 'A third time' })).text, /“A third time”/);
    assert.ok(chat.getHistory(true).length >= 6);
  });

  test(`functions called by the client at ${format.word}`, async () => {
    const called = [];
    const callable = {
      tool: async () => ({ functionDeclarations: [{ name: 'get_time', description: 'The time', parametersJsonSchema: tools.get_time.parameters }] }),
      callTool: async (calls) => calls.map((c) => { called.push(c.args.zone); return { functionResponse: { id: c.id, name: c.name, response: { output: 'noon' } } }; }),
    };
    const reply = await client.models.generateContent({ model: via(format.word, 'small'), contents: 'get_time for “Rome”', config: { tools: [callable] } });
    assert.deepEqual(called, ['Rome']);
    assert.match(reply.text, /noon/);
  });
}

test('a schema in OpenAPI’s form', async () => {
  const responseSchema = { type: 'OBJECT', properties: { name: { type: 'STRING' }, age: { type: 'INTEGER' } }, required: ['name', 'age'] };
  for (const { word } of formats) {
    const reply = await client.models.generateContent({ model: via(word, 'small'), contents: 'Describe “Ada”', config: { responseMimeType: 'application/json', responseSchema } });
    assert.deepEqual(JSON.parse(reply.text), { name: 'Ada', age: 1 }, word);
  }
});

for (const [name, status, code, call] of [
  ['a wrong key', 401, 'unauthorized', () => new GoogleGenAI({ apiKey: 'AIzaWrong', httpOptions: { baseUrl: gateway } }).models.generateContent({ model: 'sim/small', contents: 'x' })],
  ['an unknown model', 404, 'model_not_found', () => say('sim/no-such-model')],
  ['a wrong field', 400, 'validation_error', () => say('sim/small', { temperature: 'hot' })],
]) {
  test(`${name} is raised as ApiError`, async () => {
    const failure = await caught(call());
    assert.ok(failure instanceof ApiError, `${failure.constructor.name}: ${failure.message}`);
    assert.equal(failure.status, status);
    const { error } = JSON.parse(failure.message);
    assert.equal(error.code, status);
    assert.equal(error.error_code, code);
    assert.match(error.request_id, /^req_/);
  });
}

test("the client's timeout ends the call", async () => {
  const failure = await caught(say('sim/hang', { httpOptions: { timeout: 300 } }));
  assert.ok(failure instanceof Error, failure);
});

test('models.list() pages through what the key may use, and models.get() finds one', async () => {
  const names = (await collect(await client.models.list({ config: { pageSize: 50 } }))).map((m) => m.name);
  assert.ok(names.includes('models/sim/small') && names.length > 50, `${names.length} models`);
  assert.equal(new Set(names).size, names.length);
  assert.equal((await client.models.get({ model: 'sim/small' })).name, 'models/sim/small');
  const failure = await caught(client.models.get({ model: 'sim/no-such-model' }));
  assert.equal(failure.status, 404);
});
