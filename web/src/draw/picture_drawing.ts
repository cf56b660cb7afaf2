// The picture that a model looked at, darkened where it looked least. One query at a time.
import { weightAt, type Matrix } from '../document/weights.ts';
import { moveInTable, type Cursor, type Drawing, type Look, type Seen } from './drawing.ts';
import { weightText } from './heat.ts';
import type { Painter } from './painter.ts';

const darkest = 0.72;

export interface PictureOptions {
  label: string;
  image: HTMLImageElement;
  rows: number;
  cols: number;
  matrix: Matrix; // [queries, cells]
  query: number;
}

export class PictureDrawing implements Drawing {
  readonly label: string;
  readonly hint = 'Arrow keys move from cell to cell';
  private width = 1;
  private height = 1;

  constructor(readonly options: PictureOptions) {
    this.label = options.label;
  }

  layout(width: number, height: number): { width: number; height: number } {
    const { image } = this.options;
    const ratio =
      image.naturalWidth > 0 ? image.naturalHeight / image.naturalWidth : this.options.rows / this.options.cols;
    this.width = Math.floor(Math.min(width, 520, height / ratio));
    this.height = Math.floor(this.width * ratio);
    return { width: this.width, height: this.height };
  }

  paint(painter: Painter, _seen: Seen, look: Look): void {
    const { image, rows, cols, matrix, query } = this.options;
    if (image.naturalWidth > 0) painter.picture(image, { x: 0, y: 0, width: this.width, height: this.height });
    let strongest = 0;
    for (let cell = 1; cell < rows * cols; ++cell)
      if (weightAt(matrix, query, cell) > weightAt(matrix, query, strongest)) strongest = cell;
    const most = Math.max(1e-9, weightAt(matrix, query, strongest));
    for (let cell = 0; cell < rows * cols; ++cell) {
      const weight = Math.max(0, weightAt(matrix, query, cell));
      painter.fill(this.place(this.cursorOf(cell)), { fill: '#000000', opacity: darkest * (1 - weight / most) });
    }
    const { x, y, width, height } = this.place(this.cursorOf(strongest));
    painter.frame(
      { x: x + 1, y: y + 1, width: Math.max(0, width - 2), height: Math.max(0, height - 2) },
      { stroke: look.theme === 'dark' ? '#f8f4a6' : '#ffffff', width: 2 },
    );
  }

  paintCursor(painter: Painter, _seen: Seen, look: Look, cursor: Cursor): void {
    painter.frame(this.place(cursor), { stroke: look.palette.accent, width: 2 });
  }

  at(x: number, y: number): Cursor | null {
    const { rows, cols } = this.options;
    const inside = x >= 0 && y >= 0 && x < this.width && y < this.height;
    return inside ? { row: Math.floor((y / this.height) * rows), col: Math.floor((x / this.width) * cols) } : null;
  }

  move(cursor: Cursor | null, key: string): Cursor | null {
    return moveInTable(cursor, key, this.options.rows, this.options.cols);
  }

  place(cursor: Cursor) {
    const width = this.width / this.options.cols;
    const height = this.height / this.options.rows;
    return { x: cursor.col * width, y: cursor.row * height, width, height };
  }

  words(cursor: Cursor): string {
    const { matrix, query, cols } = this.options;
    return `row ${cursor.row + 1}, column ${cursor.col + 1}: ${weightText(weightAt(matrix, query, cursor.row * cols + cursor.col))}`;
  }

  private cursorOf(cell: number): Cursor {
    return { row: Math.floor(cell / this.options.cols), col: cell % this.options.cols };
  }
}
