// Weights to colours: which weight is the strongest colour, and a picture of a matrix with a pixel for each weight.
import type { Matrix } from '../document/weights.ts';
import { rgb, type Theme } from './colour.ts';

export interface Scaling {
  eachRow: boolean; // the strongest weight of each row has the strongest colour
  showSmall: boolean; // the square root: small weights become visible
}

// The weight of the strongest colour. Weights that come close to 1 are shown on the scale from 0 to 1.
export function topOf(matrix: Matrix): number {
  const most = Math.max(matrix.most, -matrix.least);
  return most > 0.9 && most < 1 ? 1 : most;
}

// Strengths from -1 to 1, as colour() wants them: one for each weight.
export function strengthsOf(matrix: Matrix, scaling: Scaling): Float32Array {
  const { rows, cols, values } = matrix;
  const strengths = new Float32Array(values.length);
  const overall = topOf(matrix);
  for (let row = 0; row < rows; ++row) {
    let most = overall;
    if (scaling.eachRow) {
      most = 0;
      for (let i = row * cols; i < (row + 1) * cols; ++i) most = Math.max(most, Math.abs(values[i]!));
    }
    if (most === 0) continue;
    for (let i = row * cols; i < (row + 1) * cols; ++i) {
      const part = values[i]! / most;
      strengths[i] = scaling.showSmall ? Math.sign(part) * Math.sqrt(Math.abs(part)) : part;
    }
  }
  return strengths;
}

export interface Bitmap {
  rows: number;
  cols: number;
  pixels: Uint8ClampedArray<ArrayBuffer>; // rgba
  canvas?: HTMLCanvasElement; // made when it is first drawn
}

export function bitmapOf(matrix: Matrix, strengths: Float32Array, theme: Theme): Bitmap {
  const pixels = new Uint8ClampedArray(strengths.length * 4);
  const words = new Uint32Array(pixels.buffer); // one write for each pixel; every machine with a browser is little-endian
  const colours = new Uint32Array(511);
  for (let i = 0; i < 511; ++i) {
    const [r, g, b] = rgb(theme, (i - 255) / 255);
    colours[i] = (255 << 24) | (b << 16) | (g << 8) | r;
  }
  for (let i = 0; i < strengths.length; ++i) words[i] = colours[255 + Math.round(strengths[i]! * 255)]!;
  return { rows: matrix.rows, cols: matrix.cols, pixels };
}

export function canvasOf(bitmap: Bitmap): HTMLCanvasElement {
  if (!bitmap.canvas) {
    bitmap.canvas = document.createElement('canvas');
    bitmap.canvas.width = Math.max(1, bitmap.cols);
    bitmap.canvas.height = Math.max(1, bitmap.rows);
    if (bitmap.pixels.length > 0)
      bitmap.canvas.getContext('2d')!.putImageData(new ImageData(bitmap.pixels, bitmap.cols, bitmap.rows), 0, 0);
  }
  return bitmap.canvas;
}

// A weight as people read it: four digits, no longer than it must be.
export function weightText(weight: number): string {
  const size = Math.abs(weight);
  if (size === 0) return '0';
  if (size < 0.00005) return weight.toExponential(1);
  return size < 10 ? weight.toFixed(4) : weight.toPrecision(5);
}
