import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AttentionMap } from '../../src/document/types.ts';
import {
  decode,
  matrixOf,
  meanOfHeads,
  sequenceOf,
  strongestKeys,
  thumbnailOf,
  weightAt,
} from '../../src/document/weights.ts';
import { f32, largeDocument, smallDocument, sqrtU8 } from '../documents.ts';

const map = (weights: number[], heads: number, rows: number, cols: number, encoded = f32(weights)): AttentionMap => ({
  name: 'm',
  label: 'm',
  queries: 'q',
  keys: 'k',
  heads,
  rows,
  cols,
  weights: encoded,
});

test('sqrt_u8 is scale * (byte / 255)^2, for every byte', () => {
  const data = Buffer.from(Uint8Array.from({ length: 256 }, (_, i) => i)).toString('base64');
  const { codes, values } = decode({ encoding: 'sqrt_u8', scale: 2.5, data });
  for (let byte = 0; byte < 256; ++byte) assert.ok(Math.abs(values![codes[byte]!]! - 2.5 * (byte / 255) ** 2) < 1e-6);
});

test('the scale is 1 where a document does not give it', () => {
  const { codes, values } = decode({ encoding: 'sqrt_u8', data: Buffer.from([255]).toString('base64') });
  assert.equal(values![codes[0]!], 1);
});

test('f32 is little-endian and keeps negative weights', () => {
  const matrix = matrixOf(map([0.5, -0.25, 3e-5, 1], 1, 2, 2), 0);
  assert.deepEqual(Array.from(matrix.values), [0.5, -0.25, Math.fround(3e-5), 1]);
  assert.equal(matrix.least, -0.25);
  assert.equal(matrix.most, 1);
});

test('a head is cut out of all heads, and the mean is the mean', () => {
  const weights = Array.from({ length: 3 * 2 * 4 }, (_, i) => (i % 7) / 7);
  for (const encoded of [f32(weights), sqrtU8(weights)]) {
    const all = map(weights, 3, 2, 4, encoded);
    for (let row = 0; row < 2; ++row)
      for (let col = 0; col < 4; ++col) {
        const heads = [0, 1, 2].map((head) => weights[head * 8 + row * 4 + col]!);
        heads.forEach((weight, head) => assert.ok(Math.abs(weightAt(matrixOf(all, head), row, col) - weight) < 0.005));
        assert.ok(
          Math.abs(weightAt(matrixOf(all, meanOfHeads), row, col) - (heads[0]! + heads[1]! + heads[2]!) / 3) < 0.005,
        );
      }
  }
});

test('the strongest keys come strongest first, equal ones in order, none without weight', () => {
  const matrix = matrixOf(map([0.1, 0.4, 0, 0.4, -0.6, 0], 1, 1, 6), 0);
  assert.deepEqual(
    strongestKeys(matrix, 0, 3).map((strong) => strong.index),
    [4, 1, 3],
  );
  assert.deepEqual(
    strongestKeys(matrix, 0, 10).map((strong) => strong.index),
    [4, 1, 3, 0],
  );
});

test('a small picture keeps the strongest weight of what it covers', () => {
  const [rows, cols] = [100, 70];
  const weights = new Array<number>(rows * cols).fill(0);
  weights[37 * cols + 52] = 0.9;
  for (const encoded of [f32(weights), sqrtU8(weights)]) {
    const small = thumbnailOf(map(weights, 1, rows, cols, encoded), 0, 10);
    assert.equal(small.rows, 10);
    const at = Math.floor((37 * 10) / rows) * 10 + Math.floor((52 * 10) / cols);
    small.values.forEach((value, i) => assert.ok(i === at ? Math.abs(value - 0.9) < 0.01 : value === 0));
  }
});

test('a map without rows or columns is an empty matrix', () => {
  assert.equal(matrixOf(map([], 2, 0, 5), meanOfHeads).values.length, 0);
  assert.deepEqual(strongestKeys(matrixOf(map([], 1, 1, 0), 0), 0, 3), []);
});

test('the cells of a picture need no list of tokens', () => {
  const example = smallDocument().examples[3]!;
  assert.equal(sequenceOf(example, 'cells').tokens.length, 16);
  assert.equal(sequenceOf(example, 'cells').tokens[5], 'row 2, column 2');
});

test('every row of a generated softmax adds up to 1 within the rounding of bytes', () => {
  const one = smallDocument().examples[0]!.maps[0]!;
  const matrix = matrixOf(one, 0);
  for (let row = 0; row < matrix.rows; ++row) {
    const sum = matrix.values.subarray(row * matrix.cols, (row + 1) * matrix.cols).reduce((a, b) => a + b, 0);
    assert.ok(Math.abs(sum - 1) < 0.02, String(sum));
  }
});

test('the large document is as large as it says', () => {
  const { maps } = largeDocument(2, 3, 64).examples[0]!;
  assert.equal(decode(maps[1]!.weights).codes.length, 3 * 64 * 64);
});
