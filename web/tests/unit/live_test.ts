import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Client, type LiveQuestion, type Tokens } from '../../src/live/client.ts';
import { answer } from '../../src/live/answering.ts';
import { adviceFor, errorIn, secondsOf, ServerError } from '../../src/live/server_error.ts';

test('Retry-After: seconds or a date', () => {
  const now = Date.parse('2026-01-01T00:00:00Z');
  assert.equal(secondsOf('7', now), 7);
  assert.equal(secondsOf('Thu, 01 Jan 2026 00:01:30 GMT', now), 90);
  assert.equal(secondsOf('Wed, 31 Dec 2025 00:00:00 GMT', now), 0, 'a time that is over');
  for (const nothing of [null, '', 'soon']) assert.equal(secondsOf(nothing, now), null);
});

test('every failure says what to do about it', () => {
  const advice = (status: number, code: string, retryAfter: number | null = null) =>
    adviceFor(new ServerError('no', code, status, retryAfter));
  assert.equal(advice(429, 'too_many_requests', 3), 'Try again in 3 s.');
  assert.equal(advice(503, 'overloaded', 300), 'Try again in 5 minutes.');
  assert.equal(advice(503, 'overloaded', 0), 'Try again now.');
  assert.equal(advice(503, 'stopping'), 'Try again in a moment.');
  assert.equal(advice(503, 'time_limit', 2), 'Shorten the text, or choose a smaller beam.');
  assert.equal(advice(400, 'beam_too_wide'), 'Choose a smaller beam.');
  assert.equal(advice(400, 'input'), '', 'the message of the server says it all');
});

test('reasons of the server, as it writes them', () => {
  const error = errorIn({ error: { code: 'input', message: 'The line is empty.', type: 'x' } }, 400)!;
  assert.deepEqual([error.message, error.code, error.status], ['The line is empty.', 'input', 400]);
  assert.equal(errorIn({ output: 'fine' }, 200), null);
  assert.equal(errorIn({ error: 'the line is empty' }, 200)!.message, 'the line is empty');
});

const question: LiveQuestion = {
  model: 'm',
  compare: '',
  input: 'a',
  target: '',
  beam: 1,
  temperature: 0,
  seed: 1,
};

// fetch() as the given function answers it; returns what was asked.
function fetching(reply: (path: string, body: Record<string, unknown>, headers: Record<string, string>) => Response) {
  const asked: { path: string; body: Record<string, unknown> }[] = [];
  globalThis.fetch = ((path: string, init: { body?: string; headers: Record<string, string> }) => {
    const body = JSON.parse(init.body ?? '{}') as Record<string, unknown>;
    asked.push({ path, body });
    return Promise.resolve(reply(path, body, init.headers));
  }) as typeof fetch;
  return asked;
}

test('a sample that the server draws differently the second time is explained as it was shown', async () => {
  const asked = fetching((path, body) =>
    path === '/v1/predict'
      ? new Response('data: {"text":"x","token":"x"}\n\ndata: {"output":"x y"}\n\ndata: [DONE]\n\n')
      : Response.json({
          format: 'heed.attention',
          version: 1,
          models: [{ name: 'm' }],
          examples: [{ model: 0, input: 'a', output: body.target ?? 'other', sequences: {}, maps: [] }],
        }),
  );
  const texts: string[] = [];
  const progress = { text: (text: string) => void texts.push(text), picture: () => undefined, predicted: () => undefined };
  const sampled = { ...question, temperature: 0.5, seed: 9 };
  const document = await answer(new Client(), sampled, progress, new AbortController().signal);
  assert.equal(document.examples[0]!.output, 'x y');
  assert.deepEqual(texts, ['x', 'x y']);
  const search = { model: 'm', input: 'a', sample: true, temperature: 0.5, seed: 9 };
  assert.deepEqual(asked[0], { path: '/v1/predict', body: { ...search, stream: true } });
  assert.deepEqual(
    asked.slice(-2).map(({ body }) => body),
    [search, { model: 'm', input: 'a', target: 'x y' }],
  );
});

test('requests that are refused together ask for a token once', async () => {
  let token: string | null = null;
  let dialogs = 0;
  let asking: Promise<string> | null = null;
  const tokens: Tokens = {
    current: () => token,
    ask: () => {
      asking ??= new Promise((resolve) => {
        ++dialogs;
        setTimeout(() => resolve((token = 'right')), 10);
      });
      return asking;
    },
  };
  fetching((_, __, headers) =>
    headers.authorization === 'Bearer right'
      ? Response.json({ models: [{ name: 'm' }], training: [] })
      : Response.json({ error: { code: 'unauthorised', message: 'no' } }, { status: 401 }),
  );
  const client = new Client(tokens);
  const [models, training] = await Promise.all([client.models(), client.training()]);
  assert.deepEqual([models[0]!.name, training, dialogs], ['m', [], 1]);
  await assert.rejects(new Client().models(), /no/, 'without anybody to ask it is an error');
});

test('answers that are no list of models, and a server that is away', async () => {
  fetching(() => new Response('<html>'));
  await assert.rejects(new Client().models(), /The answer is not JSON: <html>/);
  fetching(() => Response.json({ hello: 1 }));
  await assert.rejects(new Client().models(), /no list of models/);
  globalThis.fetch = () => Promise.reject(new TypeError('failed'));
  await assert.rejects(new Client().models(), (error: ServerError) => error.code === 'network');
});
