// The search tree of one example, and what each of its steps attended to where the document says it.
import type { Beam, BeamNode, Example } from '../document/types.ts';
import { matrixOf, sequenceOf, strongestKeys, weightAt, type Matrix } from '../document/weights.ts';
import { h, replaceChildren } from '../dom.ts';
import { BeamDrawing, textOfPath } from '../draw/beam_drawing.ts';
import { colour, textOn, type Theme } from '../draw/colour.ts';
import { topOf, weightText } from '../draw/heat.ts';
import { Stage } from '../draw/stage.ts';
import { shownToken } from '../draw/token.ts';
import { drawingSvg } from '../page/files.ts';
import type { View, ViewContext } from './view.ts';

const keysRead = 3; // of the strongest keys, aloud

// The weights of the steps as a map like any other: a row for each node.
interface Steps {
  label: string;
  tokens: string[];
  matrix: Matrix;
}

function stepsOf(example: Example, beam: Beam): Steps | null {
  if (!beam.weights || !beam.keys) return null;
  const { label, tokens } = sequenceOf(example, beam.keys);
  const size = { heads: 1, rows: beam.nodes.length, cols: tokens.length };
  const map = { name: 'the search tree', label: '', queries: '', keys: beam.keys, ...size, weights: beam.weights };
  return { label, tokens, matrix: matrixOf(map, 0) };
}

function strongestWords(steps: Steps | null, place: number): string {
  const strongest = steps ? strongestKeys(steps.matrix, place, keysRead) : [];
  return strongest
    .map(({ index, weight }) => `\u2068${shownToken(steps!.tokens[index]!)}\u2069 ${weightText(weight)}`)
    .join(', ');
}

// The keys, each shaded by its weight in the step that wrote the token of a node.
function shadedKeys(steps: Steps, place: number, theme: Theme): HTMLElement[] {
  return steps.tokens.map((token, key) => {
    const weight = weightAt(steps.matrix, place, key);
    const strength = weight / Math.max(topOf(steps.matrix), 1e-9);
    const word = h('span', { class: 'word', title: weightText(weight) }, h('bdi', {}, shownToken(token)));
    word.style.background = colour(theme, strength);
    word.style.color = textOn(theme, strength);
    return word;
  });
}

const rankedBy = (node: BeamNode) => node.ranked_by ?? node.score;

// What is finished, best first: the outputs of the search by their ranks, then the others by what they are ranked by. An
// output that was cut off at the longest length has a rank, but is not final.
export function outputsOf(nodes: BeamNode[]): number[] {
  const places = nodes.map((_, place) => place);
  const outputs = places.filter((place) => nodes[place]!.final || nodes[place]!.rank != null);
  const rank = (node: BeamNode) => node.rank ?? nodes.length;
  return outputs.sort((a, b) => {
    const [one, other] = [nodes[a]!, nodes[b]!];
    return rank(one) - rank(other) || rankedBy(other) - rankedBy(one);
  });
}

function outputTable(drawing: BeamDrawing, places: number[]): HTMLTableElement {
  const both = places.some((place) => rankedBy(drawing.nodes[place]!) !== drawing.nodes[place]!.score);
  const rows = places.map((place, i) => {
    const node = drawing.nodes[place]!;
    return h(
      'tr',
      {},
      h('td', {}, String(i + 1)),
      h(
        'td',
        {},
        h('bdi', {}, textOfPath(drawing.nodes, place).map(shownToken).join(' ')),
        !node.final && ' (cut off)',
      ),
      h('td', { class: 'number' }, node.score.toFixed(4)),
      both && h('td', { class: 'number' }, rankedBy(node).toFixed(4)),
    );
  });
  const head = h(
    'tr',
    {},
    h('td', {}),
    h('th', { scope: 'col' }, 'finished hypotheses, best first'),
    h('th', { scope: 'col', class: 'number' }, 'score'),
    both && h('th', { scope: 'col', class: 'number' }, 'ranked by'),
  );
  return h('table', { class: 'finished' }, h('thead', {}, head), h('tbody', {}, ...rows));
}

export function beamView(context: ViewContext): View {
  const example = context.example!;
  const beam = example.beam!;
  const steps = stepsOf(example, beam);
  const make = () => new BeamDrawing(beam, (place) => strongestWords(steps, place));
  const drawing = make();
  const outputs = outputsOf(drawing.nodes);
  const path = h('p', { class: 'beam-path' });
  const keys = h('div', { class: 'beam-keys', role: 'group', 'aria-label': 'What this step looked at' });
  keys.hidden = !steps;
  const show = (place: number | undefined) => {
    if (place === undefined) {
      replaceChildren(path, h('span', { class: 'quiet' }, 'Point at a hypothesis to see its text.'));
      return replaceChildren(keys);
    }
    const node = drawing.nodes[place]!;
    replaceChildren(
      path,
      h('bdi', {}, textOfPath(drawing.nodes, place).map(shownToken).join(' ')),
      h('span', { class: 'quiet' }, ` ${node.score.toFixed(4)}`),
    );
    if (!steps) return;
    const words = strongestWords(steps, place);
    const token = h('bdi', {}, shownToken(node.token));
    replaceChildren(
      keys,
      words
        ? h('p', { class: 'quiet' }, 'To write ', token, `, it looked at the ${steps.label}, most at ${words}`)
        : h('p', { class: 'quiet' }, 'For ', token, ' it looked at nothing.'),
      // The cells of a picture have no words that one would read in a row.
      beam.keys !== 'cells' && h('p', { class: 'beam-words' }, ...shadedKeys(steps, place, context.theme)),
    );
  };
  let kept = outputs[0];
  show(kept);
  const stage = new Stage(drawing, context.theme, {
    pointed: (cursor) => show(cursor?.row ?? kept),
    chosen: (cursor) => show((kept = cursor.row)),
  });
  const hint =
    'From left to right, a column for each step. Solid: kept; dashed: dropped; green: finished. Higher scores are better.';
  const more = steps ? ' Point at a hypothesis to see what its step looked at.' : '';
  return {
    element: h(
      'div',
      {},
      h('p', { class: 'quiet' }, hint + more),
      path,
      keys,
      stage.element,
      outputTable(drawing, outputs),
    ),
    savable: {
      name: 'search_tree',
      svg: (look) => drawingSvg(make(), look),
      table: () => [
        ['id', 'parent', 'token', 'score', 'kept', 'final', ...(steps?.tokens ?? [])],
        ...beam.nodes.map((node, place) => [
          ...[node.id, node.parent, node.token, node.score, node.kept, node.final],
          ...(steps?.tokens.map((_, key) => weightAt(steps.matrix, place, key)) ?? []),
        ]),
      ],
      json: () => beam,
    },
    stop: () => stage.stop(),
  };
}
