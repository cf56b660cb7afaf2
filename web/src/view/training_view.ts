// Training curves: one picture for each measure that some run has. They grow in place while a training goes on.
import type { TrainingRun } from '../document/types.ts';
import { h, replaceChildren } from '../dom.ts';
import { CurvesDrawing, measureWords, pointsOf, shortNumber, type Measure } from '../draw/curves_drawing.ts';
import { Stage } from '../draw/stage.ts';
import { lookOf, paintedSvg, type Savable } from '../page/files.ts';
import type { View, ViewContext } from './view.ts';

const captionHeight = 24; // above each picture in a file

const measuresOf = (runs: TrainingRun[]) =>
  (Object.keys(measureWords) as Measure[]).filter((measure) => runs.some((run) => pointsOf(run, measure).length > 0));

function lastValues(runs: TrainingRun[], measures: Measure[]): HTMLTableElement {
  const last = (run: TrainingRun, measure: Measure) => {
    const value = pointsOf(run, measure).at(-1)?.value;
    return value === undefined ? '' : shortNumber(value);
  };
  const rows = runs.map((run) =>
    h(
      'tr',
      {},
      h('th', { scope: 'row' }, run.name),
      h('td', { class: 'number' }, String(run.points.reduce((last, { step }) => Math.max(last, step), 0))),
      ...measures.map((measure) => h('td', { class: 'number' }, last(run, measure))),
    ),
  );
  const names = ['run', 'last step', ...measures.map((measure) => measureWords[measure])];
  const head = names.map((name, col) => h('th', { scope: 'col', class: col > 0 ? 'number' : null }, name));
  return h('table', {}, h('thead', {}, h('tr', {}, ...head)), h('tbody', {}, ...rows));
}

function savableOf(runs: () => TrainingRun[]): Savable {
  return {
    name: 'training',
    svg: (look) => {
      const measures = measuresOf(runs());
      const placed = measures.map((measure) => new CurvesDrawing(runs(), measure));
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
      ...runs().flatMap((run) =>
        run.points.map((point) => [
          run.name,
          point.step,
          point.loss ?? null,
          point.valid_loss ?? null,
          point.metric ?? null,
        ]),
      ),
    ],
    json: runs,
  };
}

export function trainingView(context: ViewContext): View {
  let runs: TrainingRun[] = [];
  const { series } = lookOf(context.theme).palette;
  const stages = new Map<Measure, Stage>();
  const legend = h('ul', { class: 'legend' });
  const curves = h('div', { class: 'curves' });
  const table = h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Last values' });

  const waiting = h('p', { class: 'quiet' }, 'The training has not written anything yet.');

  const addFigure = (measure: Measure, drawing: CurvesDrawing) => {
    const stage = new Stage(drawing, context.theme, { pointed: () => undefined, chosen: () => undefined });
    stages.set(measure, stage);
    curves.append(h('figure', {}, h('figcaption', {}, measureWords[measure]), stage.element));
  };
  const show = (shown: TrainingRun[]) => {
    runs = shown;
    const measures = measuresOf(runs);
    // Pictures that are there already stay where they are: one of them may have the focus.
    for (const measure of measures) {
      const drawing = new CurvesDrawing(runs, measure);
      const stage = stages.get(measure);
      if (stage) stage.show(drawing);
      else addFigure(measure, drawing);
    }
    waiting.hidden = measures.length > 0;
    const entries = runs.map((run, i) => {
      const mark = h('span', { class: 'legend-mark' });
      mark.style.background = series[i % series.length]!;
      return h('li', {}, mark, run.name);
    });
    replaceChildren(legend, ...entries);
    replaceChildren(table, lastValues(runs, measures));
  };
  show(context.document.training!);
  return {
    element: h('div', {}, legend, waiting, curves, table),
    savable: savableOf(() => runs),
    refresh: (document) => show(document.training ?? []),
    stop: () => stages.forEach((stage) => stage.stop()),
  };
}
