// Queries on the left, keys on the right, and a line for each strong weight; the query under the cursor shows all of its
// lines.
import { strongestKeys, weightAt, type Matrix, type Strong } from '../document/weights.ts';
import type { Cursor, Drawing, Look, Seen } from './drawing.ts';
import { topOf, weightText } from './heat.ts';
import type { Painter, TextStyle } from './painter.ts';
import { fitted, fittedText, saidToken, widestLabel } from './token.ts';

const rowHeight = 22;
const top = 26;
const beside = 8; // on both sides of a token
const linesPerQuery = 5;
const weakest = 0.05; // of the strongest weight: weaker lines are only shown for the query under the cursor

type Side = 'left' | 'right'; // how the text is aligned: queries, on the left, end at their lines

export interface LinesOptions {
  label: string;
  queries: { label: string; tokens: string[] };
  keys: { label: string; tokens: string[] };
}

// Cursor: the row is a query and the column a key, or -1 where only the query is meant.
export class LinesDrawing implements Drawing {
  readonly label: string;
  readonly hint = 'Up and down arrow keys move from query to query, left and right through its strongest keys';
  private readonly links: Strong[][]; // for each query
  private left = 0;
  private right = 0;
  private width = 0;

  constructor(
    readonly matrix: Matrix,
    readonly options: LinesOptions,
  ) {
    this.label = options.label;
    this.links = Array.from({ length: matrix.rows }, (_, row) => strongestKeys(matrix, row, linesPerQuery));
  }

  layout(width: number): { width: number; height: number } {
    this.width = Math.min(width, 620);
    const most = this.width * 0.34;
    const room = (tokens: string[]) => Math.min(most, Math.max(40, widestLabel(tokens)));
    this.left = room(this.options.queries.tokens) + 2 * beside;
    this.right = this.width - room(this.options.keys.tokens) - 2 * beside;
    return { width: this.width, height: top + rowHeight * Math.max(this.matrix.rows, this.matrix.cols) + 6 };
  }

  paint(painter: Painter, seen: Seen, look: Look): void {
    const muted = { fill: look.palette.muted, size: 11 };
    const most = this.most();
    painter.clipped({ x: 0, y: top, width: seen.width, height: Math.max(0, seen.height - top) }, () => {
      this.links.forEach((links, row) => {
        for (const { index, weight } of links)
          if (Math.abs(weight) >= weakest * most)
            this.line(painter, seen, look, { row, col: index, strength: weight / most, faint: true });
      });
      this.tokens(painter, seen, this.options.queries.tokens, 'right', look.palette.text);
      this.tokens(painter, seen, this.options.keys.tokens, 'left', look.palette.text);
    });
    const name = (label: string, side: Side) => {
      const { x, room } = this.room(side);
      painter.text(x, 12, fittedText(label, room, muted), { ...muted, align: side });
    };
    name(this.options.queries.label, 'right');
    name(this.options.keys.label, 'left');
  }

  paintCursor(painter: Painter, seen: Seen, look: Look, cursor: Cursor): void {
    const { background, text, accent } = look.palette;
    const own = strongestKeys(this.matrix, cursor.row, 40);
    const most = Math.max(1e-9, Math.abs(own[0]?.weight ?? 0));
    painter.clipped({ x: 0, y: top, width: seen.width, height: Math.max(0, seen.height - top) }, () => {
      painter.fill({ x: 0, y: top, width: this.width, height: seen.height }, { fill: background, opacity: 0.88 });
      this.tokens(painter, seen, this.options.queries.tokens, 'right', look.palette.muted);
      this.tokens(painter, seen, this.options.keys.tokens, 'left', look.palette.muted);
      for (const { index, weight } of own.toReversed()) {
        const strength = weight / most;
        this.line(painter, seen, look, { row: cursor.row, col: index, strength, faint: false });
        const y = this.y(index, seen);
        painter.fill(
          { x: this.right + 2, y: y - 9, width: this.width - this.right - 4, height: 18 },
          { fill: look.palette.series[0]!, opacity: 0.08 + 0.3 * Math.abs(strength), radius: 3 },
        );
        this.token(painter, y, this.options.keys.tokens[index]!, {
          fill: text,
          bold: index === cursor.col,
          align: 'left',
        });
      }
      const y = this.y(cursor.row, seen);
      painter.fill({ x: 2, y: y - 10, width: this.left - 6, height: 20 }, { fill: accent, radius: 3 });
      const query = this.options.queries.tokens[cursor.row]!;
      this.token(painter, y, query, { fill: background, bold: true, align: 'right' });
    });
  }

