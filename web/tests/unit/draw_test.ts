import assert from 'node:assert/strict';
import { test } from 'node:test';
import { commonWords } from '../../src/document/difference.ts';
import type { Matrix } from '../../src/document/weights.ts';
import { colour, luminance, palettes, rgb, textOn, type Theme } from '../../src/draw/colour.ts';
import { BeamDrawing, placeNodes, textOfPath } from '../../src/draw/beam_drawing.ts';
import { shortNumber, ticks } from '../../src/draw/curves_drawing.ts';
import { moveInTable } from '../../src/draw/drawing.ts';
import { bitmapOf, strengthsOf, weightText } from '../../src/draw/heat.ts';
import { cellSize } from '../../src/draw/matrix_drawing.ts';
import { escaped, SvgPainter } from '../../src/draw/svg_painter.ts';
import { shortened, shownToken } from '../../src/draw/token.ts';
import { sortedRows } from '../../src/view/comparison_view.ts';
import { outputsOf } from '../../src/view/beam_view.ts';
import { smallDocument } from '../documents.ts';

const themes: Theme[] = ['light', 'dark'];
type Rgb = [number, number, number];

// How people without one kind of cone see a colour (Machado, Oliveira and Fernandes 2009, severity 1).
const sights: Record<string, number[][]> = {
  all: [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
  protanopia: [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  deuteranopia: [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
  tritanopia: [
    [1.255528, -0.076749, -0.178779],
    [-0.078411, 0.930809, 0.147602],
    [0.004733, 0.691367, 0.3039],
  ],
};
const linear = (channel: number) => (channel <= 10.31475 ? channel / 3294.6 : ((channel / 255 + 0.055) / 1.055) ** 2.4);
function seenLuminance(channels: Rgb, sight: number[][]): number {
  const light = channels.map(linear);
  const [r, g, b] = sight.map((row) => row.reduce((sum, factor, i) => sum + factor * light[i]!, 0)) as Rgb;
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

for (const theme of themes)
  for (const [name, sight] of Object.entries(sights))
    test(`the lightness of the colours never turns back: ${theme}, ${name}`, () => {
      for (const sign of [1, -1]) {
        const series = Array.from({ length: 64 }, (_, i) => seenLuminance(rgb(theme, (sign * i) / 63), sight));
        const direction = theme === 'light' ? -1 : 1;
        for (let i = 1; i < series.length; ++i)
          assert.ok(direction * (series[i]! - series[i - 1]!) > -0.002, `${sign} ${i}`);
        assert.ok(Math.abs(series[63]! - series[0]!) > 0.5);
      }
    });

test('no weight has the colour of the background, and words on every colour can be read', () => {
  for (const theme of themes) {
    assert.equal(colour(theme, 0), palettes[theme].background);
    for (let i = -20; i <= 20; ++i) {
      const back = luminance(rgb(theme, i / 20));
      const front = textOn(theme, i / 20) === '#ffffff' ? 1 : 0;
      assert.ok((Math.max(back, front) + 0.05) / (Math.min(back, front) + 0.05) >= 4.5, `${theme} ${i}`);
    }
  }
});

const matrix: Matrix = { rows: 2, cols: 2, values: Float32Array.from([0.8, 0.2, 0.1, 0]), least: 0, most: 0.8 };

test('strengths: of all, of each row, with small ones raised, negative', () => {
  const near = (found: Float32Array, wanted: number[]) =>
    wanted.forEach((value, i) => assert.ok(Math.abs(found[i]! - value) < 1e-6));
  near(strengthsOf(matrix, { eachRow: false, showSmall: false }), [1, 0.25, 0.125, 0]);
  near(strengthsOf(matrix, { eachRow: true, showSmall: false }), [1, 0.25, 1, 0]);
  near(strengthsOf(matrix, { eachRow: false, showSmall: true }), [1, 0.5, Math.sqrt(0.125), 0]);
  near(
    strengthsOf(
      { ...matrix, values: Float32Array.from([-1, 0.25, 0, 0]), least: -1, most: 0.25 },
      { eachRow: false, showSmall: true },
    ),
    [-1, 0.5, 0, 0],
  );
  near(
    strengthsOf({ ...matrix, values: new Float32Array(4), most: 0 }, { eachRow: true, showSmall: true }),
    [0, 0, 0, 0],
  );
});

test('a bitmap has the colours of its strengths', () => {
  const strengths = strengthsOf(matrix, { eachRow: false, showSmall: false });
  const { pixels } = bitmapOf(matrix, strengths, 'dark');
  strengths.forEach((strength, i) =>
    assert.deepEqual(Array.from(pixels.subarray(i * 4, i * 4 + 4)), [...rgb('dark', strength), 255]),
  );
});

test('weights as text', () => {
  assert.deepEqual([0, 1, 0.12345, -0.5, 0.00001, 12.3456].map(weightText), [
    '0',
    '1.0000',
    '0.1235',
    '-0.5000',
    '1.0e-5',
    '12.346',
  ]);
});

test('tokens: spaces are seen, marks stand on something, cuts fall between characters', () => {
  assert.deepEqual([' ', '\n', '\t', '', '\u0301', 'a b', '▁the'].map(shownToken), [
    '␣',
    '⏎',
    '⇥',
    '∅',
    '◌\u0301',
    'a␣b',
    '▁the',
  ]);
  assert.equal(shortened('e\u0301e\u0301e\u0301', 3), 'e\u0301e\u0301e\u0301');
  assert.equal(shortened('e\u0301e\u0301e\u0301e\u0301', 3), 'e\u0301e\u0301…');
  assert.equal(shortened('👩‍👩‍👧👩‍👩‍👧👩‍👩‍👧', 2), '👩‍👩‍👧…');
});

test('cells fit the width; many rows scroll while labels can be read; huge maps fit as a whole', () => {
  assert.equal(cellSize({ width: 1000, height: 600 }, 10, 10, 1), 34);
  assert.equal(cellSize({ width: 264, height: 600 }, 12, 16, 1), 16);
  assert.equal(cellSize({ width: 1000, height: 600 }, 200, 20, 1), 16);
  assert.ok(512 * cellSize({ width: 900, height: 600 }, 512, 512, 1) <= 600);
  assert.equal(cellSize({ width: 1000, height: 600 }, 10, 10, 2), 68);
  assert.ok(cellSize({ width: 100, height: 100 }, 0, 0, 1) > 0);
});

test('arrow keys stay in the table', () => {
  assert.deepEqual(moveInTable(null, 'ArrowDown', 3, 3), { row: 0, col: 0 });
  assert.deepEqual(moveInTable({ row: 0, col: 0 }, 'ArrowUp', 3, 3), { row: 0, col: 0 });
  assert.deepEqual(moveInTable({ row: 1, col: 1 }, 'End', 3, 3), { row: 1, col: 2 });
  assert.deepEqual(moveInTable({ row: 1, col: 1 }, 'PageDown', 30, 3), { row: 11, col: 1 });
  assert.equal(moveInTable({ row: 1, col: 1 }, 'x', 3, 3), null);
  assert.equal(moveInTable(null, 'ArrowDown', 0, 3), null);
});

test('the search tree: depth, order, parents beside their best child, paths', () => {
  const nodes = placeNodes(smallDocument().examples[0]!.beam!);
  assert.deepEqual(
    nodes.map((node) => node.depth),
    [0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4],
  );
  assert.deepEqual(textOfPath(nodes, 10), ['<s>', 'ein', 'hund', 'läuft', '</s>']);
  const places = nodes.map((node) => `${node.depth},${node.row}`);
  assert.equal(new Set(places).size, nodes.length, 'no two at one place');
  for (const node of nodes) {
    const rows = node.children.map((child) => nodes[child]!.row);
    if (rows.length > 0) assert.equal(node.row, Math.min(...rows));
  }
  assert.deepEqual(nodes[0]!.children, [1, 2, 3], 'by score');
  const first = nodes.flatMap((node, place) => (node.row === 0 ? [place] : []));
  assert.deepEqual(first, [0, 1, 4, 7, 10], 'the best output is read along the first row');
  // A worse beginning that leads to the best output comes first.
  const beam = smallDocument().examples[0]!.beam!;
  beam.nodes[11]!.ranked_by = -0.1;
  assert.deepEqual(placeNodes(beam)[4]!.children, [8, 7]);
});

test('ticks are round and inside', () => {
  assert.deepEqual(ticks(0, 10, 5), [0, 2, 4, 6, 8, 10]);
  assert.deepEqual(ticks(0.9, 5.1, 5), [1, 2, 3, 4, 5]);
  assert.deepEqual(ticks(3, 3, 5), [3]);
  assert.deepEqual([1234, 12345, 2500000, 0.012345].map(shortNumber), ['1234', '12.3k', '2.5M', '0.01235']);
});

test('rows are sorted by number and by text; missing values come last both ways', () => {
  const table = smallDocument().comparison!;
  assert.deepEqual(sortedRows(table, { column: 1, down: true }), [1, 0, 2]);
  assert.deepEqual(sortedRows(table, { column: 0, down: false }), [1, 0, 2]);
  assert.deepEqual(sortedRows(table, { column: 2, down: false }), [0, 1, 2]);
  assert.deepEqual(sortedRows(table, { column: 2, down: true }), [1, 0, 2]);
});

test('words that two texts share', () => {
  assert.deepEqual([...commonWords('a b c d'.split(' '), 'a x c d e'.split(' '))], [0, 2, 3]);
  assert.equal(commonWords(['a'], ['b']).size, 0);
});

test('SVG: text is escaped, small matrices are rectangles, the file is complete', () => {
  assert.equal(escaped('<a & "b">\u0000'), '&lt;a &amp; &quot;b&quot;&gt;\ufffd');
  const painter = new SvgPainter();
  painter.heat(bitmapOf(matrix, strengthsOf(matrix, { eachRow: false, showSmall: false }), 'light'), {
    x: 0,
    y: 0,
    width: 20,
    height: 20,
  });
  painter.text(1, 2, '<script>', { fill: '#000000', turned: true });
  const svg = painter.finish(20, 20, 'a & b');
  assert.ok(svg.startsWith('<svg xmlns') && svg.endsWith('</svg>\n'));
  assert.ok(
    svg.includes(`fill="${colour('light', 1)}"`) && svg.includes('&lt;script&gt;') && !svg.includes('<script>'),
  );
  assert.ok(svg.includes('<title>a &amp; b</title>'));
});

test('a node of the search tree says what its step looked at, where that is known', () => {
  const beam = smallDocument().examples[0]!.beam!;
  const words = (drawing: BeamDrawing) => drawing.words({ row: 4, col: 0 }).replace(/[\u2068\u2069]/g, '');
  assert.equal(words(new BeamDrawing(beam)), '<s> ein hund: score -0.600, kept');
  const lookedAt = (place: number) => `node ${place}`;
  assert.equal(words(new BeamDrawing(beam, lookedAt)), '<s> ein hund: score -0.600, kept; looked at node 4');
});

test('the outputs of a search come in the order of their ranks, or of their scores', () => {
  const { nodes } = smallDocument().examples[0]!.beam!;
  assert.deepEqual(outputsOf(nodes), [10, 11]);
  Object.assign(nodes[10]!, { ranked_by: -0.4 });
  Object.assign(nodes[11]!, { ranked_by: -0.3 });
  assert.deepEqual(outputsOf(nodes), [11, 10], 'by what they are ranked by');
  nodes[10]!.rank = 1;
  assert.deepEqual(outputsOf(nodes), [10, 11], 'what the search gave, then what else was finished');
  nodes[11]!.rank = 3;
  nodes[5]!.rank = 2; // cut off
  assert.deepEqual(outputsOf(nodes), [10, 5, 11]);
});
