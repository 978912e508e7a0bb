// The openai package's other surfaces: embeddings, moderations, completions,
// images, audio, videos, files, batches and realtime.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import OpenAI, { toFile } from 'openai';
import { OpenAIRealtimeWS } from 'openai/realtime/ws';
import { png } from './shared/battery.js';
import { formats } from './shared/formats.js';
import { apiKey, caught, collect, secure, seen, v1, via } from './shared/platform.js';

const client = new OpenAI({ baseURL: v1, apiKey, maxRetries: 0 });
const picture = () => toFile(Buffer.from(png, 'base64'), 'a.png', { type: 'image/png' });
const recording = () => toFile(Buffer.from('RIFF....WAVEfmt '), 'a.wav', { type: 'audio/wav' });

test('embeddings, as numbers and in base64', async () => {
  const ask = (more) => client.embeddings.create({ model: 'signalbox-sim/embed', input: ['a word', 'another'], ...more });
  const packed = await ask(); // the client asks for base64 and unpacks it
  const plain = await ask({ encoding_format: 'float' });
  assert.equal(packed.data.length, 2);
  assert.equal(packed.model, 'signalbox-sim/embed');
  assert.equal(packed.data[1].index, 1);
  assert.ok(packed.data[0].embedding.every((x, i) => Math.abs(x - plain.data[0].embedding[i]) < 1e-6));
  assert.equal((await ask({ dimensions: 8 })).data[0].embedding.length, 8);
  assert.ok(packed.usage.total_tokens > 0);
  assert.equal((await client.embeddings.create({ model: 'signalbox-sim/embed', input: [1, 2, 3] })).data.length, 1);
});

test('moderations of text and of parts', async () => {
  const harmless = await client.moderations.create({ model: 'signalbox-sim/moderate', input: 'hello' });
  assert.equal(harmless.results[0].flagged, false);
  const parts = await client.moderations.create({
    model: 'signalbox-sim/moderate', input: [{ type: 'text', text: 'kill' }, { type: 'image_url', image_url: { url: `data:image/png;base64,${png}` } }],
  });
  assert.equal(parts.results[0].categories.violence, true);
});

test('completions, plain and streamed', async () => {
  const ask = (more) => client.completions.create({ model: 'signalbox-sim/instruct', prompt: 'Say hello', ...more });
  const plain = await ask();
  assert.match(plain.choices[0].text, /“Say hello”/);
  const chunks = await collect(await ask({ stream: true }));
  assert.equal(chunks.map((c) => c.choices[0].text).join(''), plain.choices[0].text);
  assert.ok(chunks.every((c) => c.choices.length === 1 && !c.usage));
  const last = (await collect(await ask({ stream: true, stream_options: { include_usage: true } }))).at(-1);
  assert.equal(last.usage.total_tokens, plain.usage.total_tokens);
});

test('images, plain and streamed', async () => {
  const reply = await client.images.generate({ model: 'signalbox-sim/image', prompt: 'a cat', n: 2 });
  assert.equal(reply.data.length, 2);
  assert.ok(Buffer.from(reply.data[0].b64_json, 'base64').subarray(1, 4).equals(Buffer.from('PNG')));
  const events = await collect(await client.images.generate({ model: 'signalbox-sim/image', prompt: 'a cat', stream: true, partial_images: 2 }));
  assert.deepEqual(events.map((e) => e.type), ['image_generation.partial_image', 'image_generation.partial_image', 'image_generation.completed']);
});

test('an edited image', async () => {
  const reply = await client.images.edit({ model: 'signalbox-sim/image', prompt: 'a hat', image: [await picture(), await picture()], mask: await picture() });
  assert.equal(reply.data.length, 1);
  assert.ok(reply.usage.input_tokens > 0);
});