  at(x: number, y: number, seen: Seen): Cursor | null {
    const index = Math.floor((y + seen.y - top) / rowHeight);
    if (y < top || index < 0 || x > this.width) return null;
    if (x < (this.left + this.right) / 2) return index < this.matrix.rows ? { row: index, col: -1 } : null;
    if (index >= this.matrix.cols) return null;
    // On a key: the query that takes most from it.
    let row = 0;
    for (let i = 1; i < this.matrix.rows; ++i)
      if (weightAt(this.matrix, i, index) > weightAt(this.matrix, row, index)) row = i;
    return this.matrix.rows > 0 ? { row, col: index } : null;
  }

  move(cursor: Cursor | null, key: string): Cursor | null {
    const { rows } = this.matrix;
    if (rows === 0 || !/^(Arrow|Home|End|Page)/.test(key)) return null;
    if (!cursor) return { row: 0, col: -1 };
    const steps: Record<string, number> = {
      ArrowUp: -1,
      ArrowDown: 1,
      PageUp: -10,
      PageDown: 10,
      Home: -rows,
      End: rows,
    };
    const step = steps[key];
    if (step !== undefined) return { row: Math.max(0, Math.min(rows - 1, cursor.row + step)), col: -1 };
    const own = strongestKeys(this.matrix, cursor.row, 40).map((strong) => strong.index);
    const place = own.indexOf(cursor.col) + (key === 'ArrowRight' ? 1 : -1);
    return { row: cursor.row, col: own[Math.max(0, Math.min(own.length - 1, place))] ?? -1 };
  }

  place(cursor: Cursor) {
    return { x: 0, y: top + cursor.row * rowHeight, width: this.left, height: rowHeight };
  }

  words(cursor: Cursor): string {
    const query = saidToken(this.options.queries.tokens[cursor.row] ?? '');
    const key = (index: number) =>
      `\u2068${saidToken(this.options.keys.tokens[index] ?? '')}\u2069 ${weightText(weightAt(this.matrix, cursor.row, index))}`;
    const keys =
      cursor.col >= 0
        ? key(cursor.col)
        : strongestKeys(this.matrix, cursor.row, 3)
            .map((strong) => key(strong.index))
            .join(', ');
    return `\u2068${query}\u2069 → ${keys || 'no key'}`;
  }

  private most(): number {
    return Math.max(topOf(this.matrix), 1e-9);
  }

  private y(index: number, seen: Seen): number {
    return top + (index + 0.5) * rowHeight - seen.y;
  }

  // Where the tokens of a side are anchored, and how wide they may be.
  private room(side: Side): { x: number; room: number } {
    return side === 'right'
      ? { x: this.left - beside, room: Math.min(this.left, this.width) - 2 * beside }
      : { x: this.right + beside, room: this.width - Math.max(this.right, 0) - 2 * beside };
  }

  private token(painter: Painter, y: number, token: string, style: TextStyle & { align: Side }): void {
    const { x, room } = this.room(style.align);
    painter.text(x, y, fitted(token, room, style), style);
  }

  private line(
    painter: Painter,
    seen: Seen,
    look: Look,
    link: { row: number; col: number; strength: number; faint: boolean },
  ): void {
    const from = { x: this.left, y: this.y(link.row, seen) };
    const to = { x: this.right, y: this.y(link.col, seen) };
    if (Math.max(from.y, to.y) < top || Math.min(from.y, to.y) > seen.height) return;
    const size = Math.min(1, Math.abs(link.strength));
    painter.link(from, to, {
      stroke: look.palette.series[link.strength < 0 ? 1 : 0]!,
      width: 0.75 + 3 * size,
      opacity: link.faint ? 0.12 + 0.68 * size : 0.25 + 0.75 * size,
    });
  }

  private tokens(painter: Painter, seen: Seen, tokens: string[], align: Side, fill: string): void {
    const from = Math.max(0, Math.floor(seen.y / rowHeight));
    const to = Math.min(tokens.length, Math.ceil((seen.y + seen.height) / rowHeight));
    for (let i = from; i < to; ++i) this.token(painter, this.y(i, seen), tokens[i]!, { fill, align });
  }
}
