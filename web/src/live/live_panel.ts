// Type, and see the prediction and what it attends to while it is produced.
import { merged } from '../document/merge.ts';
import type { AttentionDocument, Model } from '../document/types.ts';
import { button, checkbox, h, replaceChildren, select } from '../dom.ts';
import { Client, ServerError, type LiveQuestion } from './client.ts';

const typingPause = 350; // milliseconds without a key before the model is asked
const pictureEvery = 200; // milliseconds between pictures of an output that is still growing

export interface LiveEvents {
  shown(document: AttentionDocument): void; // the pinned examples and the one just asked for, which comes first
  asked(question: LiveQuestion): void;
}

export class LivePanel {
  readonly element: HTMLElement;
  private readonly input = h('textarea', {
    rows: 2,
    'aria-label': 'Input',
    placeholder: 'Type a text for the model',
    dir: 'auto',
    spellcheck: 'false',
    'data-focus': 'input',
  });
  private readonly target = h('input', {
    type: 'text',
    dir: 'auto',
    spellcheck: 'false',
    placeholder: 'the model chooses',
  });
  private readonly beam = h('input', { type: 'number', min: 1, max: 64, value: 1 });
  private readonly temperature = h('input', { type: 'number', min: 0, max: 5, step: 0.1, value: 0 });
  private readonly output = h('output', {
    class: 'live-output',
    'aria-live': 'polite',
    'aria-label': 'Output',
    dir: 'auto',
  });
  private readonly status = h('span', { class: 'quiet', role: 'status' });
  private readonly problem = h('div', { class: 'problem', role: 'alert', hidden: true });
  private readonly pin: HTMLButtonElement;
  private readonly pins = h('span', { class: 'quiet' });
  private model: string;
  private asYouType = true;
  private timer = 0;
  private running: AbortController | null = null;
  private current: AttentionDocument | null = null;
  private pinned: AttentionDocument[] = [];

  constructor(
    private readonly client: Client,
    models: Model[],
    private readonly events: LiveEvents,
  ) {
    this.model = models[0]?.name ?? '';
    const choices = models.map((model) => ({
      value: model.name,
      words: model.about ? `${model.name} (${model.about})` : model.name,
    }));
    const modelChoice = select('Model', choices, this.model, (name) => {
      this.model = name;
      void this.run();
    });
    modelChoice.dataset.live = 'model';
    this.pin = button('Pin', () => this.pinCurrent(), {
      disabled: true,
      title: 'Keep this example beside the next ones',
    });
    const options = h(
      'div',
      { class: 'tools' },
      models.length > 1 && h('label', { class: 'field' }, 'Model', modelChoice),
      h('label', { class: 'field' }, 'Beam', this.beam),
      h('label', { class: 'field' }, 'Temperature', this.temperature),
      h('label', { class: 'field grow' }, 'Output to explain', this.target),
      checkbox('As I type', true, (on) => (this.asYouType = on)),
    );
    const run = button('Run', () => void this.run(), { class: 'primary' });
    this.element = h(
      'section',
      { class: 'live', 'aria-label': 'Try it' },
      h('div', { class: 'live-row' }, this.input, run),
      options,
      this.problem,
      h('div', { class: 'live-row' }, this.output, this.status, this.pin, this.pins),
    );
    this.input.addEventListener('keydown', (event) => {
      if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      void this.run();
    });
    for (const field of [this.input, this.target, this.beam, this.temperature])
      field.addEventListener('input', () => this.typed());
  }

  focus(): void {
    this.input.focus();
  }

  // Asks again what a link says.
  restore(question: LiveQuestion): void {
    if (question.model) this.model = question.model;
    const choice = this.element.querySelector<HTMLSelectElement>('select[data-live=model]');
    if (choice) choice.value = this.model;
    this.input.value = question.input;
    this.target.value = question.target;
    this.beam.value = String(question.beam);
    this.temperature.value = String(question.temperature);
    void this.run();
  }

  private question(): LiveQuestion {
    const number = (field: HTMLInputElement, least: number, most: number) =>
      Math.min(most, Math.max(least, Number(field.value) || least));
    return {
      model: this.model,
      input: this.input.value,
      target: this.target.value,
      beam: Math.round(number(this.beam, 1, 64)),
      temperature: number(this.temperature, 0, 5),
    };
  }

  private typed(): void {
    clearTimeout(this.timer);
    if (this.asYouType) this.timer = window.setTimeout(() => void this.run(), typingPause);
  }

  private async run(): Promise<void> {
    clearTimeout(this.timer);
    this.running?.abort();
    const question = this.question();
    if (question.input.trim() === '') return;
    const running = (this.running = new AbortController());
    this.problem.hidden = true;
    this.status.textContent = 'working…';
    this.element.setAttribute('aria-busy', 'true');
    try {
      const document = await this.answer(question, running.signal);
      this.show(document, true);
      this.output.textContent = document.examples[0]?.output ?? '';
      this.status.textContent = '';
      this.events.asked(question);
    } catch (error) {
      if (running.signal.aborted) return;
      this.status.textContent = '';
      this.report(error as Error);
    }
    if (this.running === running) this.element.removeAttribute('aria-busy');
  }

  // With a given target there is nothing to predict. A sampled output is explained as a target: asked again, the model
  // would write another.
  private async answer(question: LiveQuestion, signal: AbortSignal): Promise<AttentionDocument> {
    if (question.target) return this.client.attention(question, signal);
    let busy = false;
    let done = false;
    let last = 0;
    const growing = async (text: string) => {
      this.output.textContent = text;
      if (busy || text === '' || performance.now() - last < pictureEvery) return;
      busy = true;
      last = performance.now();
      // A picture that fails on the way is no matter: the final one says why.
      const partial = await this.client.attention({ ...question, target: text, beam: 1 }, signal).catch(() => null);
      busy = false;
      if (partial && !done && !signal.aborted) this.show(partial, false);
    };
    const prediction = await this.client.predict(question, (text) => void growing(text), signal);
    done = true;
    this.output.textContent = prediction.output;
    return this.client.attention({ ...question, target: question.temperature > 0 ? prediction.output : '' }, signal);
  }

  // Only a complete answer can be pinned.
  private show(document: AttentionDocument, complete: boolean): void {
    this.current = document;
    this.pin.disabled = !complete;
    this.events.shown(merged([document, ...this.pinned]));
  }

  private pinCurrent(): void {
    if (!this.current) return;
    this.pinned = [this.current, ...this.pinned.filter((one) => one !== this.current)];
    this.pin.disabled = true;
    this.pins.textContent = `${this.pinned.length} pinned`;
    this.events.shown(merged([this.current, ...this.pinned]));
  }

  private report(error: Error): void {
    const code = error instanceof ServerError ? h('code', {}, error.code) : null;
    replaceChildren(this.problem, h('span', {}, error.message), code);
    this.problem.hidden = false;
  }
}
