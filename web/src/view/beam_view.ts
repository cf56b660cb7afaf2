// The search tree of one example.
import { h, replaceChildren } from '../dom.ts';
import { BeamDrawing, textOfPath } from '../draw/beam_drawing.ts';
import { Stage } from '../draw/stage.ts';
import { shownToken } from '../draw/token.ts';
import { drawingSvg } from '../page/files.ts';
import type { View, ViewContext } from './view.ts';

export function beamView(context: ViewContext): View {
  const beam = context.example!.beam!;
  const drawing = new BeamDrawing(beam);
  const finished = drawing.nodes.map((node, place) => ({ node, place })).filter(({ node }) => node.final);
  finished.sort((a, b) => b.node.score - a.node.score);
  const path = h('p', { class: 'beam-path', 'aria-live': 'polite' });
  const show = (place: number | undefined) => {
    if (place === undefined)
      replaceChildren(path, h('span', { class: 'quiet' }, 'Point at a hypothesis to see its text.'));
    else
      replaceChildren(
        path,
        h('bdi', {}, textOfPath(drawing.nodes, place).map(shownToken).join(' ')),
        h('span', { class: 'quiet' }, ` ${drawing.nodes[place]!.score.toFixed(4)}`),
      );
  };
  show(finished[0]?.place);
  const stage = new Stage(drawing, context.theme, {
    pointed: (cursor) => show(cursor?.row ?? finished[0]?.place),
    chosen: (cursor) => show(cursor.row),
  });
  const rows = finished.map(({ node, place }, i) =>
    h(
      'tr',
      {},
      h('td', {}, String(i + 1)),
      h('td', {}, h('bdi', {}, textOfPath(drawing.nodes, place).map(shownToken).join(' '))),
      h('td', { class: 'number' }, node.score.toFixed(4)),
    ),
  );
  const head = h(
    'thead',
    {},
    h(
      'tr',
      {},
      h('td', {}),
      h('th', { scope: 'col' }, 'finished hypotheses, best first'),
      h('th', { scope: 'col', class: 'number' }, 'score'),
    ),
  );
  const hint = h(
    'p',
    { class: 'quiet' },
    'From left to right, a column for each step. Solid: kept; dashed: dropped; green: finished. Higher scores are better.',
  );
  return {
    element: h('div', {}, hint, path, stage.element, h('table', { class: 'finished' }, head, h('tbody', {}, ...rows))),
    savable: {
      name: 'search_tree',
      svg: (look) => drawingSvg(new BeamDrawing(beam), look),
      table: () => [
        ['id', 'parent', 'token', 'score', 'kept', 'final'],
        ...beam.nodes.map((node) => [node.id, node.parent, node.token, node.score, node.kept, node.final]),
      ],
      json: () => beam,
    },
    stop: () => stage.stop(),
  };
}
