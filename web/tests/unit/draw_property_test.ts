// What holds for every drawing, whatever the tokens are and however large the window is: it ends, paints the same twice,
// and no text leaves the drawing or enters what is not its own.
import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import fc from 'fast-check';
import type { Beam, TrainingRun } from '../../src/document/types.ts';
import type { Matrix } from '../../src/document/weights.ts';
import { BeamDrawing } from '../../src/draw/beam_drawing.ts';
import { palettes } from '../../src/draw/colour.ts';
import { CurvesDrawing, ticks } from '../../src/draw/curves_drawing.ts';
import type { Drawing, Look } from '../../src/draw/drawing.ts';
import { LinesDrawing } from '../../src/draw/lines_drawing.ts';
import { MatrixDrawing } from '../../src/draw/matrix_drawing.ts';
import { PictureDrawing } from '../../src/draw/picture_drawing.ts';
import { SvgPainter } from '../../src/draw/svg_painter.ts';
import { fitted, graphemes, shortened, shownToken } from '../../src/draw/token.ts';
import { Measure, measured, Recorder, type PaintedText } from './recorder.ts';

const look: Look = { theme: 'light', palette: palettes.light };
const settings = { seed: 20240607, numRuns: 150 };
const keys = ['ArrowUp', 'ArrowDown', 'ArrowLeft', 'ArrowRight', 'Home', 'End', 'PageUp', 'PageDown', 'x'];

const measure = new Measure();
measure.install();
beforeEach(() => (measure.asked = 0));

// ------------------------------------------------------------------------------------------------------ what is drawn

const family = '👨‍👩‍👧‍👦';
const oddCharacter = fc.constantFrom(
  ...[family, '👩🏽‍❤️‍💋‍👨🏿', '🏴󠁧󠁢󠁥󠁮󠁧󠁿', '🇩🇪', 'e\u0301', 'क्षि', 'नि', '각', '﷽', 'שלום', 'مرحبا', '漢', '\u202e', '\u200d', '\u0301'],
  ...['\ud800', '\udc00', '\u0000', '\u001b', ' ', '\n', '\u3000', 'a', 'W', 'i', '<', '&', '…', '\ufffe'],
);
const token = fc.oneof(
  { weight: 4, arbitrary: fc.string({ unit: oddCharacter, maxLength: 6 }) },
  { weight: 3, arbitrary: fc.string({ unit: oddCharacter, maxLength: 60 }) },
  { weight: 2, arbitrary: fc.string({ unit: 'binary', maxLength: 30 }) },
  {
    weight: 1,
    arbitrary: fc.tuple(oddCharacter, fc.integer({ min: 1, max: 3000 })).map(([sign, n]) => sign.repeat(n)),
  },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 3000 }).map((n) => 'a' + '\u0301'.repeat(n)) },
);
const tokens = fc.oneof(
  { weight: 6, arbitrary: fc.array(token, { maxLength: 24 }) },
  {
    weight: 1,
    arbitrary: fc.tuple(token, fc.integer({ min: 25, max: 300 })).map(([one, n]) => Array<string>(n).fill(one)),
  },
);
const side = fc.oneof(
  fc.constantFrom(0, 0.5, 1, 7, 24, 25, 40, 100, 320, 360, 800, 1280, 20000),
  fc.double({ min: 0, max: 3000, noNaN: true }),
);
const size = fc.record({ width: side, height: side });
const zoom = fc.constantFrom(0.25, 0.5, 1, 1.5, 2, 4, 8);

function matrixOf(rows: number, cols: number): Matrix {
  const values = Float32Array.from({ length: rows * cols }, (_, i) => ((i * 7919) % 101) / 101 - 0.2);
  return { rows, cols, values, least: -0.2, most: 0.8 };
}

