// The alignment matrix: a row for each query, a column for each key. The labels stay in view while the cells scroll.
import { strongestKeys, weightAt, type Matrix } from '../document/weights.ts';
import { textOn } from './colour.ts';
import { moveInTable, type Cursor, type Drawing, type Look, type Seen } from './drawing.ts';
import { bitmapOf, strengthsOf, weightText, type Bitmap, type Scaling } from './heat.ts';
import { textWidth, type Font, type Painter } from './painter.ts';
import { fitted, fittedText, saidToken, widestLabel } from './token.ts';

const largestCell = 34;
const smallestLabelled = 12; // below that size of a cell there is no room for labels
const numbersFrom = 40; // from that size on a cell shows its weight
const longestLabel = 150;

export interface MatrixOptions {
  label: string;
  queries: { label: string; tokens: string[] };
  keys: { label: string; tokens: string[] };
  scaling: Scaling;
  zoom: number; // 1: as large as fits
}

// The side of a cell, so that all columns fit the width, and the rows the height where the labels stay readable.
export function cellSize(free: { width: number; height: number }, rows: number, cols: number, zoom: number): number {
  const byWidth = free.width / Math.max(1, cols);
  const byHeight = Math.max(smallestLabelled + 4, free.height / Math.max(1, rows));
  const all = Math.min(byWidth, free.height / Math.max(1, rows));
  const fitting = byWidth >= smallestLabelled ? Math.min(byWidth, byHeight) : all;
  const cell = Math.min(largestCell, fitting) * zoom;
  return cell >= 4 ? Math.floor(cell) : Math.max(cell, 0.5);
}

function labelWidth(tokens: string[], most: number): number {
  return Math.ceil(Math.min(most, widestLabel(tokens))) + 8;
}

// The middle of a text of that width, as near to `wanted` as it can be without leaving 0 to `end`.
function middleInside(wanted: number, width: number, end: number): number {
  return Math.max(width / 2, Math.min(end - width / 2, wanted));
}

interface Anchor {
  x: number;
  y: number;
  align: 'left' | 'center' | 'right';
  turned?: boolean;
}

export class MatrixDrawing implements Drawing {
  readonly label: string;
  readonly hint = 'Arrow keys move from cell to cell, Enter keeps one, Home and End go to the ends of a row';
  private readonly strengths: Float32Array;
  private bitmap: { theme: string; picture: Bitmap } | null = null;
  private left = 0;
  private top = 0;
  private cell = 1;
  private turned = true; // the labels of the columns run upwards, unless all of them are narrow

  constructor(
    readonly matrix: Matrix,
    readonly options: MatrixOptions,
  ) {
    this.label = options.label;
    this.strengths = strengthsOf(matrix, options.scaling);
  }

  layout(width: number, height: number): { width: number; height: number } {
    const { queries, keys, zoom } = this.options;
    const { rows, cols } = this.matrix;
    const most = Math.min(longestLabel, width * 0.3);
    this.left = labelWidth(queries.tokens, most) + 18;
    this.top = labelWidth(keys.tokens, Math.min(most, 120)) + 18;
    this.cell = cellSize({ width: width - this.left - 2, height: height - this.top - 2 }, rows, cols, zoom);
    // Single characters may stand close to each other, words may not.
    const widest = this.top - 26;
    this.turned = widest + (widest <= 16 ? 1 : 8) > this.cell;
    if (!this.turned) this.top = 40;
    if (!this.labelled()) {
      this.left = this.top = 24;
      this.cell = cellSize({ width: width - 26, height: height - 26 }, rows, cols, zoom);
    }
    return { width: this.left + cols * this.cell + 2, height: this.top + rows * this.cell + 2 };
  }

  paint(painter: Painter, seen: Seen, look: Look): void {
    const { rows, cols } = this.matrix;
    const { cell, left, top } = this;
    const area = { x: left, y: top, width: Math.max(0, seen.width - left), height: Math.max(0, seen.height - top) };
    painter.clipped(area, () => {
      painter.heat(this.picture(look), { x: left - seen.x, y: top - seen.y, width: cols * cell, height: rows * cell });
      if (cell >= 8) this.paintGrid(painter, seen, look);
      if (cell >= numbersFrom) this.paintNumbers(painter, seen, look);
    });
    painter.frame(
      {
        x: left - 0.5 - Math.min(seen.x, 0),
        y: top - 0.5,
        width: Math.max(0, Math.min(area.width - 1, cols * cell - seen.x) + 1),
        height: Math.max(0, Math.min(area.height - 1, rows * cell - seen.y) + 1),
      },
      { stroke: look.palette.line },
    );
    this.paintLabels(painter, seen, look);
  }

