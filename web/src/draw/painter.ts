// What drawings are made of. A drawing is written once; it is painted on the screen (canvas_painter.ts) or into a file
// (svg_painter.ts). All sizes are CSS pixels.
import type { Bitmap } from './heat.ts';

export const fontFamily = 'system-ui, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", sans-serif';

export interface Stroke {
  stroke: string;
  width?: number; // default 1
  opacity?: number; // default 1
  dashed?: boolean;
}

export interface Fill {
  fill: string;
  opacity?: number; // default 1
  radius?: number; // of the corners; default 0
}

export interface TextStyle {
  fill: string;
  size?: number; // default 12
  align?: 'left' | 'center' | 'right';
  turned?: boolean; // runs upwards
  bold?: boolean;
}

export interface Rect {
  x: number;
  y: number;
  width: number;
  height: number;
}

export interface Painter {
  fill(rect: Rect, style: Fill): void;
  frame(rect: Rect, style: Stroke): void;
  // points: x, y, x, y, ..
  path(points: readonly number[], style: Stroke): void;
  // From left to right, level at both ends.
  link(from: { x: number; y: number }, to: { x: number; y: number }, style: Stroke): void;
  // y is the middle of the text.
  text(x: number, y: number, text: string, style: TextStyle): void;
  heat(bitmap: Bitmap, rect: Rect): void;
  picture(picture: HTMLImageElement, rect: Rect): void;
  // All that is painted inside `paint` is cut off at rect.
  clipped(rect: Rect, paint: () => void): void;
  // All that is painted inside `paint` is moved.
  moved(x: number, y: number, paint: () => void): void;
}

export type Font = Pick<TextStyle, 'size' | 'bold'>;

export function fontOf(style: Font): string {
  return `${style.bold ? '600 ' : ''}${style.size ?? 12}px ${fontFamily}`;
}

let measuring: CanvasRenderingContext2D | null = null;
const widths = new Map<string, number>();

export function textWidth(text: string, style: Font = {}): number {
  const font = fontOf(style);
  const key = font + text;
  let width = widths.get(key);
  if (width === undefined) {
    measuring ??= document.createElement('canvas').getContext('2d')!;
    measuring.font = font;
    width = measuring.measureText(text).width;
    if (widths.size > 20000) widths.clear();
    widths.set(key, width);
  }
  return width;
}
