// Type, and see the prediction and what it attends to while it is produced.
import { merged } from '../document/merge.ts';
import type { AttentionDocument } from '../document/types.ts';
import { button, h, replaceChildren } from '../dom.ts';
import { shortened } from '../draw/token.ts';
import { answer } from './answering.ts';
import type { Client, ListedModel, LiveQuestion, Prediction } from './client.ts';
import { firstWords } from './first_words.ts';
import { LiveOptions } from './live_options.ts';
import { probabilityBars } from './probability_bars.ts';
import { adviceFor, ServerError } from './server_error.ts';

const typingPause = 350; // milliseconds without a key before the model is asked
const labelsShown = 5;

export interface LiveEvents {
  // The examples just asked for, one of each model, then the pinned ones.
  shown(document: AttentionDocument, asked: number): void;
  asked(question: LiveQuestion): void;
}

export class LivePanel {
  readonly element: HTMLElement;
  readonly head = h('div', { class: 'live-head' }); // which model, and what it does: for the top of the page
  private readonly options: LiveOptions;
  private readonly input = h('textarea', {
    rows: 2,
    'aria-label': 'Input',
    dir: 'auto',
    spellcheck: 'false',
    'data-focus': 'input',
  });
  private readonly about = h('div', { class: 'live-about' });
  private readonly hint = h('div', { class: 'first-words' });
  private readonly outputs = h('div', { class: 'live-outputs', 'aria-live': 'polite' });
  private readonly status = h('span', { class: 'quiet', role: 'status' });
  private readonly stop = button('Stop', () => this.cancel(), { hidden: true });
  private readonly problem = h('div', { class: 'problem', role: 'alert', hidden: true });
  private readonly pin = button('Pin', () => this.pinCurrent(), {
    disabled: true,
    title: 'Keep this example, to see the next ones beside it',
  });
  private readonly pins = h('ul', { class: 'pins', 'aria-label': 'Pinned', hidden: true });
  private timer = 0;
  private running: AbortController | null = null;
  private current: AttentionDocument[] = []; // of the models that were asked, complete or on the way
  private pinned: AttentionDocument[] = [];

  constructor(
    private readonly client: Client,
    private readonly models: ListedModel[],
    private readonly events: LiveEvents,
  ) {
    this.options = new LiveOptions(models, {
      changed: () => this.typed(),
      run: () => void this.run(),
    });
    const run = button('Run', () => void this.run(), { class: 'primary' });
    this.element = h(
      'section',
      { class: 'live', 'aria-label': 'Try it' },
      h('div', { class: 'live-row' }, this.input, run),
      this.hint,
      this.problem,
      h(
        'div',
        { class: 'live-row live-answer' },
        this.outputs,
        h('div', { class: 'live-actions' }, this.status, this.stop, this.pin),
      ),
      this.pins,
      this.options.element,
    );
    replaceChildren(this.head, this.options.models, this.about);
    this.input.addEventListener('keydown', (event) => {
      if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      void this.run();
    });
    this.input.addEventListener('input', () => this.typed());
    this.introduce();
  }

  focus(): void {
    this.input.focus();
  }

  // Asks again what a link says.
  restore(question: LiveQuestion): void {
    this.input.value = question.input;
    const missing = this.options.restore(question);
    if (missing.length > 0)
      return this.say(
        h(
          'p',
          {},
          `The link asks for ${missing.join(' and ')}, which this server does not have. Its models are listed here.`,
        ),
      );
    void this.run();
  }

  private question(): LiveQuestion {
    return { input: this.input.value, ...this.options.values() };
  }

  private modelNamed(name: string): ListedModel | undefined {
    return this.models.find((model) => model.name === name);
  }

  // What the model is, what it does, and texts to begin with.
  private introduce(): void {
    const model = this.modelNamed(this.options.values().model);
    const words = firstWords(model);
    this.input.placeholder = words.placeholder;
    const about = [model?.kind, model?.about].filter(Boolean).join(', ');
    replaceChildren(
      this.about,
      !this.options.models && h('h2', {}, model?.name ?? ''),
      h('p', { class: 'quiet' }, about),
      model?.description && h('p', { class: 'live-does' }, model.description),
    );
    this.options.suit(model?.answers ?? 'text');
    this.pin.hidden = this.current.length === 0;
    const samples = (model?.examples ?? []).map((text) =>
      button(
        `Try: ${text}`,
        () => {
          this.input.value = text;
          void this.run();
        },
        { class: 'sample', dir: 'auto' },
        text,
      ),
    );
    replaceChildren(
      this.hint,
      samples.length > 0 && h('div', { class: 'samples' }, h('span', { class: 'quiet' }, 'Try'), ...samples),
      this.current.length === 0 && h('p', { class: 'quiet' }, words.what),
    );
  }

  private typed(): void {
    clearTimeout(this.timer);
    if (this.options.asYouType) this.timer = window.setTimeout(() => void this.run(), typingPause);
  }

  private cancel(): void {
    this.running?.abort();
    this.working(false);
  }

  private working(on: boolean): void {
    this.status.textContent = on ? 'working…' : '';
    this.stop.hidden = !on;
    if (on) this.element.setAttribute('aria-busy', 'true');
    else this.element.removeAttribute('aria-busy');
  }

