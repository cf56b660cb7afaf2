// heed serve in miniature: upper-case letters for a model, weights on the diagonal. It answers as docs/serve.md says, with
// tokens one by one, and with errors on demand: some inputs are words for them.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readFile } from 'node:fs/promises';
import type { AttentionDocument, TrainingRun } from '../../src/document/types.ts';
import { sqrtU8 } from '../documents.ts';
import { pageFile } from './browser.ts';

interface Body {
  model?: string;
  input: string;
  target?: string;
  beam?: number;
  sample?: boolean;
  temperature?: number;
  seed?: number;
  nbest?: number;
  stream?: boolean;
}

// The members that the page may send to each route; others are refused, as the server does.
const search = ['model', 'input', 'beam', 'sample', 'temperature', 'seed'];
const members: Record<string, string[]> = {
  '/v1/predict': [...search, 'stream', 'nbest'],
  '/v1/attention': [...search, 'target'],
};

const models = [
  {
    name: 'upper',
    task: 'seq2seq',
    kind: 'transformer',
    about: 'capital letters',
    description: "a text in capital letters: 'heed' to 'HEED'",
    examples: ['what a model looks at', 'hello'],
  },
  { name: 'reverse', task: 'seq2seq', kind: 'rnn', about: 'backwards', answers: 'text' },
  { name: 'mood', task: 'classification', kind: 'rnn', about: 'the last word', answers: 'label' },
  { name: 'story', task: 'language_model', kind: 'rnn', about: 'capital letters', answers: 'continuation' },
];
const moods = { glad: 0.9, sad: 0.0994, bored: 0.0006 };

// A sample ends in as many exclamation marks as its seed says: another seed, another output.
const answerOf = (body: Body) =>
  body.model === 'mood' ? 'glad' :
  (body.model === 'reverse' ? Array.from(body.input).reverse().join('') : body.input.toUpperCase()) +
  (body.sample ? '!'.repeat((body.seed! % 3) + 1) : '');

function diagonal(rows: number, cols: number, first = 0): number[] {
  return Array.from({ length: rows * cols }, (_, i) => {
    const row = Math.floor(i / cols) - first;
    if (row < 0) return 0;
    return i % cols === Math.min(row, cols - 1) ? 0.9 : 0.1 / Math.max(1, cols - 1);
  });
}

export function documentFor(body: Body): AttentionDocument {
  const output = body.target ?? answerOf(body);
  const source = Array.from(body.input);
  const target = Array.from(output);
  const nodes = ['<s>', ...target].map((token, id) => ({
    id,
    parent: id - 1,
    token,
    score: -id / 10,
    kept: true,
    final: id === target.length,
  }));
  const beam = { nodes, keys: 'source', weights: sqrtU8(diagonal(nodes.length, source.length, 1)) };
  const { name, task, kind, about } = models.find((one) => one.name === body.model)!;
  return {
    format: 'heed.attention',
    version: 1,
    models: [{ name, task, kind, about }],
    examples: [
      {
        model: 0,
        input: body.input,
        output,
        log_probability: -0.5,
        sequences: { source: { label: 'source', tokens: source }, target: { label: 'output', tokens: target } },
        maps: [
          {
            name: 'decoder.cross',
            label: 'decoder',
            queries: 'target',
            keys: 'source',
            heads: 1,
            rows: target.length,
            cols: source.length,
            weights: sqrtU8(diagonal(target.length, source.length)),
          },
        ],
        ...(body.beam ? { beam } : {}),
      },
    ],
  };
}

interface Failure {
  status: number;
  code: string;
  message: string;
  retryAfter?: string;
}

const failures: Record<string, Failure> = {
  'too long': {
    status: 413,
    code: 'text_too_long',
    message: 'The text has 9000 characters; at most 5000 are allowed.',
  },
  'too many': { status: 429, code: 'too_many_requests', message: 'Too many requests at once.', retryAfter: '7' },
  overload: { status: 503, code: 'overloaded', message: 'Too many requests wait.', retryAfter: '2' },
  'too slow': { status: 503, code: 'time_limit', message: 'The answer took longer than 30 s.' },
};

export class MockServer {
  readonly asked: { path: string; body: Body | null; authorization: string | undefined }[] = [];
  readonly abandoned: Body[] = []; // streams that the page closed before their end
  readonly contents: { attention: (body: Body) => unknown } = { attention: documentFor };
  training: TrainingRun[] = [];
  token: string | null = null;
  pause = 60; // milliseconds between tokens
  private readonly server = createServer((request, response) => void this.answer(request, response));

  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/`;
  }
  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
  count(path: string): number {
    return this.asked.filter((one) => one.path === path).length;
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const path = request.url!.split('?')[0]!;
    const body = chunks.length > 0 ? (JSON.parse(Buffer.concat(chunks).toString()) as Body) : null;
    const authorization = request.headers.authorization;
    this.asked.push({ path, body, authorization });
    response.setHeader('x-request-id', String(this.asked.length));
    const json = (status: number, value: unknown) =>
      void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
    const fail = ({ status, code, message, retryAfter }: Failure) => {
      if (retryAfter) response.setHeader('retry-after', retryAfter);
      json(status, { error: { code, message, type: status < 500 ? 'invalid_request_error' : 'server_error' } });
    };
    if (path === '/')
      return void response.writeHead(200, { 'content-type': 'text/html' }).end(await readFile(pageFile));
    if (this.token !== null && authorization !== `Bearer ${this.token}`)
      return fail({
        status: 401,
        code: 'unauthorised',
        message: authorization ? 'The token is not the right one.' : 'A token is missing.',
      });
    if (path === '/v1/models')
      return json(200, { object: 'list', data: models.map(({ name }) => ({ id: name, object: 'model' })), models });
    if (path === '/v1/training') return json(200, { training: this.training });
    const allowed = members[path];
    if (!allowed || !body) return fail({ status: 404, code: 'not_found', message: `There is no ${path}.` });
    const unknown = Object.keys(body).find((name) => !allowed.includes(name));
    if (unknown) return fail({ status: 400, code: 'unknown_member', message: `There is no member "${unknown}".` });
    const failure = failures[body.input];
    if (failure) return fail(failure);
    if (body.input === 'crash') return void response.writeHead(500, { 'content-type': 'text/plain' }).end('oops');
    if (path === '/v1/attention') return json(200, this.contents.attention(body));
    await this.stream(body, response);
  }

  private async stream(body: Body, response: ServerResponse): Promise<void> {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const event = (value: unknown) => response.write(`data: ${JSON.stringify(value)}\n\n`);
    const output = answerOf(body);
    let text = '';
    for (const token of output) {
      if (response.destroyed) return void this.abandoned.push(body);
      text += token;
      event({ text, token });
      await new Promise((resolve) => setTimeout(resolve, this.pause));
    }
    if (body.input === 'half') event({ error: { code: 'stopping', message: 'The server is shutting down.' } });
    else {
      const labels = Object.entries(moods).map(([label, share]) => ({ output: label, log_probability: Math.log(share) }));
      const nbest = body.nbest && body.model === 'mood' ? { nbest: labels } : {};
      event({ model: body.model, output, log_probability: -0.5, finished: true, ...nbest });
    }
    response.end('data: [DONE]\n\n');
  }
}
