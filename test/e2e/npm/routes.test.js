// Dynamic routes and presets as the official clients see them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import Anthropic from '@anthropic-ai/sdk';
import { ApiError, GoogleGenAI } from '@google/genai';
import OpenAI from 'openai';
import { apiKey, caught, gateway, routedKey, v1, via } from './shared/platform.js';

const prompt = 'Say hello';
const small = via('compatible', 'small');
const refusal = 'This needs the plan “pro”.';

/** clients are all of them with a key: what asks a model on behalf of a plan, and what an error says. */
const clients = (key) => {
  const openai = new OpenAI({ baseURL: v1, apiKey: key, maxRetries: 0 });
  const anthropic = new Anthropic({ baseURL: gateway, apiKey: key, maxRetries: 0 });
  const genai = new GoogleGenAI({ apiKey: key, httpOptions: { baseUrl: gateway } });
  const plan = (name) => (name ? { customer_plan: name } : undefined);
  const openAIError = (e) => ({ is: e instanceof OpenAI.PermissionDeniedError, status: e.status, code: e.code, reason: e.error.reason, message: e.error.message });
  return {
    'openai chat': {
      ask: async (model, name) => {
        const reply = await openai.chat.completions.create({ model, metadata: plan(name), messages: [{ role: 'user', content: prompt }] });
        return { model: reply.model, text: reply.choices[0].message.content };
      },
      failed: openAIError,
    },
    'openai responses': {
      ask: async (model, name) => {
        const reply = await openai.responses.create({ model, metadata: plan(name), input: prompt, store: false });
        return { model: reply.model, text: reply.output_text };
      },
      failed: openAIError,
    },
    anthropic: {
      ask: async (model, name) => {
        const reply = await anthropic.messages.create({ model, metadata: plan(name), max_tokens: 1000, messages: [{ role: 'user', content: prompt }] });
        return { model: reply.model, text: reply.content[0].text };
      },
      failed: (e) => {
        const { error } = e.error;
        return { is: e instanceof Anthropic.PermissionDeniedError, status: e.status, code: error.code, reason: error.reason, message: error.message };
      },
    },
    genai: {
      ask: async (model, name) => {
        const headers = name ? { 'x-signalbox-metadata': JSON.stringify(plan(name)) } : undefined;
        const reply = await genai.models.generateContent({ model, contents: prompt, config: { httpOptions: { headers } } });
        return { model: reply.modelVersion, text: reply.text };
      },
      failed: (e) => {
        const { error } = JSON.parse(e.message); // the client keeps the body as its message
        return { is: e instanceof ApiError, status: e.status, code: error.error_code, reason: error.reason, message: error.message };
      },
    },
  };
};

for (const [name, client] of Object.entries(clients(routedKey))) {
  test(`${name}: a route sends who pays elsewhere, and refuses others`, async () => {
    assert.equal((await client.ask('via-compatible/refuse-1', 'pro')).model, small);
    const { is, status, message, code, reason } = client.failed(await caught(client.ask(small, 'free')));
    assert.ok(is, 'it is of the class that the client has for it');
    assert.deepEqual({ status, message, code, reason }, { status: 403, message: refusal, code: 'route_rejected', reason: 'needs_a_plan' });
  });
}

for (const [name, client] of Object.entries(clients(apiKey))) {
  for (const model of ['@tone', '@tone#1']) {
    test(`${name}: ${model}`, async () => {
      // @google/genai writes the name into the URL as it is, where # would end it.
      const got = await client.ask(name === 'genai' ? model.replace('#', '%23') : model);
      assert.equal(got.model, small);
      assert.match(got.text, /My instructions are 3 words long\./);
    });
  }
}