  private async run(): Promise<void> {
    clearTimeout(this.timer);
    this.running?.abort();
    const question = this.question();
    this.introduce();
    if (question.input.trim() === '') return this.working(false);
    const running = (this.running = new AbortController());
    this.problem.hidden = true;
    this.working(true);
    const names = [question.model, ...(question.compare ? [question.compare] : [])];
    const { texts, bars, scores } = this.showOutputs(names);
    const found: (AttentionDocument | null)[] = names.map(() => null);
    const errors: (Error | null)[] = names.map(() => null);
    // Two models are shown once both have something to show, or one of them has failed.
    const show = (complete: boolean) => {
      const documents = found.filter((one) => one !== null);
      if (documents.length > 0 && documents.length + errors.filter(Boolean).length === names.length)
        this.show(documents, complete);
    };
    await Promise.all(
      names.map(async (model, i) => {
        const text = (words: string) => {
          if (!running.signal.aborted) texts[i]!.textContent = words;
        };
        const picture = (document: AttentionDocument) => {
          found[i] = document;
          show(false);
        };
        const predicted = (prediction: Prediction) => {
          if (running.signal.aborted) return;
          const lines = probabilityBars(prediction);
          replaceChildren(bars[i]!, ...lines);
          const sure = prediction.log_probability;
          if (lines.length === 0 && sure != null) scores[i]!.textContent = `log probability ${sure.toFixed(2)}`;
        };
        const nbest = this.modelNamed(model)?.answers === 'label' ? labelsShown : 1;
        try {
          const progress = { text, picture, predicted };
          found[i] = await answer(this.client, { ...question, model }, progress, running.signal, nbest);
          text(found[i]!.examples[0]?.output ?? '');
        } catch (error) {
          errors[i] = error as Error;
          found[i] = null;
          text('');
          replaceChildren(bars[i]!);
        }
      }),
    );
    if (running.signal.aborted) return;
    this.working(false);
    show(true);
    // What is still on the screen is of an earlier text: it says which.
    if (errors.every(Boolean) && this.current.length > 0)
      this.events.shown(merged([...this.current, ...this.pinned]), 0);
    this.report(names, errors);
    if (!errors.some(Boolean)) this.events.asked(question);
  }

  // A line for each model that is asked; with the names where there are two. What was there stays until something comes.
  private showOutputs(names: string[]): { texts: HTMLElement[]; bars: HTMLElement[]; scores: HTMLElement[] } {
    const before = this.outputs.querySelectorAll('output');
    const bars = names.map(() => h('ol', { class: 'label-bars', 'aria-label': 'Probabilities' }));
    const scores = names.map(() => h('span', { class: 'quiet live-score' }));
    const lines = names.map((name, i) =>
      h(
        'output',
        { class: 'live-output', 'aria-label': names.length > 1 ? `Output of ${name}` : 'Output', dir: 'auto' },
        before[i]?.textContent,
      ),
    );
    const rows = lines.map((line, i) =>
      h('div', {}, names.length > 1 && h('span', { class: 'quiet' }, names[i]!), line, bars[i]!, scores[i]!),
    );
    replaceChildren(this.outputs, ...rows);
    return { texts: lines, bars, scores };
  }

  // Only complete answers can be pinned.
  private show(documents: AttentionDocument[], complete: boolean): void {
    const first = this.current.length === 0;
    this.current = documents;
    if (first) this.introduce();
    this.pin.disabled = !complete;
    this.events.shown(merged([...documents, ...this.pinned]), documents.length);
  }

  private pinCurrent(): void {
    this.pin.disabled = true;
    this.setPinned([...this.current, ...this.pinned.filter((one) => !this.current.includes(one))]);
  }

  private setPinned(pinned: AttentionDocument[]): void {
    this.pinned = pinned;
    this.pins.hidden = pinned.length === 0;
    const chips = pinned.map((one) => {
      const { input, output } = one.examples[0]!;
      const words = shortened(`${input} → ${output}`, 40);
      const away = () => {
        this.setPinned(this.pinned.filter((other) => other !== one));
        this.pin.disabled = this.pinned.includes(this.current[0]!);
      };
      return h('li', {}, h('bdi', {}, words), button(`Unpin ${words}`, away, { class: 'plain' }, '×'));
    });
    replaceChildren(this.pins, ...chips);
    this.events.shown(merged([...this.current, ...pinned]), this.current.length);
  }

  private report(names: string[], errors: (Error | null)[]): void {
    const lines = errors.flatMap((error, i) => {
      if (!error) return [];
      const said = (names.length > 1 ? `${names[i]}: ` : '') + error.message;
      if (!(error instanceof ServerError)) return [h('p', {}, said)];
      return [h('p', {}, said, ' ', adviceFor(error), ' ', h('code', {}, error.code))];
    });
    if (lines.length > 0)
      this.say(
        ...lines,
        button('Try again', () => void this.run()),
      );
  }

  private say(...words: HTMLElement[]): void {
    replaceChildren(this.problem, ...words);
    this.problem.hidden = false;
  }
}