  paintCursor(painter: Painter, seen: Seen, look: Look, cursor: Cursor): void {
    const { cell, left, top } = this;
    const x = left + cursor.col * cell - seen.x;
    const y = top + cursor.row * cell - seen.y;
    const across = Math.min(seen.width, left + this.matrix.cols * cell - seen.x);
    const down = Math.min(seen.height, top + this.matrix.rows * cell - seen.y);
    const accent = look.palette.accent;
    painter.clipped({ x: left - 2, y: top - 2, width: seen.width, height: seen.height }, () => {
      painter.path([left, y + cell / 2, across, y + cell / 2], { stroke: accent, opacity: 0.35 });
      painter.path([x + cell / 2, top, x + cell / 2, down], { stroke: accent, opacity: 0.35 });
      painter.frame({ x: x - 1, y: y - 1, width: cell + 2, height: cell + 2 }, { stroke: accent, width: 2 });
    });
    const row = this.options.queries.tokens[cursor.row] ?? '';
    const col = this.options.keys.tokens[cursor.col] ?? '';
    if (!this.labelled()) return; // the words beside the pointer say it
    painter.clipped({ x: 0, y: top - 9, width: left, height: seen.height }, () =>
      this.plate(painter, look, fitted(row, left - 24, { bold: true }), {
        x: left - 6,
        y: y + cell / 2,
        align: 'right',
      }),
    );
    const narrow = { x: x + cell / 2, y: top - 11, align: 'center' } as const;
    const upwards = { x: x + cell / 2, y: top - 6, align: 'left', turned: true } as const;
    painter.clipped({ x: left - 9, y: 0, width: seen.width, height: top }, () =>
      this.plate(
        painter,
        look,
        fitted(col, this.turned ? top - 24 : cell * 1.5, { bold: true }),
        this.turned ? upwards : narrow,
      ),
    );
  }

  at(x: number, y: number, seen: Seen): Cursor | null {
    const row = Math.floor((y + seen.y - this.top) / this.cell);
    const col = Math.floor((x + seen.x - this.left) / this.cell);
    const inside = x >= this.left && y >= this.top && row < this.matrix.rows && col < this.matrix.cols;
    return inside ? { row, col } : null;
  }

  move(cursor: Cursor | null, key: string): Cursor | null {
    return moveInTable(cursor, key, this.matrix.rows, this.matrix.cols);
  }

  place(cursor: Cursor) {
    return {
      x: this.left + cursor.col * this.cell,
      y: this.top + cursor.row * this.cell,
      width: this.cell,
      height: this.cell,
    };
  }

  words(cursor: Cursor): string {
    const query = saidToken(this.options.queries.tokens[cursor.row] ?? '');
    const key = saidToken(this.options.keys.tokens[cursor.col] ?? '');
    // Isolates keep a right-to-left token from turning the sentence around.
    return `\u2068${query}\u2069 → \u2068${key}\u2069: ${weightText(weightAt(this.matrix, cursor.row, cursor.col))}`;
  }

  strongest(row: number, count: number) {
    return strongestKeys(this.matrix, row, count);
  }

  private labelled(): boolean {
    return this.cell >= smallestLabelled;
  }

  private picture(look: Look): Bitmap {
    if (this.bitmap?.theme !== look.theme)
      this.bitmap = { theme: look.theme, picture: bitmapOf(this.matrix, this.strengths, look.theme) };
    return this.bitmap.picture;
  }

  private visible(seen: Seen) {
    const from = (start: number) => Math.max(0, Math.floor(start / this.cell));
    const to = (end: number, count: number) => Math.min(count, Math.ceil(end / this.cell) + 1);
    return {
      fromRow: from(seen.y),
      toRow: to(seen.y + seen.height - this.top, this.matrix.rows),
      fromCol: from(seen.x),
      toCol: to(seen.x + seen.width - this.left, this.matrix.cols),
    };
  }