const axes = fc.record({
  queries: fc.record({ label: token, tokens }),
  keys: fc.record({ label: token, tokens }),
});
const matrices = fc.record({ axes, zoom }).map(({ axes, zoom }) => () => {
  const scaling = { eachRow: false, showSmall: true };
  const matrix = matrixOf(axes.queries.tokens.length, axes.keys.tokens.length);
  return new MatrixDrawing(matrix, { label: 'map', ...axes, scaling, zoom });
});
const lines = axes.map((axes) => () => {
  const matrix = matrixOf(axes.queries.tokens.length, axes.keys.tokens.length);
  return new LinesDrawing(matrix, { label: 'map', ...axes });
});
const anyNumber = fc.oneof(
  fc.constantFrom(0, -0, 1e16, 1e16 + 2, Number.MAX_VALUE, -Number.MAX_VALUE, 5e-324, 1e-320, 0.1, 9007199254740993),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.double({ min: -100, max: 0, noNaN: true }),
);
const beams = fc
  .array(fc.record({ token, score: anyNumber, up: fc.nat(), kept: fc.boolean(), final: fc.boolean() }), {
    maxLength: 60,
  })
  .map((plans) => (): Drawing => {
    const nodes = plans.map(({ up, ...node }, id) => ({ ...node, id, parent: id === 0 ? -1 : up % id }));
    return new BeamDrawing({ nodes } as Beam);
  });
const curves = fc
  .array(
    fc.record({
      name: token,
      points: fc.array(fc.record({ step: anyNumber, loss: fc.oneof(anyNumber, fc.constant(null)) }), { maxLength: 20 }),
    }),
    { maxLength: 4 },
  )
  .map((runs) => () => new CurvesDrawing(runs as TrainingRun[], 'loss'));
const pictures = fc
  .record({
    rows: fc.integer({ min: 1, max: 30 }),
    cols: fc.integer({ min: 1, max: 30 }),
    naturalWidth: fc.constantFrom(0, 1, 64, 5000),
    naturalHeight: fc.constantFrom(1, 64, 5000),
  })
  .map(({ rows, cols, ...image }) => () => {
    const options = {
      label: 'picture',
      image: image as HTMLImageElement,
      rows,
      cols,
      matrix: matrixOf(2, rows * cols),
      query: 1,
    };
    return new PictureDrawing(options);
  });

// ------------------------------------------------------------------------------------------------------- what must hold

interface Painted {
  size: { width: number; height: number };
  whole: Recorder; // all of the drawing, as in a file
  part: Recorder; // what a window on it shows, scrolled, with a cursor
}

function painted(make: () => Drawing, window: { width: number; height: number }): Painted {
  measure.asked = 0;
  const drawing = make();
  const size = drawing.layout(window.width, window.height);
  const whole = new Recorder();
  drawing.paint(whole, { x: 0, y: 0, ...size }, look);
  const part = new Recorder();
  const far = { x: Math.max(0, size.width - window.width) / 2, y: Math.max(0, size.height - window.height) / 2 };
  const seen = { ...far, ...window };
  drawing.paint(part, seen, look);
  let cursor = drawing.move(null, 'ArrowDown');
  for (const key of keys) {
    if (!cursor) break;
    cursor = drawing.move(cursor, key) ?? cursor;
    drawing.paintCursor(part, seen, look, cursor);
    part.all.push(drawing.place(cursor), drawing.words(cursor));
    assert.ok(drawing.words(cursor).length < 100000, 'words that somebody can hear to the end');
  }
  for (const x of [-1, 0, window.width / 2, window.width])
    for (const y of [-1, 0, window.height / 2, window.height]) part.all.push(drawing.at(x, y, seen));
  return { size, whole, part };
}

// From where to where a text goes, along its line.
function extent({ x, y, width, style }: PaintedText): { from: number; to: number } {
  const before = { left: 0, center: width / 2, right: width }[style.align ?? 'left'];
  return style.turned ? { from: y + before - width, to: y + before } : { from: x - before, to: x - before + width };
}

