// The controls that all views of a map share: which map, which head, how weights become colours.
import type { AttentionMap } from '../document/types.ts';
import { byGroup, meanOfHeads, type Matrix } from '../document/weights.ts';
import { button, checkbox, h, select } from '../dom.ts';
import { colour, type Theme } from '../draw/colour.ts';
import { topOf, type Scaling } from '../draw/heat.ts';
import type { ViewContext } from './view.ts';

// The name of a map where its group is not seen beside it: "layer 1" alone may be in the encoder or the decoder.
export function mapWords(map: AttentionMap): string {
  return map.group && !map.label.startsWith(map.group) ? `${map.group}, ${map.label}` : map.label;
}

// And where its group is: without it.
export function wordsInGroup(map: AttentionMap): string {
  const group = `${map.group}, `;
  return map.label.startsWith(group) ? map.label.slice(group.length) : map.label;
}

export function headWords(map: AttentionMap, head: number): string {
  if (map.heads === 1) return mapWords(map);
  return `${mapWords(map)}, ${head === meanOfHeads ? `mean of ${map.heads} heads` : `head ${head + 1}`}`;
}

export function mapChoice(context: ViewContext, maps: AttentionMap[], map: AttentionMap): HTMLElement | null {
  if (maps.length < 2) return h('span', { class: 'field' }, map.label);
  const choices = byGroup(maps).map((one) => ({
    value: one.name,
    words: maps.some((other) => other !== one && other.label === one.label) ? mapWords(one) : one.label,
    ...(one.group ? { group: one.group } : {}),
  }));
  const list = select('Map', choices, map.name, (name) => context.changePanel({ map: name }));
  list.dataset.focus = 'map';
  return h('label', { class: 'field' }, 'Map', list);
}

export function headChoice(context: ViewContext, map: AttentionMap): HTMLElement | null {
  if (map.heads < 2) return null;
  const one = (head: number, shown: string, words: string) =>
    button(
      words,
      () => context.changePanel({ head }),
      { 'aria-pressed': String(context.panel.head === head), 'data-focus': `head${head}` },
      shown,
    );
  const heads = Array.from({ length: map.heads }, (_, head) => one(head, String(head + 1), `Head ${head + 1}`));
  return h(
    'div',
    { class: 'field' },
    'Head',
    h(
      'div',
      { class: 'segments', role: 'group', 'aria-label': 'Head' },
      one(meanOfHeads, 'mean', 'Mean of all heads'),
      ...heads,
    ),
  );
}

export function scalingChoice(context: ViewContext): HTMLElement[] {
  const eachRow = checkbox('Each row alone', context.page.eachRow, (eachRow) => context.changePage({ eachRow }));
  const small = checkbox('Show small weights', context.page.showSmall, (showSmall) =>
    context.changePage({ showSmall }),
  );
  eachRow.querySelector('input')!.dataset.focus = 'row';
  small.querySelector('input')!.dataset.focus = 'small';
  return [eachRow, small];
}

// The colours and the weights that they stand for.
export function colourBar(matrix: Matrix, scaling: Scaling, theme: Theme): HTMLElement {
  const most = topOf(matrix);
  const from = matrix.least < 0 ? -1 : 0;
  const samples = Array.from({ length: 17 }, (_, i) => from + (i / 16) * (1 - from));
  const number = (strength: number) => {
    const part = scaling.showSmall ? Math.sign(strength) * strength * strength : strength;
    if (scaling.eachRow) return `${Math.round(part * 100)} %`;
    return String(+(part * most).toPrecision(3));
  };
  const bar = h('div', { class: 'bar-colours', 'aria-hidden': 'true' });
  bar.style.background = `linear-gradient(to right, ${samples.map((strength) => colour(theme, strength)).join(', ')})`;
  const marks = [0, 1, 2, 3, 4].map((i) => from + (i / 4) * (1 - from));
  const numbers = h('div', { class: 'bar-numbers' }, ...marks.map((strength) => h('span', {}, number(strength))));
  const words = scaling.eachRow ? 'part of the strongest weight of the row' : 'weight';
  return h(
    'div',
    { class: 'bar', role: 'group', 'aria-label': `Colours: ${words} from ${number(from)} to ${number(1)}` },
    bar,
    numbers,
    h('div', { class: 'bar-words' }, words),
  );
}
