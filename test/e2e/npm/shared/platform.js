// Where the platform under test is. The Go test beside this folder starts it
// and passes:
//   SIGNALBOX_URL, SIGNALBOX_KEY                   the gateway and an API key
//   SIGNALBOX_ROUTED_KEY                           a key that a dynamic route is attached to
//   SIGNALBOX_TLS_URL, SIGNALBOX_TLS_CERTIFICATE   the gateway behind TLS, and whom to trust for it
//   SIMULATOR_SEEN                                 what the simulated provider received
//   UPSTREAM_FORMATS                               the words of formats.js, so that none is left out
import assert from 'node:assert/strict';

export const gateway = process.env.SIGNALBOX_URL;
export const v1 = `${gateway}/v1`;
export const apiKey = process.env.SIGNALBOX_KEY;
export const routedKey = process.env.SIGNALBOX_ROUTED_KEY;

export const secure = { url: process.env.SIGNALBOX_TLS_URL, certificate: process.env.SIGNALBOX_TLS_CERTIFICATE };

/** via is the model of a name whose only endpoint is at the upstream of a format. */
export const via = (format, name) => `via-${format}/${name}`;

/** seen are the requests that the upstream of a format received for a model. */
export async function seen(format, name) {
  const model = `${format.prefix}${name}`;
  const all = await (await fetch(`${process.env.SIMULATOR_SEEN}?model=${encodeURIComponent(model)}`)).json();
  for (const { path } of all) assert.ok(path.startsWith(format.at), `${format.word} was asked at ${path}`);
  return all;
}

/** until waits for a condition of what an upstream received for a model. */
export async function until(format, name, condition) {
  const end = Date.now() + 10000;
  for (;;) {
    const requests = await seen(format, name);
    if (condition(requests)) return requests;
    if (Date.now() > end) assert.fail(`the provider never got there: ${JSON.stringify(requests)}`);
    await new Promise((wake) => setTimeout(wake, 10));
  }
}

/** caught is what a promise is rejected with. */
export const caught = (promise) => Promise.resolve(promise).then(
  (value) => assert.fail(`it answered: ${JSON.stringify(value)?.slice(0, 500)}`),
  (failure) => failure,
);

/** collect reads a stream to its end. */
export async function collect(stream) {
  const all = [];
  for await (const one of stream) all.push(one);
  return all;
}