function holds(make: () => Drawing, window: { width: number; height: number }): void {
  const { size, whole, part } = painted(make, window);
  for (const { points, rects, texts } of [whole, part]) {
    assert.ok(points.every(Number.isFinite), 'lines begin and end somewhere');
    for (const { x, y, width, height } of rects) {
      assert.ok([x, y, width, height].every(Number.isFinite), 'rectangles are somewhere');
      assert.ok(width >= 0 && height >= 0, `no rectangle is turned inside out: ${width} x ${height}`);
    }
    for (const { text, x, y } of texts) {
      assert.ok(Number.isFinite(x) && Number.isFinite(y), 'texts are somewhere');
      assert.ok(text.length <= 41 * 32, `${text.length} code units are more than a label`);
    }
  }
  for (const text of whole.texts.filter((one) => one.text !== '')) {
    const { from, to } = extent(text);
    const end = text.style.turned ? size.height : size.width;
    assert.ok(from >= -0.01 && to <= end + 0.01, `'${text.text}' goes from ${from} to ${to}, of ${end}`);
    const clip = text.clip;
    if (!clip) continue;
    const [begin, stop] = text.style.turned ? [clip.y, clip.y + clip.height] : [clip.x, clip.x + clip.width];
    assert.ok(
      from >= begin - 0.01 && to <= stop + 0.01,
      `'${text.text}' is cut: ${from} to ${to}, of ${begin} to ${stop}`,
    );
  }
  const again = painted(make, window);
  const all = (one: Painted) => JSON.stringify([one.size, one.whole.all, one.part.all]);
  assert.ok(all(again) === all({ size, whole, part }), 'the same twice');
}

const drawings = { matrix: matrices, lines, 'search tree': beams, curves, picture: pictures };
for (const [name, make] of Object.entries(drawings))
  test(`${name}: any tokens, any size`, { timeout: 60000 }, () => {
    fc.assert(fc.property(make as fc.Arbitrary<() => Drawing>, size, holds), settings);
  });

