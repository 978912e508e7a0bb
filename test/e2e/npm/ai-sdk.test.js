// The ai package with its providers for OpenAI, Anthropic and Google.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogleGenerativeAI } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import {
  APICallError, embed, embedMany, experimental_generateSpeech as generateSpeech, experimental_transcribe as transcribe, generateImage,
  generateText, Output, RetryError, stepCountIs, streamText, tool,
} from 'ai';
import { z } from 'zod';
import { battery, imageAddress, person, png, tools } from './shared/battery.js';
import { formats } from './shared/formats.js';
import { apiKey, caught, gateway, v1, via } from './shared/platform.js';

const openai = createOpenAI({ baseURL: v1, apiKey });
const anthropic = createAnthropic({ baseURL: v1, apiKey });
const google = createGoogleGenerativeAI({ baseURL: `${gateway}/v1beta`, apiKey });

/** ask is a question as the client's parameters. */
function ask(provider, model, q, { signal } = {}, settings = {}) {
  const images = { data: png, url: new URL(imageAddress) };
  const messages = [{
    role: 'user',
    content: q.image ? [{ type: 'text', text: q.prompt }, { type: 'image', image: images[q.image], mediaType: 'image/png' }] : q.prompt,
  }];
  if (q.earlier) {
    messages.push(...q.earlier.answer.turn);
    messages.push({
      role: 'tool',
      content: q.earlier.results.map((r) => ({ type: 'tool-result', toolCallId: r.id, toolName: r.name, output: { type: 'text', value: r.output } })),
    });
  }
  return {
    model: provider.model(model), messages, system: q.system, maxRetries: settings.maxRetries ?? 0, abortSignal: signal,
    maxOutputTokens: q.maxTokens, stopSequences: q.stop,
    tools: q.tools && Object.fromEntries(q.tools.map((name) => [name, tool({ description: tools[name].description, inputSchema: tools[name].schema })])),
    toolChoice: q.choice?.name ? { type: 'tool', toolName: q.choice.name } : q.choice,
    output: q.schema ? Output.object({ schema: person }) : undefined,
    providerOptions: provider.options(q),
  };
}

const finishes = { stop: 'stop', length: 'length', 'tool-calls': 'tools', 'content-filter': 'refused' };

async function answer(result, q) {
  const usage = await result.totalUsage;
  const response = await result.response;
  return {
    text: await result.text, thoughts: await result.reasoningText, object: q.schema ? await result.output : undefined,
    calls: (await result.toolCalls).map((c) => ({ id: c.toolCallId, name: c.toolName, input: c.input })),
    finish: finishes[await result.finishReason], model: response.modelId, turn: response.messages,
    usage: {
      input: usage.inputTokens, output: usage.outputTokens, total: usage.totalTokens,
      reasoning: usage.outputTokenDetails.reasoningTokens, cached: usage.inputTokenDetails.cacheReadTokens,
    },
  };
}

/** parts reads a stream and raises what it reports. */
async function parts(result) {
  const all = [];
  for await (const part of result.fullStream) {
    if (part.type === 'error') throw part.error;
    all.push(part);
  }
  return all;
}

const quietly = { onError: () => {} }; // the client would print it

function adapter(provider, settings = {}) {
  return {
    name: provider.name,
    can: provider.can,
    make: (other) => adapter(provider, other),
    async ask(model, q, options) { return answer(await generateText(ask(provider, model, q, options, settings)), q); },
    async* open(model, q, options) {
      for await (const part of streamText({ ...ask(provider, model, q, options, settings), ...quietly }).fullStream) {
        if (part.type === 'error') throw part.error;
        if (part.type === 'abort') throw new DOMException('aborted', 'AbortError');
        if (part.type.startsWith('text-') || part.type.startsWith('tool-')) yield part;
      }
    },
    async stream(model, q, options) {
      const result = streamText({ ...ask(provider, model, q, options, settings), ...quietly });
      const all = await parts(result);
      const whole = await answer(result, q);
      whole.pieces = all.filter((p) => p.type === 'text-delta').map((p) => p.text);
      whole.argumentPieces = new Map(whole.calls.map((c) => [c.id, all.filter((p) => p.type === 'tool-input-delta' && p.id === c.id).map((p) => p.delta)]));
      return whole;
    },
    raised: {
      400: APICallError, 401: APICallError, 404: APICallError, 429: APICallError, 502: APICallError, stream: Object,
      abort: (e) => e.name === 'AbortError' || e.name === 'ResponseAborted',
    },
    status: (e) => e.statusCode,
    code: (e) => provider.code(JSON.parse(e.responseBody).error),
    retryAfter: (e) => e.responseHeaders['retry-after'],
  };
}

