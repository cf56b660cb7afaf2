// Which models are asked, and how they search for their output.
import { button, checkbox, h, select } from '../dom.ts';
import type { AnswerKind, ListedModel, LiveQuestion } from './client.ts';

export const mostBeam = 64; // the server may allow less, and says so
export const mostSeed = 2 ** 31 - 1;
export const mostTemperature = 5;
const usualTemperature = '0.8'; // of a text that goes on

type Values = Omit<LiveQuestion, 'input'>;

export interface OptionEvents {
  changed(): void; // a field that is typed in
  run(): void; // a choice that is made at once
}

function numberField(words: string, limits: Record<string, number>, title: string): HTMLInputElement {
  return h('input', { type: 'number', 'aria-label': words, title, ...limits });
}

export class LiveOptions {
  readonly element: HTMLElement;
  readonly models: HTMLElement | null; // the choice of models, where there are several
  asYouType = true;
  private readonly model: HTMLSelectElement;
  private readonly compare: HTMLSelectElement;
  private readonly beam = numberField(
    'Beam',
    { min: 1, max: mostBeam, value: 1 },
    'How many outputs are kept at each step of the search; above 1 the search tree is shown as well',
  );
  private readonly temperature = numberField(
    'Temperature',
    { min: 0, max: mostTemperature, step: 0.1, value: 0 },
    '0: the most likely output. Otherwise one is drawn at random; higher is more varied',
  );
  private readonly seed = numberField(
    'Seed',
    { min: 0, max: mostSeed, value: 1 },
    'The same seed draws the same output again',
  );
  private readonly sampling: HTMLElement;
  private readonly search: HTMLElement; // what only a model that writes can be told
  private searches = true;
  private isUntouched = true; // the temperature is what suits the model
  private readonly target = h('input', {
    type: 'text',
    dir: 'auto',
    spellcheck: 'false',
    placeholder: 'the model chooses',
    title: 'Where the model looks if it writes this instead',
  });

  constructor(models: ListedModel[], events: OptionEvents) {
    const names = models.map((model) => ({ value: model.name, words: model.name }));
    this.model = select('Model', names, models[0]?.name ?? '', () => {
      if (this.compare.value === this.model.value) this.compare.value = '';
      events.run();
    });
    const others = [{ value: '', words: 'nothing' }, ...names];
    this.compare = select('Compare with', others, '', () => {
      // With itself there is nothing to compare: whoever chooses it wants the two the other way round, or one alone.
      if (this.compare.value === this.model.value) this.compare.value = '';
      events.run();
    });
    const another = button('Another sample', () => {
      this.seed.value = String((this.seedValue() + 1) % mostSeed);
      events.run();
    });
    this.sampling = h(
      'span',
      { class: 'tools', hidden: true },
      h('label', { class: 'field' }, 'Seed', this.seed),
      another,
    );
    this.models =
      models.length > 1
        ? h(
            'div',
            { class: 'tools' },
            h('label', { class: 'field' }, 'Model', this.model),
            h('label', { class: 'field' }, 'Compare with', this.compare),
          )
        : null;
    this.search = h(
      'div',
      { class: 'tools' },
      h('label', { class: 'field' }, 'Beam', this.beam),
      h('label', { class: 'field' }, 'Temperature', this.temperature),
      this.sampling,
      h('label', { class: 'field grow' }, 'Output to explain', this.target),
    );
    const details = h(
      'details',
      { open: matchMedia('(min-width: 700px)').matches },
      h('summary', {}, 'Options'),
      h(
        'div',
        { class: 'tools' },
        this.search,
        checkbox('As I type', true, (on) => (this.asYouType = on)),
      ),
    );
    this.element = h('div', { class: 'live-options' }, details);
    for (const field of [this.target, this.beam, this.temperature, this.seed])
      field.addEventListener('input', () => {
        if (field === this.temperature) this.isUntouched = false;
        this.showSampling();
        events.changed();
      });
  }

  // What a model answers with decides what it can be told: one that goes on with a text says something new with some
  // chance in it, and a label is not searched for.
  suit(answers: AnswerKind): void {
    this.searches = answers === 'text' || answers === 'continuation';
    this.search.hidden = !this.searches;
    if (this.isUntouched) this.temperature.value = answers === 'continuation' ? usualTemperature : '0';
    this.showSampling();
  }

  values(): Values {
    const number = (field: HTMLInputElement, least: number, most: number) =>
      Math.min(most, Math.max(least, Number(field.value) || least));
    return {
      model: this.model.value,
      compare: this.compare.value,
      target: this.searches ? this.target.value : '',
      beam: this.searches ? Math.round(number(this.beam, 1, mostBeam)) : 1,
      temperature: this.searches ? number(this.temperature, 0, mostTemperature) : 0,
      seed: this.seedValue(),
    };
  }

  // Returns the models that the server does not have.
  restore(values: Values): string[] {
    const has = (name: string) => Array.from(this.model.options, (option) => option.value).includes(name);
    if (has(values.model)) this.model.value = values.model;
    this.compare.value = has(values.compare) && values.compare !== this.model.value ? values.compare : '';
    this.target.value = values.target;
    this.beam.value = String(values.beam);
    this.temperature.value = String(values.temperature);
    this.isUntouched = false;
    this.seed.value = String(values.seed);
    this.showSampling();
    return [values.model, values.compare].filter((name) => name !== '' && !has(name));
  }

  private seedValue(): number {
    return Math.min(mostSeed, Math.max(0, Math.round(Number(this.seed.value) || 0)));
  }

  private showSampling(): void {
    this.sampling.hidden = !(Number(this.temperature.value) > 0);
  }
}
