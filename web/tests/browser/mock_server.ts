// heed serve in miniature: upper-case letters for a model, weights on the diagonal. It answers as docs/attention_document.md
// and the client say, with tokens one by one, and with errors on demand.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readFile } from 'node:fs/promises';
import type { AttentionDocument } from '../../src/document/types.ts';
import { sqrtU8 } from '../documents.ts';
import { pageFile } from './browser.ts';

interface Body {
  model: string;
  input: string;
  target?: string;
  beam?: number;
  temperature?: number;
  stream?: boolean;
}

const models = [
  { name: 'upper', task: 'pairs', kind: 'transformer', about: 'capital letters' },
  { name: 'reverse', task: 'pairs', kind: 'rnn', about: 'backwards' },
];

const answerOf = (body: Body) =>
  (body.model === 'reverse' ? Array.from(body.input).reverse().join('') : body.input.toUpperCase()) +
  (body.temperature ? '!' : '');

export function documentFor(body: Body): AttentionDocument {
  const output = body.target ?? answerOf(body);
  const source = Array.from(body.input);
  const target = Array.from(output);
  const weights = target.flatMap((_, row) =>
    source.map((_, col) => (col === Math.min(row, source.length - 1) ? 0.9 : 0.1 / Math.max(1, source.length - 1))),
  );
  const nodes = ['<s>', ...target].map((token, id) => ({
    id,
    parent: id - 1,
    token,
    score: -id / 10,
    kept: true,
    final: id === target.length,
  }));
  return {
    format: 'heed.attention',
    version: 1,
    models: [models.find((model) => model.name === body.model)!],
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
            weights: sqrtU8(weights),
          },
        ],
        ...(body.beam ? { beam: { nodes } } : {}),
      },
    ],
  };
}

export class MockServer {
  readonly asked: { path: string; body: Body | null }[] = [];
  readonly contents: { attention: (body: Body) => unknown } = { attention: documentFor };
  private readonly server = createServer((request, response) => void this.answer(request, response));

  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/`;
  }
  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const path = request.url!.split('?')[0]!;
    const body = chunks.length > 0 ? (JSON.parse(Buffer.concat(chunks).toString()) as Body) : null;
    this.asked.push({ path, body });
    const json = (status: number, value: unknown) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
    if (path === '/')
      return void response.writeHead(200, { 'content-type': 'text/html' }).end(await readFile(pageFile));
    if (path === '/v1/models') return void json(200, { models });
    if (body?.input === 'too long')
      return void json(413, {
        error: { code: 'text_too_long', message: 'The text has 9000 tokens; at most 1000 are allowed.' },
      });
    if (body?.input === 'crash') return void response.writeHead(500, { 'content-type': 'text/plain' }).end('oops');
    if (path === '/v1/attention') return void json(200, this.contents.attention(body!));
    if (path === '/v1/predict') return this.stream(body!, response);
    json(404, { error: { code: 'not_found', message: `There is no ${path}.` } });
  }

  private async stream(body: Body, response: ServerResponse): Promise<void> {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const output = answerOf(body);
    let text = '';
    for (const token of output) {
      text += token;
      response.write(`data: ${JSON.stringify({ token, text })}\n\n`);
      await new Promise((resolve) => setTimeout(resolve, 60));
    }
    if (body.input === 'half')
      response.end(
        `data: ${JSON.stringify({ error: { code: 'stopped', message: 'The server is shutting down.' } })}\n\n`,
      );
    else response.end(`data: ${JSON.stringify({ output, log_probability: -0.5 })}\n\n`);
  }
}
