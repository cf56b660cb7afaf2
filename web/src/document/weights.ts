// From base64 to numbers, only when they are needed: a document of 12 x 12 heads on 512 tokens holds 38 million weights.
import type { AttentionMap, EncodedWeights, Example, Sequence } from './types.ts';

export const meanOfHeads = -1;

// codes[heads, rows, cols]; where values is there, a code is an index in it, otherwise the weight itself.
interface Decoded {
  codes: Uint8Array | Float32Array;
  values: Float32Array | null;
}

// values[rows, cols] of one head, or of the mean of all.
export interface Matrix {
  rows: number;
  cols: number;
  values: Float32Array;
  least: number; // at most 0
  most: number; // at least 0
}

type WithFromBase64 = typeof Uint8Array & { fromBase64?: (text: string) => Uint8Array };

function bytesOf(base64: string): Uint8Array {
  const direct = (Uint8Array as WithFromBase64).fromBase64;
  if (direct) return direct.call(Uint8Array, base64);
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; ++i) bytes[i] = text.charCodeAt(i);
  return bytes;
}

export function decode(weights: EncodedWeights): Decoded {
  const bytes = bytesOf(weights.data);
  if (weights.encoding === 'sqrt_u8') {
    const scale = weights.scale ?? 1;
    return { codes: bytes, values: Float32Array.from({ length: 256 }, (_, code) => scale * (code / 255) ** 2) };
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const codes = new Float32Array(bytes.length / 4);
  for (let i = 0; i < codes.length; ++i) codes[i] = view.getFloat32(i * 4, true);
  return { codes, values: null };
}

const decodedMaps = new WeakMap<AttentionMap, Decoded>();
const matrices = new WeakMap<AttentionMap, Map<number, Matrix>>();

function decoded(map: AttentionMap): Decoded {
  let known = decodedMaps.get(map);
  if (!known) decodedMaps.set(map, (known = decode(map.weights)));
  return known;
}

function range(values: Float32Array): { least: number; most: number } {
  let least = 0;
  let most = 0;
  for (const value of values) {
    if (value > most) most = value;
    else if (value < least) least = value;
  }
  return { least, most };
}

function computeMatrix(map: AttentionMap, head: number): Matrix {
  const { codes, values } = decoded(map);
  const size = map.rows * map.cols;
  const sums = new Float32Array(size);
  const first = head === meanOfHeads ? 0 : head;
  const count = head === meanOfHeads ? map.heads : 1;
  for (let h = first; h < first + count; ++h) {
    const from = h * size;
    if (values) for (let i = 0; i < size; ++i) sums[i]! += values[codes[from + i]!]!;
    else for (let i = 0; i < size; ++i) sums[i]! += codes[from + i]!;
  }
  if (count > 1) for (let i = 0; i < size; ++i) sums[i]! /= count;
  return { rows: map.rows, cols: map.cols, values: sums, ...range(sums) };
}

// The weights of one head, or of meanOfHeads. The last few of a map are kept.
export function matrixOf(map: AttentionMap, head: number): Matrix {
  let known = matrices.get(map);
  if (!known) matrices.set(map, (known = new Map()));
  let matrix = known.get(head);
  if (!matrix) {
    if (known.size >= 4) known.clear();
    known.set(head, (matrix = computeMatrix(map, head)));
  }
  return matrix;
}

// A small picture of one head, at most `side` in each direction: each cell is the strongest of those below it, so that a
// single sharp weight stays visible. Reads the codes directly and keeps nothing.
export function thumbnailOf(map: AttentionMap, head: number, side: number): Matrix {
  const { codes, values } = decoded(map);
  const rows = Math.min(map.rows, side);
  const cols = Math.min(map.cols, side);
  const pooled = new Float32Array(rows * cols);
  const from = head * map.rows * map.cols;
  const colOf = Uint16Array.from({ length: map.cols }, (_, j) => Math.floor((j * cols) / map.cols));
  for (let i = 0; i < map.rows; ++i) {
    const target = Math.floor((i * rows) / map.rows) * cols;
    const source = from + i * map.cols;
    for (let j = 0; j < map.cols; ++j) {
      const code = codes[source + j]!;
      const at = target + colOf[j]!;
      if (Math.abs(code) > Math.abs(pooled[at]!)) pooled[at] = code;
    }
  }
  if (values) for (let i = 0; i < pooled.length; ++i) pooled[i] = values[pooled[i]!]!;
  return { rows, cols, values: pooled, ...range(pooled) };
}

export function weightAt(matrix: Matrix, row: number, col: number): number {
  return matrix.values[row * matrix.cols + col] ?? 0;
}

export interface Strong {
  index: number;
  weight: number;
}

// The strongest keys of a query, strongest first; equal ones in their order. Keys without any weight are left out.
export function strongestKeys(matrix: Matrix, row: number, count: number): Strong[] {
  const found: Strong[] = [];
  for (let index = 0; index < matrix.cols; ++index) {
    const weight = weightAt(matrix, row, index);
    if (weight === 0) continue;
    const place = found.findIndex((other) => Math.abs(weight) > Math.abs(other.weight));
    if (place >= 0) found.splice(place, 0, { index, weight });
    else if (found.length < count) found.push({ index, weight });
    if (found.length > count) found.pop();
  }
  return found;
}

// The tokens of a sequence. The cells of a picture need not be listed in the document.
export function sequenceOf(example: Example, name: string): Sequence {
  const listed = example.sequences[name];
  if (listed) return listed;
  const picture = example.picture;
  if (name !== 'cells' || !picture) return { label: name, tokens: [] };
  const tokens = Array.from(
    { length: picture.rows * picture.cols },
    (_, i) => `row ${Math.floor(i / picture.cols) + 1}, column ${(i % picture.cols) + 1}`,
  );
  return { label: 'cells of the picture', tokens };
}
