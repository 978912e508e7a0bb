// The formats in which the gateway asks upstreams, and all that differs
// between them as callers see it. What is not in the table is the same
// everywhere.
import assert from 'node:assert/strict';

const usual = {
  prefix: '',              // of the upstream's model names
  pieces: true,            // arguments of tool calls arrive in pieces
  serial: true,            // it can be told to make one call at a time
  thoughts: 'always',      // the upstream shows them, or when asked to, or never
  reasoningUsage: true,    // and counts them apart
  proof: null,             // the member of its requests that proves thoughts
  imageURL: true,          // it fetches images itself
  stop: true,              // it has stop sequences
  stopped: false,          // it says which stop sequence ended the text
  refusal: 'text',         // a refusal has words, or only a reason to end
};

const openAI = { refusal: 'text' };
const claude = { prefix: 'claude-', proof: '"signature"', stopped: true, reasoningUsage: false };
const gemini = { prefix: 'gemini-3-', thoughts: 'asked', proof: '"thoughtSignature"', pieces: false, serial: false, refusal: 'none' };

const table = {
  compatible: { at: '/v1/', ...openAI },
  'openai-chat': { at: '/as-openai/v1/chat/', ...openAI, prefix: 'gpt-chat-', thoughts: 'never' },
  'openai-responses': { at: '/as-openai/v1/responses', ...openAI, prefix: 'gpt-responses-', thoughts: 'asked', proof: '"encrypted_content"', stop: false },
  azure: { at: '/as-azure/', ...openAI, prefix: 'gpt-azure-', thoughts: 'never' },
  anthropic: { at: '/as-anthropic/', ...claude },
  bedrock: { at: '/as-bedrock/', ...claude, prefix: 'anthropic.claude-', imageURL: false },
  google: { at: '/as-google/', ...gemini },
  vertex: { at: '/as-vertex/', ...gemini, prefix: 'gemini-3-vertex-' },
  'vertex-claude': { at: '/as-vertex/', ...claude, prefix: 'claude-vertex-' },
};

export const formats = Object.entries(table).map(([word, own]) => ({ word, ...usual, ...own }));

assert.deepEqual(formats.map((f) => f.word).sort(), process.env.UPSTREAM_FORMATS.split(' ').sort(), 'every upstream format has its row');
