// Training curves: one picture for each measure that some run has.
import { h } from '../dom.ts';
import { CurvesDrawing, measureWords, pointsOf, shortNumber, type Measure } from '../draw/curves_drawing.ts';
import { Stage } from '../draw/stage.ts';
import { lookOf, paintedSvg } from '../page/files.ts';
import type { View, ViewContext } from './view.ts';

const captionHeight = 24; // above each picture in a file

export function trainingView(context: ViewContext): View {
  const runs = context.document.training!;
  const measures = (Object.keys(measureWords) as Measure[]).filter((measure) =>
    runs.some((run) => pointsOf(run, measure).length > 0),
  );
  const look = lookOf(context.theme);
  const drawings = measures.map((measure) => new CurvesDrawing(runs, measure));
  const stages = drawings.map(
    (drawing) => new Stage(drawing, context.theme, { pointed: () => undefined, chosen: () => undefined }),
  );
  const legend = h(
    'ul',
    { class: 'legend' },
    ...runs.map((run, i) => {
      const mark = h('span', { class: 'legend-mark' });
      mark.style.background = look.palette.series[i % look.palette.series.length]!;
      return h('li', {}, mark, run.name);
    }),
  );
  const last = (measure: Measure, i: number) => {
    const value = pointsOf(runs[i]!, measure).at(-1)?.value;
    return value === undefined ? '' : shortNumber(value);
  };
  const rows = runs.map((run, i) =>
    h(
      'tr',
      {},
      h('th', { scope: 'row' }, run.name),
      h('td', { class: 'number' }, String(run.points.at(-1)?.step ?? 0)),
      ...measures.map((measure) => h('td', { class: 'number' }, last(measure, i))),
    ),
  );
  const head = h(
    'thead',
    {},
    h(
      'tr',
      {},
      ...['run', 'last step', ...measures.map((measure) => measureWords[measure])].map((name, col) =>
        h('th', { scope: 'col', class: col > 0 ? 'number' : null }, name),
      ),
    ),
  );
  const figures = stages.map((stage, i) =>
    h('figure', {}, h('figcaption', {}, measureWords[measures[i]!]), stage.element),
  );
  return {
    element: h(
      'div',
      {},
      legend,
      h('div', { class: 'curves' }, ...figures),
      h(
        'div',
        { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Last values' },
        h('table', {}, head, h('tbody', {}, ...rows)),
      ),
    ),
    savable: {
      name: 'training',
      svg: (look) => {
        const placed = measures.map((measure) => new CurvesDrawing(runs, measure));
        const heights = placed.map((drawing) => drawing.layout(800, 380).height + captionHeight);
        const size = { width: 800, height: heights.reduce((sum, height) => sum + height, 0) };
        return paintedSvg(size, 'Training', look, (painter) => {
          let y = 0;
          placed.forEach((drawing, i) => {
            painter.text(56, y + 14, measureWords[measures[i]!], { fill: look.palette.text, bold: true });
            const top = y + captionHeight;
            painter.moved(0, top, () => drawing.paint(painter, { x: 0, y: 0, ...size }, look));
            y += heights[i]!;
          });
        });
      },
      table: () => [
        ['run', 'step', 'loss', 'valid_loss', 'metric'],
        ...runs.flatMap((run) =>
          run.points.map((point) => [
            run.name,
            point.step,
            point.loss ?? null,
            point.valid_loss ?? null,
            point.metric ?? null,
          ]),
        ),
      ],
      json: () => runs,
    },
    stop: () => stages.forEach((stage) => stage.stop()),
  };
}
