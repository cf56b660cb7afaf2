// One example: which one it is, what went in and came out, and a view of it.
import type { Example } from '../document/types.ts';
import { button, h, select } from '../dom.ts';
import { commonWords } from '../document/difference.ts';
import { shortened } from '../draw/token.ts';
import type { ViewEntry } from '../view/all.ts';
import type { View, ViewContext } from '../view/view.ts';

const longestInput = 500; // characters; a document has its own view

export interface Panel {
  element: HTMLElement;
  view: View | null;
}

const isRight = (example: Example) => (example.reference == null ? null : example.reference === example.output);

function exampleWords(example: Example, place: number): string {
  const right = isRight(example);
  const mark = right === null ? '' : right ? '✓ ' : '✗ ';
  return `${place + 1}. ${mark}${shortened(example.input, 48)} → ${shortened(example.output, 32)}`;
}

function exampleChoice(context: ViewContext): HTMLElement | null {
  const { examples, models } = context.document;
  if (examples.length < 2) return null;
  const at = context.panel.example;
  const go = (example: number) => context.changePanel({ example, query: -1, key: -1 });
  const several = models.length > 1;
  const choices = examples.map((example, i) => ({
    value: String(i),
    words: (several ? `${models[example.model]!.name}: ` : '') + exampleWords(example, i),
  }));
  const list = select('Example', choices, String(at), (value) => go(Number(value)));
  list.dataset.focus = 'example';
  return h(
    'div',
    { class: 'example-choice' },
    list,
    h(
      'div',
      { class: 'segments' },
      button('Example before', () => go(at - 1), { disabled: at <= 0, 'data-focus': 'before' }, '‹'),
      button('Next example', () => go(at + 1), { disabled: at >= examples.length - 1, 'data-focus': 'next' }, '›'),
    ),
  );
}

// Examples of the same input by several models, in the order of the document: the checkpoints of a training.
export function sameInput(examples: readonly Example[], at: number): number[] {
  const example = examples[at];
  if (!example) return [];
  const places = examples.flatMap((other, i) => (other.input === example.input ? [i] : []));
  const models = new Set(places.map((i) => examples[i]!.model));
  return places.length > 1 && models.size === places.length ? places : [];
}

function checkpointSlider(context: ViewContext): HTMLElement | null {
  const { examples, models } = context.document;
  const places = sameInput(examples, context.panel.example);
  if (places.length < 3) return null; // two stand side by side
  const place = places.indexOf(context.panel.example);
  const nameOf = (n: number) => models[examples[places[n]!]!.model]!.name;
  const told = h('span', { class: 'quiet' }, nameOf(place));
  // The panels are made anew when the example changes, which would end a drag: until it ends only the name follows.
  const slider = h('input', {
    type: 'range',
    min: 0,
    max: places.length - 1,
    value: String(place),
    'aria-label': 'Model',
    'aria-valuetext': nameOf(place),
    'data-focus': 'checkpoint',
    oninput: () => (told.textContent = nameOf(Number(slider.value))),
    onchange: () => context.changePanel({ example: places[Number(slider.value)]! }),
  });
  return h('label', { class: 'checkpoints' }, slider, told);
}

// The output with the words marked that are not in the reference at their place (a longest common subsequence).
function wrongParts(output: string, reference: string): (HTMLElement | string)[] {
  const common = commonWords(output.split(' '), reference.split(' '));
  return output.split(' ').flatMap((word, i) => [i > 0 ? ' ' : '', common.has(i) ? word : h('mark', {}, word)]);
}

function facts(context: ViewContext, example: Example): HTMLElement {
  const model = context.document.models[example.model];
  const right = isRight(example);
  const list = h('dl', { class: 'facts' });
  const add = (name: string, ...value: (HTMLElement | string)[]) =>
    list.append(h('div', {}, h('dt', {}, name), h('dd', {}, ...value)));
  // What the reader has just typed need not be said again.
  const told = context.panel.example < context.asked;
  const toldOnce = told && context.asked === 1; // and beside it stands what the model wrote
  if (example.input && !told) add('in', h('bdi', { class: 'sentence' }, shortened(example.input, longestInput)));
  const output = right === false ? wrongParts(example.output, example.reference!) : [example.output];
  const probability = example.log_probability;
  const how =
    probability == null
      ? ''
      : h('span', { class: 'quiet', title: 'log probability' }, ` log probability ${probability.toFixed(2)}`);
  const badge =
    right === null ? '' : h('span', { class: right ? 'badge' : 'badge bad' }, right ? '✓ right' : '✗ wrong');
  if (example.output && !toldOnce) add('out', h('bdi', { class: 'sentence' }, ...output), badge, how);
  if (right === false) add('should be', h('bdi', { class: 'sentence' }, example.reference!));
  if (model && !toldOnce)
    add(
      'model',
      h('span', {}, model.name),
      model.about || model.kind
        ? h('span', { class: 'quiet' }, ` ${[model.kind, model.about].filter(Boolean).join(', ')}`)
        : '',
    );
  return list;
}

export function makePanel(context: ViewContext, entry: ViewEntry | undefined, place: number): Panel {
  let view: View | null = null;
  let problem = '';
  try {
    if (entry?.available(context.document, context.example)) view = entry.make(context);
  } catch (error) {
    problem = (error as Error).message; // weights that turn out to be damaged when they are decoded
  }
  const example = context.example;
  const names = ['Example', 'Second example'];
  const element = h('section', {
    class: 'panel',
    'aria-label': entry?.ofExample === false ? entry.words : names[place]!,
    'data-panel': place,
    'data-explains': entry?.ofExample === false ? null : example?.output,
  });
  if (entry?.ofExample !== false && example) {
    const choice = exampleChoice(context);
    if (choice) element.append(choice);
    const slider = checkpointSlider(context);
    if (slider) element.append(slider);
    const known = facts(context, example);
    if (known.hasChildNodes()) element.append(known);
  }
  const nothing = example ? 'This example has nothing to show in this view.' : 'Nothing to show yet.';
  element.append(
    view?.element ??
      (problem
        ? h('div', { class: 'problem', role: 'alert' }, `This cannot be drawn: ${problem}`)
        : h('p', { class: 'quiet' }, nothing)),
  );
  return { element, view };
}