const providers = [
  {
    name: 'ai-openai-chat', model: (id) => openai.chat(id), code: (error) => error.code,
    // The client's chat model shows neither thoughts nor refusals.
    can: { thoughts: false, proof: false, refusal: false },
    options: (q) => ({ openai: { reasoningEffort: q.effort, parallelToolCalls: q.serial ? false : undefined } }),
  },
  {
    name: 'ai-openai-responses', model: (id) => openai.responses(id), code: (error) => error.code,
    can: { stop: false, refusal: false },
    options: (q) => ({
      openai: {
        store: false, include: ['reasoning.encrypted_content'], parallelToolCalls: q.serial ? false : undefined,
        // It believes no model of an unknown name to reason.
        ...(q.effort ? { forceReasoning: true, reasoningEffort: q.effort, reasoningSummary: 'auto' } : {}),
      },
    }),
  },
  {
    name: 'ai-anthropic', model: (id) => anthropic(id), code: (error) => error.code,
    // It cannot ask for thoughts to be shown that have a budget.
    can: { inTurn: true, reasoningUsage: false, asks: false },
    options: (q) => ({
      anthropic: {
        structuredOutputMode: 'outputFormat',
        thinking: q.effort ? { type: 'enabled', budgetTokens: 1024 } : undefined,
        disableParallelToolUse: q.serial,
      },
    }),
  },
  {
    name: 'ai-google', model: (id) => google(`models/${id}`), code: (error) => error.error_code,
    // It fetches images itself and goes by the model that was asked for.
    can: { serial: false, imageURL: false, refusalText: false, modelName: false, argumentPieces: false },
    options: (q) => ({ google: { thinkingConfig: q.effort ? { includeThoughts: true, thinkingBudget: 1024 } : undefined } }),
  },
];

describe('each provider', { concurrency: providers.length }, () => {
  for (const provider of providers) battery(adapter(provider));
});

const messages = providers.find((p) => p.name === 'ai-anthropic');

for (const provider of providers) {
  for (const { word } of formats) {
    test(`${provider.name} takes several steps at ${word}`, async () => {
      const called = [];
      const get_time = tool({
        description: 'The time', inputSchema: z.object({ zone: z.string() }),
        execute: async ({ zone }) => { called.push(zone); return { time: `noon in ${zone}` }; },
      });
      const q = { prompt: 'get_time for “Rome”' };
      const result = await generateText({ ...ask(provider, via(word, 'small'), q), tools: { get_time }, stopWhen: stepCountIs(3) });
      assert.deepEqual(called, ['Rome']);
      assert.match(result.text, /noon in Rome/);
      assert.equal(result.steps.length, 2);
    });
  }

  test(`${provider.name} raises a wrong key and an unknown model`, async () => {
    const wrong = { 'ai-openai-chat': createOpenAI({ baseURL: v1, apiKey: 'sk-wrong' }).chat, 'ai-openai-responses': createOpenAI({ baseURL: v1, apiKey: 'sk-wrong' }).responses }[provider.name]
      ?? (provider === messages ? createAnthropic({ baseURL: v1, apiKey: 'sk-wrong' }) : (id) => createGoogleGenerativeAI({ baseURL: `${gateway}/v1beta`, apiKey: 'sk-wrong' })(`models/${id}`));
    for (const [model, status, code] of [[wrong('sim/small'), 401, 'unauthorized'], [provider.model('sim/no-such-model'), 404, 'model_not_found']]) {
      const failure = await caught(generateText({ model, prompt: 'x', maxRetries: 0 }));
      assert.ok(failure instanceof APICallError, `${failure.constructor.name}: ${failure.message}`);
      assert.equal(failure.statusCode, status);
      assert.equal(provider.code(JSON.parse(failure.responseBody).error), code);
      assert.equal(failure.isRetryable, false);
    }
  });

  test(`${provider.name} gives up after its retries`, async () => {
    const failure = await caught(generateText({ model: provider.model(via('compatible', 'fault-status-503')), prompt: 'x', maxRetries: 1 }));
    assert.ok(RetryError.isInstance(failure), `${failure.constructor.name}: ${failure.message}`);
    assert.equal(failure.errors.length, 2);
  });
}

test('embeddings, one and many', async () => {
  const model = openai.embeddingModel('signalbox-sim/embed');
  const one = await embed({ model, value: 'a word' });
  const many = await embedMany({ model, values: ['a word', 'another'] });
  assert.equal(one.embedding.length, 256);
  assert.deepEqual(many.embeddings[0], one.embedding);
  assert.notDeepEqual(many.embeddings[1], one.embedding);
  assert.ok(many.usage.tokens > 0);
});

test('images, speech and transcription', async () => {
  const { images } = await generateImage({ model: openai.image('signalbox-sim/image'), prompt: 'a cat', n: 2 });
  assert.equal(images.length, 2);
  assert.deepEqual([...images[0].uint8Array.slice(1, 4)], [...Buffer.from('PNG')]);
  const { audio } = await generateSpeech({ model: openai.speech('signalbox-sim/voice'), text: 'hello', voice: 'alloy' });
  assert.ok(audio.uint8Array.length > 0);
  const { text } = await transcribe({ model: openai.transcription('signalbox-sim/scribe'), audio: Buffer.from('RIFF....WAVE') });
  assert.ok(text.length > 0);
});