  private paintGrid(painter: Painter, seen: Seen, look: Look): void {
    const { cell, left, top } = this;
    const { fromRow, toRow, fromCol, toCol } = this.visible(seen);
    const style = { stroke: look.palette.line, opacity: 0.7 };
    const right = left + this.matrix.cols * cell - seen.x;
    const bottom = top + this.matrix.rows * cell - seen.y;
    for (let row = fromRow + 1; row < toRow; ++row) {
      const y = Math.round(top + row * cell - seen.y) - 0.5;
      painter.path([left, y, right, y], style);
    }
    for (let col = fromCol + 1; col < toCol; ++col) {
      const x = Math.round(left + col * cell - seen.x) - 0.5;
      painter.path([x, top, x, bottom], style);
    }
  }

  private paintNumbers(painter: Painter, seen: Seen, look: Look): void {
    const { fromRow, toRow, fromCol, toCol } = this.visible(seen);
    for (let row = fromRow; row < toRow; ++row)
      for (let col = fromCol; col < toCol; ++col) {
        const weight = weightAt(this.matrix, row, col);
        const fill = textOn(look.theme, this.strengths[row * this.matrix.cols + col]!);
        const { x, y } = this.place({ row, col });
        painter.text(x + this.cell / 2 - seen.x, y + this.cell / 2 - seen.y, weight.toFixed(2), {
          fill,
          size: 11,
          align: 'center',
        });
      }
  }

  private paintLabels(painter: Painter, seen: Seen, look: Look): void {
    const { cell, left, top } = this;
    const muted = { fill: look.palette.muted, size: 11 };
    const { across, down } = this.axisNames(seen, muted);
    painter.text(across.middle, 8, across.text, { ...muted, align: 'center' });
    painter.text(8, down.middle, down.text, { ...muted, align: 'center', turned: true });
    if (!this.labelled()) return;
    const { fromRow, toRow, fromCol, toCol } = this.visible(seen);
    const fill = look.palette.text;
    painter.clipped({ x: 0, y: top - 2, width: left, height: seen.height }, () => {
      for (let row = fromRow; row < toRow; ++row)
        painter.text(
          left - 6,
          top + (row + 0.5) * cell - seen.y,
          fitted(this.options.queries.tokens[row]!, left - 24),
          { fill, align: 'right' },
        );
    });
    painter.clipped({ x: left - 2, y: 0, width: seen.width, height: top }, () => {
      for (let col = fromCol; col < toCol; ++col)
        this.paintColumnLabel(painter, this.options.keys.tokens[col]!, left + (col + 0.5) * cell - seen.x, fill);
    });
  }

  // What the rows and columns are, in the middle of the cells that are seen.
  private axisNames(seen: Seen, font: Font) {
    const placed = (name: string, before: number, cells: number, end: number) => {
      const text = fittedText(name, end, font);
      const wanted = before + Math.min(end - before, cells * this.cell) / 2;
      return { text, middle: middleInside(wanted, textWidth(text, font), end) };
    };
    return {
      across: placed(this.options.keys.label, this.left, this.matrix.cols, seen.width),
      down: placed(this.options.queries.label, this.top, this.matrix.rows, seen.height),
    };
  }

  private paintColumnLabel(painter: Painter, token: string, x: number, fill: string): void {
    if (this.turned) painter.text(x, this.top - 6, fitted(token, this.top - 24), { fill, turned: true });
    else painter.text(x, this.top - 11, fitted(token, this.cell), { fill, align: 'center' });
  }

  // A label on a plate of its own, in front of the others. x and y are where its text is anchored.
  private plate(painter: Painter, look: Look, text: string, anchor: Anchor): void {
    const { x, y, align, turned } = anchor;
    const width = textWidth(text, { bold: true }) + 8;
    const before = { left: 4, center: width / 2, right: width - 4 }[align]; // of the plate, before the anchor
    const plate = turned
      ? { x: x - 9, y: y + before - width, width: 18, height: width }
      : { x: x - before, y: y - 9, width, height: 18 };
    painter.fill(plate, { fill: look.palette.accent, radius: 3 });
    painter.text(x, y, text, { fill: look.palette.background, bold: true, ...(turned ? { turned } : {}), align });
  }
}
