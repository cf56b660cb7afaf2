// What the page asks of heed serve. Every failure becomes a ServerError with words for the reader.
import type { AttentionDocument, Model } from '../document/types.ts';
import { InvalidDocument, validate } from '../document/validate.ts';
import { readEvents } from './events.ts';

export interface LiveQuestion {
  model: string;
  input: string;
  target: string; // empty: the model writes its own
  beam: number; // 1: greedy
  temperature: number; // 0: the most likely output; otherwise outputs are sampled
}

export interface Prediction {
  output: string;
  log_probability?: number;
}

export class ServerError extends Error {
  constructor(
    message: string,
    readonly code: string,
    readonly status: number,
  ) {
    super(message);
    this.name = 'ServerError';
  }
}

type Reason = { error?: { code?: unknown; message?: unknown } | string };

// {"error": {"code", "message"}} as the server writes it, or the plain text of a prediction.
function errorIn(value: unknown, status: number): ServerError | null {
  const error = (value as Reason | null)?.error;
  if (typeof error === 'string') return new ServerError(error, 'prediction', status);
  if (!error || typeof error !== 'object') return null;
  return new ServerError(String(error.message ?? 'The server gave no reason.'), String(error.code ?? status), status);
}

export class Client {
  constructor(private readonly base = '') {}

  async models(): Promise<Model[]> {
    const answer = (await (await this.ask('/v1/models')).json()) as { models?: unknown; data?: unknown };
    const list = answer.models ?? answer.data ?? answer;
    if (!Array.isArray(list)) throw new ServerError('The list of models is not a list.', 'answer', 200);
    return list.map((model: Model & { id?: string }) => ({ ...model, name: String(model.name ?? model.id ?? '') }));
  }

  async attention(question: LiveQuestion, signal?: AbortSignal): Promise<AttentionDocument> {
    const { model, input, target, beam } = question;
    const body = { model, input, ...(target ? { target } : {}), ...(beam > 1 ? { beam } : {}) };
    const value: unknown = await (await this.ask('/v1/attention', body, signal)).json();
    try {
      return validate(value);
    } catch (error) {
      if (error instanceof InvalidDocument)
        throw new ServerError(`The server's document is not valid. ${error.message}`, 'document', 200);
      throw error;
    }
  }

  // Calls `progress` with the text so far for each token, and returns the final prediction.
  async predict(question: LiveQuestion, progress: (text: string) => void, signal?: AbortSignal): Promise<Prediction> {
    const { model, input, beam, temperature } = question;
    const sampled = temperature > 0 ? { sample: true, temperature } : {};
    const answer = await this.ask(
      '/v1/predict',
      { model, input, stream: true, ...(beam > 1 ? { beam } : {}), ...sampled },
      signal,
    );
    if (!answer.body) throw new ServerError('The answer is empty.', 'answer', answer.status);
    let last: Prediction | null = null;
    for await (const data of readEvents(answer.body)) {
      if (data === '[DONE]') break;
      const event = this.parse(data) as { token?: string; text?: string; output?: string; prediction?: Prediction };
      const error = errorIn(event, answer.status);
      if (error) throw error;
      if (event.prediction) last = event.prediction;
      else if (typeof event.output === 'string') last = event as Prediction;
      else if (typeof event.text === 'string') progress(event.text);
    }
    if (!last) throw new ServerError('The answer ended before the prediction was complete.', 'answer', answer.status);
    return last;
  }

  private parse(text: string): unknown {
    try {
      return JSON.parse(text);
    } catch {
      throw new ServerError(`The answer is not JSON: ${text.slice(0, 60)}`, 'answer', 200);
    }
  }

  private async ask(path: string, body?: object, signal?: AbortSignal): Promise<Response> {
    let answer: Response;
    try {
      const post = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
      answer = await fetch(this.base + path, { ...(body ? post : {}), ...(signal ? { signal } : {}) });
    } catch (error) {
      if ((error as Error).name === 'AbortError') throw error;
      throw new ServerError('The server does not answer. Is heed serve still running?', 'network', 0);
    }
    if (answer.ok) return answer;
    const reason: unknown = await answer.json().catch(() => null);
    throw (
      errorIn(reason, answer.status) ??
      new ServerError(
        `The server answered ${answer.status} ${answer.statusText}.`,
        String(answer.status),
        answer.status,
      )
    );
  }
}
