// One map, one head: as a matrix or as lines. Both have the same controls, the same words and the same files.
import type { AttentionMap, Example } from '../document/types.ts';
import { matrixOf, sequenceOf, weightAt, type Matrix } from '../document/weights.ts';
import { button, h } from '../dom.ts';
import type { Cursor, Drawing } from '../draw/drawing.ts';
import { LinesDrawing } from '../draw/lines_drawing.ts';
import { MatrixDrawing } from '../draw/matrix_drawing.ts';
import { Stage } from '../draw/stage.ts';
import { drawingSvg, type Savable } from '../page/files.ts';
import { mapOf, zooms } from '../page/state.ts';
import { colourBar, headChoice, headWords, mapChoice, scalingChoice } from './map_tools.ts';
import { Readout, textAlternative } from './readout.ts';
import type { View, ViewContext } from './view.ts';

export function mapTable(matrix: Matrix, queries: string[], keys: string[]) {
  const rows = queries.map((query, row) => [query, ...keys.map((_, col) => weightAt(matrix, row, col))]);
  return [['', ...keys], ...rows];
}

export function mapJson(example: Example, map: AttentionMap, head: number) {
  const matrix = matrixOf(map, head);
  const weights = Array.from({ length: matrix.rows }, (_, row) =>
    Array.from(matrix.values.subarray(row * matrix.cols, (row + 1) * matrix.cols)),
  );
  const { input, output } = example;
  return {
    input,
    output,
    map: map.name,
    head: head < 0 ? 'mean' : head + 1,
    queries: sequenceOf(example, map.queries).tokens,
    keys: sequenceOf(example, map.keys).tokens,
    weights,
  };
}

export function mapSavable(example: Example, map: AttentionMap, head: number, drawing: () => Drawing): Savable {
  const tokens = (name: string) => sequenceOf(example, name).tokens;
  return {
    name: `${map.name}.${head < 0 ? 'mean' : `head${head + 1}`}`,
    svg: (look) => drawingSvg(drawing(), look),
    table: () => mapTable(matrixOf(map, head), tokens(map.queries), tokens(map.keys)),
    json: () => mapJson(example, map, head),
  };
}

function zoomChoice(context: ViewContext): HTMLElement {
  const at = zooms.indexOf(context.page.zoom);
  const step = (by: number) => context.changePage({ zoom: zooms[Math.max(0, Math.min(zooms.length - 1, at + by))]! });
  return h(
    'div',
    { class: 'segments', role: 'group', 'aria-label': 'Size' },
    button('Smaller', () => step(-1), { disabled: at <= 0, 'data-focus': 'smaller' }, '−'),
    button('Larger', () => step(1), { disabled: at >= zooms.length - 1, 'data-focus': 'larger' }, '+'),
  );
}

export function mapView(context: ViewContext, form: 'matrix' | 'lines'): View {
  const { page, panel, theme } = context;
  const example = context.example!;
  const map = mapOf(example, panel.map)!;
  const matrix = matrixOf(map, panel.head);
  const queries = sequenceOf(example, map.queries);
  const keys = sequenceOf(example, map.keys);
  const scaling = { eachRow: page.eachRow, showSmall: page.showSmall };
  const label = `${form === 'matrix' ? 'Matrix' : 'Lines'} of ${headWords(map, panel.head)}: ${matrix.rows} queries (${queries.label}), ${matrix.cols} keys (${keys.label})`;
  const make = (zoom: number) =>
    form === 'matrix'
      ? new MatrixDrawing(matrix, { label, queries, keys, scaling, zoom })
      : new LinesDrawing(matrix, { label, queries, keys });

  const readout = new Readout(matrix, queries, keys);
  let kept = panel.query;
  readout.show(kept);
  const stage = new Stage(make(page.zoom), theme, {
    pointed: (cursor) => readout.show(cursor ? cursor.row : kept),
    chosen: (cursor: Cursor) => context.keepCell((kept = cursor.row), Math.max(0, cursor.col)),
  });
  if (kept >= 0) stage.keep({ row: kept, col: panel.key });
  const tools = h(
    'div',
    { class: 'tools' },
    mapChoice(context, example.maps, map),
    headChoice(context, map),
    ...(form === 'matrix' ? [...scalingChoice(context), zoomChoice(context)] : []),
  );
  const beside = h('div', { class: 'beside' }, form === 'matrix' && colourBar(matrix, scaling, theme), readout.element);
  const element = h(
    'div',
    { class: 'map-view' },
    tools,
    h('div', { class: 'with-beside' }, stage.element, beside),
    textAlternative(matrix, queries, keys),
  );
  return { element, savable: mapSavable(example, map, panel.head, () => make(1)), stop: () => stage.stop() };
}
