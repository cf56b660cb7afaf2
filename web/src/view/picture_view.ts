// Where in the picture each token of the output looked: one token at a time.
import { matrixOf, sequenceOf, strongestKeys } from '../document/weights.ts';
import { button, h } from '../dom.ts';
import { PictureDrawing } from '../draw/picture_drawing.ts';
import { Stage } from '../draw/stage.ts';
import { shownToken } from '../draw/token.ts';
import { weightText } from '../draw/heat.ts';
import { mapOf } from '../page/state.ts';
import { headChoice, headWords, mapChoice } from './map_tools.ts';
import { mapSavable } from './map_view.ts';
import type { View, ViewContext } from './view.ts';

export function pictureView(context: ViewContext): View {
  const example = context.example!;
  const picture = example.picture!;
  const maps = example.maps.filter((map) => map.keys === 'cells');
  const wanted = mapOf(example, context.panel.map);
  const map = wanted?.keys === 'cells' ? wanted : maps.at(-1)!;
  const matrix = matrixOf(map, map.heads === 1 ? 0 : Math.min(context.panel.head, map.heads - 1));
  const queries = sequenceOf(example, map.queries);
  const query = Math.max(0, Math.min(matrix.rows - 1, context.panel.query));
  const image = new Image();
  image.src = picture.data;
  const token = shownToken(queries.tokens[query] ?? '');
  const strongest = strongestKeys(matrix, query, 3).map(
    ({ index, weight }) =>
      `row ${Math.floor(index / picture.cols) + 1}, column ${(index % picture.cols) + 1} (${weightText(weight)})`,
  );
  const label = `Picture of ${picture.rows} x ${picture.cols} cells: what "${token}" looked at; strongest: ${strongest.join('; ')}. ${headWords(map, context.panel.head)}`;
  const make = () => new PictureDrawing({ label, image, rows: picture.rows, cols: picture.cols, matrix, query });
  const stage = new Stage(make(), context.theme, { pointed: () => undefined, chosen: () => undefined });
  image.decode().then(
    () => stage.show(make()),
    () => stage.element.append(h('p', { class: 'problem' }, 'The picture in this document cannot be read.')),
  );
  const tokens = queries.tokens.map((one, index) =>
    button(
      `Show what token ${index + 1}, ${shownToken(one)}, looked at`,
      () => context.changePanel({ query: index, key: 0 }),
      { 'aria-pressed': String(index === query), 'data-focus': `token${index}`, dir: 'auto' },
      shownToken(one),
    ),
  );
  const element = h(
    'div',
    {},
    h('div', { class: 'tools' }, mapChoice(context, maps, map), headChoice(context, map)),
    h('div', { class: 'picture-tokens', role: 'group', 'aria-label': queries.label }, ...tokens),
    stage.element,
    h(
      'p',
      { class: 'quiet' },
      `Bright cells have the most weight. Strongest for `,
      h('bdi', {}, token),
      `: ${strongest.join('; ') || 'none'}.`,
    ),
  );
  return { element, savable: mapSavable(example, map, context.panel.head, make), stop: () => stage.stop() };
}
