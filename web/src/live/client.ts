// What the page asks of heed serve. Every failure becomes a ServerError with words for the reader.
import type { AttentionDocument, Model, TrainingRun } from '../document/types.ts';
import { InvalidDocument, validate, validateTraining } from '../document/validate.ts';
import { readEvents } from './events.ts';
import { errorIn, secondsOf, ServerError } from './server_error.ts';

export interface LiveQuestion {
  model: string;
  compare: string; // a second model that gets the same question; empty: none
  input: string;
  target: string; // empty: the model writes its own
  beam: number; // 1: greedy
  temperature: number; // 0: the most likely output; otherwise outputs are sampled
  seed: number; // of the sample
}

export interface Prediction {
  output: string;
  log_probability?: number;
  nbest?: { output: string; log_probability?: number }[]; // the best first
}

// What a model answers with; a text, if an older server does not say it.
export type AnswerKind = 'text' | 'label' | 'continuation' | 'filled';

// A model of the list, with what it does and texts to try where the server knows them.
export type ListedModel = Model & { description?: string; examples?: string[]; answers?: AnswerKind };

// The bearer token of the server, where it wants one.
export interface Tokens {
  current(): string | null;
  ask(reason: string): Promise<string | null>; // null: the reader gave up
}

const nobody: Tokens = { current: () => null, ask: () => Promise.resolve(null) };

// The members that decide which output is found. The same seed finds the same sample, so that the output that was shown
// is the one that is explained.
function searchMembers({ beam, temperature, seed }: LiveQuestion): object {
  if (temperature > 0) return { sample: true, temperature, seed };
  return beam > 1 ? { beam } : {};
}

export class Client {
  constructor(
    private readonly tokens: Tokens = nobody,
    private readonly base = '',
  ) {}

  async models(): Promise<ListedModel[]> {
    const answer = (await this.json(await this.ask('/v1/models'))) as { models?: unknown; data?: unknown } | null;
    const list = answer?.models ?? answer?.data;
    if (!Array.isArray(list)) throw new ServerError('The answer has no list of models.', 'answer', 200);
    return list.map((model: ListedModel & { id?: string }) => ({
      ...model,
      name: String(model.name ?? model.id ?? ''),
      description: typeof model.description === 'string' ? model.description : '',
      examples: Array.isArray(model.examples) ? model.examples.filter((text) => typeof text === 'string') : [],
    }));
  }

  // The curves of the models that are training folders.
  async training(): Promise<TrainingRun[]> {
    const answer = (await this.json(await this.ask('/v1/training'))) as { training?: unknown } | null;
    return this.valid(() => validateTraining(answer?.training));
  }

  async attention(question: LiveQuestion, signal?: AbortSignal): Promise<AttentionDocument> {
    const { model, input, target } = question;
    const body = { model, input, ...(target ? { target } : searchMembers(question)) };
    const value = await this.json(await this.ask('/v1/attention', body, signal));
    return this.valid(() => validate(value));
  }

  // Calls `progress` with the text so far for each token, and returns the final prediction.
  async predict(
    question: LiveQuestion,
    progress: (text: string) => void,
    signal?: AbortSignal,
    nbest = 1,
  ): Promise<Prediction> {
    const { model, input } = question;
    const body = { model, input, stream: true, ...searchMembers(question), ...(nbest > 1 ? { nbest } : {}) };
    const answer = await this.ask('/v1/predict', body, signal);
    if (!answer.body) throw new ServerError('The answer is empty.', 'answer', answer.status);
    let last: Prediction | null = null;
    for await (const data of readEvents(answer.body)) {
      if (data === '[DONE]') break;
      const event = this.parse(data) as { text?: string; output?: string };
      const error = errorIn(event, answer.status);
      if (error) throw error;
      if (typeof event.output === 'string') last = event as Prediction;
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

  private async json(answer: Response): Promise<unknown> {
    return this.parse(await answer.text());
  }

  private valid<T>(check: () => T): T {
    try {
      return check();
    } catch (error) {
      if (error instanceof InvalidDocument)
        throw new ServerError(`The server's document is not valid. ${error.message}`, 'document', 200);
      throw error;
    }
  }

  // Asks for a token as long as the server refuses the one it got.
  private async ask(path: string, body?: object, signal?: AbortSignal): Promise<Response> {
    for (;;) {
      const token = this.tokens.current();
      const answer = await this.send(path, token, body, signal);
      if (answer.ok) return answer;
      const reason: unknown = await answer.json().catch(() => null);
      const retryAfter = secondsOf(answer.headers.get('retry-after'), Date.now());
      const error =
        errorIn(reason, answer.status, retryAfter) ??
        new ServerError(
          `The server answered ${answer.status} ${answer.statusText}.`,
          String(answer.status),
          answer.status,
          retryAfter,
        );
      if (answer.status !== 401) throw error;
      const other = this.tokens.current();
      // Another request may have asked for it meanwhile.
      if (other === token && (await this.tokens.ask(error.message)) === null) throw error;
      signal?.throwIfAborted();
    }
  }

  private async send(path: string, token: string | null, body?: object, signal?: AbortSignal): Promise<Response> {
    const headers: Record<string, string> = token ? { authorization: `Bearer ${token}` } : {};
    if (body) headers['content-type'] = 'application/json';
    try {
      return await fetch(this.base + path, {
        headers,
        ...(body ? { method: 'POST', body: JSON.stringify(body) } : {}),
        ...(signal ? { signal } : {}),
      });
    } catch (error) {
      if ((error as Error).name === 'AbortError') throw error;
      throw new ServerError('The server does not answer.', 'network', 0);
    }
  }
}