test('speech is sound, whole and streamed', async () => {
  const ask = (more) => client.audio.speech.create({ model: 'signalbox-sim/voice', voice: 'alloy', input: 'hello', ...more });
  const reply = await ask();
  assert.match(reply.headers.get('content-type'), /^audio\//);
  const sound = Buffer.from(await reply.arrayBuffer());
  assert.ok(sound.length > 0);
  const pieces = [];
  for await (const piece of (await ask()).body) pieces.push(piece);
  assert.ok(Buffer.concat(pieces).equals(sound));
  const events = await (await ask({ stream_format: 'sse' })).text();
  assert.match(events, /speech\.audio\.delta[^]*speech\.audio\.done/);
});

test('transcription and translation, in each form', async () => {
  const ask = async (more) => client.audio.transcriptions.create({ model: 'signalbox-sim/scribe', file: await recording(), ...more });
  const { text } = await ask();
  assert.ok(text.length > 0);
  assert.equal(typeof await ask({ response_format: 'text' }), 'string');
  const verbose = await ask({ response_format: 'verbose_json', timestamp_granularities: ['word'] });
  assert.ok(verbose.duration !== undefined);
  const events = await collect(await ask({ stream: true }));
  assert.equal(events.at(-1).type, 'transcript.text.done');
  assert.equal(events.filter((e) => e.type === 'transcript.text.delta').map((e) => e.delta).join(''), events.at(-1).text);
  const translated = await client.audio.translations.create({ model: 'signalbox-sim/scribe', file: await recording() });
  assert.ok(translated.text.length > 0);
});

test('a video is made, awaited, fetched and deleted', async () => {
  const video = await client.videos.create({ model: 'signalbox-sim/video', prompt: 'a cat', seconds: '4' });
  assert.equal(video.object, 'video');
  assert.equal(video.model, 'signalbox-sim/video');
  let state = video;
  for (let i = 0; i < 10 && state.status !== 'completed'; i++) state = await client.videos.retrieve(video.id);
  assert.equal(state.status, 'completed');
  const content = Buffer.from(await (await client.videos.downloadContent(video.id)).arrayBuffer());
  assert.ok(content.length > 0);
  const withPicture = await client.videos.create({ model: 'signalbox-sim/video', prompt: 'a cat', input_reference: await picture() });
  assert.notEqual(withPicture.id, video.id);
  assert.equal((await client.videos.delete(video.id)).deleted, true);
  assert.ok(await caught(client.videos.retrieve(video.id)) instanceof OpenAI.NotFoundError);
});

for (const [name, model] of [['OpenAI', 'signalbox-sim/gpt'], ['a compatible provider', 'signalbox-sim/instruct']]) {
  test(`files and a batch of them at ${name}`, async () => {
    const lines = ['one', 'two'].map((id) => JSON.stringify({
      custom_id: id, method: 'POST', url: '/v1/chat/completions', body: { model, messages: [{ role: 'user', content: `Say ${id}` }] },
    })).join('\n');
    const file = await client.files.create({ purpose: 'batch', file: await toFile(Buffer.from(lines), 'in.jsonl') });
    assert.equal(file.object, 'file');
    assert.equal((await client.files.retrieve(file.id)).purpose, 'batch');
    assert.ok((await collect(client.files.list())).some((f) => f.id === file.id));

    const batch = await client.batches.create({ input_file_id: file.id, endpoint: '/v1/chat/completions', completion_window: '24h' });
    let state = batch;
    for (let i = 0; i < 10 && state.status !== 'completed'; i++) state = await client.batches.retrieve(batch.id);
    assert.equal(state.status, 'completed', JSON.stringify(state.errors));
    assert.equal(state.request_counts.completed, 2);
    assert.ok((await collect(client.batches.list())).some((b) => b.id === batch.id));
    const output = await (await client.files.content(state.output_file_id)).text();
    const replies = output.trim().split('\n').map((line) => JSON.parse(line));
    assert.deepEqual(replies.map((r) => r.custom_id), ['one', 'two']);
    assert.match(replies[1].response.body.choices[0].message.content, /“Say two”/);

    const other = await client.batches.create({ input_file_id: file.id, endpoint: '/v1/chat/completions', completion_window: '24h' });
    assert.match((await client.batches.cancel(other.id)).status, /^cancel/);
    assert.equal((await client.files.delete(file.id)).deleted, true);
    assert.ok(await caught(client.files.retrieve(file.id)) instanceof OpenAI.NotFoundError);
  });
}

test('what another workspace or nobody made is not found', async () => {
  for (const call of [() => client.batches.retrieve('batch_1'), () => client.files.content('file-1'), () => client.videos.retrieve('video_1')]) {
    assert.ok(await caught(call()) instanceof OpenAI.NotFoundError);
  }
});

/** realtime opens a conversation; the client does so over TLS only. */
const realtime = (key) => new OpenAIRealtimeWS(
  { model: 'signalbox-sim/realtime', options: { ca: secure.certificate } }, new OpenAI({ baseURL: `${secure.url}/v1`, apiKey: key }),
);

test('realtime: a conversation of events', async () => {
  const socket = realtime(apiKey);
  const events = [];
  socket.on('event', (event) => events.push(event));
  socket.on('error', (failure) => events.push({ type: 'failed', failure }));
  await once(socket.socket, 'open');
  socket.send({ type: 'session.update', session: { type: 'realtime', output_modalities: ['text'] } });
  socket.send({ type: 'conversation.item.create', item: { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Say hello' }] } });
  socket.send({ type: 'response.create' });
  const end = Date.now() + 10000;
  while (!events.some((e) => e.type === 'response.done' || e.type === 'failed') && Date.now() < end) await new Promise((wake) => setTimeout(wake, 10));
  socket.close();
  await once(socket.socket, 'close');
  const types = events.map((e) => e.type);
  assert.equal(types[0], 'session.created', `${types}`);
  assert.equal(events[0].session.model, 'signalbox-sim/realtime');
  const done = events.find((e) => e.type === 'response.done');
  assert.ok(done, `${types}`);
  const said = events.filter((e) => e.type === 'response.output_text.delta').map((e) => e.delta).join('');
  assert.match(said, /“Say hello”/);
  assert.ok(done.response.usage.total_tokens > 0);
});

test('realtime: a wrong key is refused before it opens', async () => {
  const socket = realtime('sk-wrong');
  const [failure] = await once(socket, 'error');
  assert.match(`${failure.message} ${failure.cause?.message}`, /401/);
});

test('a surface that a provider lacks is a clear refusal', async () => {
  for (const format of ['anthropic', 'bedrock', 'google', 'vertex']) {
    for (const call of [
      () => client.embeddings.create({ model: via(format, 'small'), input: 'x' }),
      () => client.images.generate({ model: via(format, 'small'), prompt: 'x' }),
      () => client.audio.speech.create({ model: via(format, 'small'), voice: 'alloy', input: 'x' }),
    ]) {
      const failure = await caught(call());
      assert.ok(failure instanceof OpenAI.BadRequestError, `${failure.constructor.name}: ${failure.message}`);
      assert.equal(failure.code, 'unsupported_model_or_endpoint');
    }
  }
});

for (const [name, call] of [
  ['embeddings', () => client.embeddings.create({ model: 'signalbox-sim/embed', input: [] })],
  ['images', () => client.images.generate({ model: 'signalbox-sim/image', prompt: 'x', n: 99 })],
  ['speech', () => client.audio.speech.create({ model: 'signalbox-sim/voice', voice: 'alloy', input: '' })],
  ['transcriptions', async () => client.audio.transcriptions.create({ model: 'signalbox-sim/scribe', file: await recording(), response_format: 'braille' })],
]) {
  test(`a wrong field of ${name} is a BadRequestError`, async () => {
    const failure = await caught(call());
    assert.ok(failure instanceof OpenAI.BadRequestError, `${failure.constructor.name}: ${failure.message}`);
    assert.ok(failure.message.length > 4);
  });
}

test('the provider was asked for each model by its own name', async () => {
  const provider = formats.find((f) => f.word === 'compatible');
  for (const [name, path] of [
    ['embed', '/embeddings'], ['moderate', '/moderations'], ['instruct', '/completions'], ['image', '/images/generations'], ['image', '/images/edits'],
    ['voice', '/audio/speech'], ['scribe', '/audio/transcriptions'], ['scribe', '/audio/translations'], ['video', '/videos'], ['realtime', '/realtime'],
  ]) {
    assert.ok((await seen(provider, name)).some((r) => r.path === `/v1${path}`), `nobody asked for ${name} at ${path}`);
    assert.deepEqual(await seen(provider, `signalbox-sim/${name}`), []);
  }
});