for (const [name, make] of Object.entries(drawings).filter(([one]) => one !== 'picture'))
  test(`${name}: as a file, any text is XML`, { timeout: 60000 }, () => {
    const well = (one: () => Drawing, window: { width: number; height: number }) => {
      const drawing = one();
      const whole = drawing.layout(window.width, window.height);
      const painter = new SvgPainter();
      painter.heat = () => {};
      drawing.paint(painter, { x: 0, y: 0, ...whole }, look);
      const svg = painter.finish(whole.width, whole.height, drawing.label);
      assert.doesNotMatch(svg, /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|NaN|Infinity|(width|height)="-/);
      assert.doesNotMatch(svg, /[\ud800-\udfff]/u, 'no half of a character');
      assert.equal(svg.match(/<text/g)?.length ?? 0, svg.match(/<\/text>/g)?.length ?? 0);
    };
    fc.assert(fc.property(make as fc.Arbitrary<() => Drawing>, size, well), { ...settings, numRuns: 100 });
  });

test('labels of columns that are not turned stay inside their columns', () => {
  const apart = (
    axes: { queries: { label: string; tokens: string[] }; keys: { label: string; tokens: string[] } },
    window: typeof size extends fc.Arbitrary<infer T> ? T : never,
    zoom: number,
  ) => {
    const matrix = matrixOf(axes.queries.tokens.length, axes.keys.tokens.length);
    const drawing = new MatrixDrawing(matrix, {
      label: '',
      ...axes,
      scaling: { eachRow: true, showSmall: false },
      zoom,
    });
    const whole = drawing.layout(window.width, window.height);
    const recorder = new Recorder();
    drawing.paint(recorder, { x: 0, y: 0, ...whole }, look);
    const cell = drawing.place({ row: 0, col: 0 });
    for (const text of recorder.texts.filter((one) => one.clip && one.y < cell.y && !one.style.turned))
      assert.ok(text.width <= cell.width + 0.01, `'${text.text}' is ${text.width} wide, its column ${cell.width}`);
  };
  fc.assert(fc.property(axes, size, zoom, apart), settings);
});

// ---------------------------------------------------------------------------------------------------------------- parts

test('a long token with a family in it over 23 words at 800 x 600 ends', { timeout: 20000 }, () => {
  const words = Array.from({ length: 23 }, (_, i) => `word${i}`);
  for (const long of [`${'superlong'.repeat(4)}${family}`, family.repeat(40), `${family}${'W'.repeat(60)}`, family])
    for (const [queries, others] of [
      [[long], words],
      [words, [long]],
    ] as const)
      holds(
        () =>
          new MatrixDrawing(matrixOf(queries.length, others.length), {
            label: '',
            queries: { label: 'output', tokens: [...queries] },
            keys: { label: 'source', tokens: [...others] },
            scaling: { eachRow: false, showSmall: false },
            zoom: 1,
          }),
        { width: 800, height: 600 },
      );
});

test('shortened: at most so many characters, of the beginning, an ellipsis where some are left out', () => {
  const right = (text: string, count: number) => {
    const short = shortened(text, count);
    assert.ok(graphemes(short).length <= count, short);
    if (graphemes(text).length > count && count > 0) assert.ok(short.endsWith('…'));
    else if (graphemes(text).every((one) => one.length <= 16 && !/\p{M}{6}/u.test(one)))
      assert.equal(short, count > 0 ? text : '');
    assert.equal(shortened(short, count), short, 'what is short stays');
  };
  fc.assert(fc.property(token, fc.integer({ min: 0, max: 50 }), right), settings);
  assert.deepEqual(
    [3, 2, 1, 0].map((count) => shortened(family.repeat(3), count)),
    [family.repeat(3), `${family}…`, '…', ''],
  );
});

test('fitted: never wider than the room, and as much as fits', () => {
  const right = (text: string, room: number, bold: boolean) => {
    measure.asked = 0;
    const label = fitted(text, room, { bold });
    assert.ok(label === '' || measured(label, { bold }) <= room, `'${label}' in ${room}`);
    assert.ok(measure.asked <= 12, `measured ${measure.asked} times`);
    const shown = shortened(shownToken(text), 40);
    if (measured(shown, { bold }) <= room) assert.equal(label, shown);
    else if (label !== '') {
      assert.ok(label.endsWith('…'));
      const kept = graphemes(label).length;
      const more = graphemes(shown).slice(0, kept).join('') + '…';
      assert.ok(measured(more, { bold }) > room || more === shown, `'${more}' fits as well as '${label}'`);
    }
  };
  const room = fc.double({ min: 0, max: 500, noNaN: true });
  fc.assert(fc.property(token, room, fc.boolean(), right), { ...settings, numRuns: 1000 });
});

test('ticks: few, in order, inside, for any range', { timeout: 20000 }, () => {
  const right = (a: number, b: number, count: number) => {
    const [from, to] = [Math.min(a, b), Math.max(a, b)];
    const found = ticks(from, to, count);
    assert.ok(found.length <= count + 2, `${found.length} of ${count}`);
    assert.ok(found.every(Number.isFinite));
    const near = (to / 2 - from / 2) * 1e-6;
    found.forEach((value, i) => {
      assert.ok(value >= from - near && value <= to + near, `${value} in ${from} to ${to}`);
      assert.ok(i === 0 || value > found[i - 1]!);
    });
  };
  fc.assert(fc.property(anyNumber, anyNumber, fc.integer({ min: 1, max: 20 }), right), { ...settings, numRuns: 2000 });
});

test('hundreds of thousands of tokens, and a search tree as deep, do not exhaust the stack', { timeout: 60000 }, () => {
  const many = Array<string>(200000).fill('a');
  const empty = { rows: 0, cols: 0, values: new Float32Array(0), least: 0, most: 0 };
  const sides = { queries: { label: '', tokens: many }, keys: { label: '', tokens: many } };
  new LinesDrawing(empty, { label: '', ...sides }).layout(600);
  new MatrixDrawing(empty, { label: '', ...sides, scaling: { eachRow: true, showSmall: false }, zoom: 1 }).layout(
    600,
    400,
  );
  // Each node is the second child of the one before: the way down is never the best one.
  const nodes = [{ id: 0, parent: -1, token: 'a', score: 0, kept: true, final: false }];
  for (let at = 0; nodes.length < 40000; at = nodes.length - 1)
    for (const score of [-1, -2])
      nodes.push({ id: nodes.length, parent: at, token: 'a', score, kept: true, final: score === -1 });
  const drawing = new BeamDrawing({ nodes } as Beam);
  assert.ok(drawing.layout().height > 0);
  assert.equal(new Set(drawing.nodes.map((node) => `${node.depth},${node.row}`)).size, nodes.length);
});
