// A painter that keeps what was painted, and a measure of text without a browser: what the tests of drawings look at.
import type { Painter, Rect, TextStyle } from '../../src/draw/painter.ts';

export interface PaintedText {
  text: string;
  x: number;
  y: number;
  width: number; // along the line, also where it is turned
  style: TextStyle;
  clip: Rect | null; // the innermost
}

const mostMeasured = 100000; // in one check: drawings that ask more often do not end

// Widths that differ as in real fonts: nothing for marks and joiners, much for emoji and wide scripts.
function widthOf(text: string, size: number, bold: boolean): number {
  let width = 0;
  for (const sign of text)
    width += /[\p{M}\u200b-\u200f\ufe0f]/u.test(sign) ? 0 : /[\u2e80-\uffef]|[^\u0000-\uffff]/u.test(sign) ? 1.1 : 0.55;
  return width * size * (bold ? 1.1 : 1);
}

// The canvas that textWidth() asks, in Node.
export class Measure {
  asked = 0;

  install(): void {
    const measure = this;
    const context = {
      font: '',
      measureText(text: string) {
        if (++measure.asked > mostMeasured) throw new Error(`measured ${mostMeasured} texts: this does not end`);
        const size = Number(/(\d+)px/.exec(context.font)?.[1]);
        return { width: widthOf(text, size, context.font.startsWith('600')) };
      },
    };
    const document = { createElement: () => ({ getContext: () => context }) };
    Object.assign(globalThis, { document });
  }
}

export function measured(text: string, style: { size?: number; bold?: boolean }): number {
  return widthOf(text, style.size ?? 12, style.bold ?? false);
}

export class Recorder implements Painter {
  readonly texts: PaintedText[] = [];
  readonly rects: Rect[] = []; // fills, frames, clips, pictures
  readonly points: number[] = []; // x, y, ..: of paths and links
  readonly all: unknown[] = []; // everything in order
  private clip: Rect | null = null;

  fill(rect: Rect, style: unknown): void {
    this.rect('fill', rect, style);
  }
  frame(rect: Rect, style: unknown): void {
    this.rect('frame', rect, style);
  }
  path(points: readonly number[], style: unknown): void {
    this.points.push(...points);
    this.all.push(['path', points, style]);
  }
  link(from: { x: number; y: number }, to: { x: number; y: number }, style: unknown): void {
    this.points.push(from.x, from.y, to.x, to.y);
    this.all.push(['link', from, to, style]);
  }
  text(x: number, y: number, text: string, style: TextStyle): void {
    this.texts.push({ text, x, y, width: measured(text, style), style, clip: this.clip });
    this.all.push(['text', x, y, text, style]);
  }
  heat(bitmap: { rows: number; cols: number }, rect: Rect): void {
    this.rect('heat', rect, [bitmap.rows, bitmap.cols]);
  }
  picture(_: HTMLImageElement, rect: Rect): void {
    this.rect('picture', rect, null);
  }
  clipped(rect: Rect, paint: () => void): void {
    this.rect('clip', rect, null);
    const before = this.clip;
    this.clip = rect;
    paint();
    this.clip = before;
  }
  moved(x: number, y: number, paint: () => void): void {
    this.all.push(['moved', x, y]);
    paint();
  }

  private rect(kind: string, rect: Rect, style: unknown): void {
    this.rects.push(rect);
    this.all.push([kind, rect, style]);
  }
}
