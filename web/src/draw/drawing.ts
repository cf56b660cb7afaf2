// A drawing: what is painted, what lies under a point, where the arrow keys go, and the same in words and in files.
// Stage (stage.ts) shows one on the screen; save.ts writes it to files.
import type { Palette, Theme } from './colour.ts';
import type { Painter } from './painter.ts';

export interface Look {
  theme: Theme;
  palette: Palette;
}

// The part of the drawing that is seen: as large as the window on it, scrolled by x and y.
export interface Seen {
  x: number;
  y: number;
  width: number;
  height: number;
}

// A place in a drawing: two numbers whose meaning is the drawing's (row and column, or a node and nothing).
export interface Cursor {
  row: number;
  col: number;
}

export interface Drawing {
  label: string; // for screen readers: what is drawn
  hint: string; // for screen readers: what the keys do
  // Lays the drawing out in a window of that size, and returns how large it became.
  layout(width: number, height: number): { width: number; height: number };
  paint(painter: Painter, seen: Seen, look: Look): void;
  paintCursor(painter: Painter, seen: Seen, look: Look, cursor: Cursor): void;
  at(x: number, y: number, seen: Seen): Cursor | null;
  move(cursor: Cursor | null, key: string): Cursor | null;
  // The rectangle to scroll to when the cursor is moved by keys, and around which the words are shown.
  place(cursor: Cursor): { x: number; y: number; width: number; height: number };
  words(cursor: Cursor): string;
}

// Where arrow keys lead in a table of rows x cols; null where the key means nothing.
export function moveInTable(cursor: Cursor | null, key: string, rows: number, cols: number): Cursor | null {
  if (rows === 0 || cols === 0) return null;
  if (!cursor) return /^(Arrow|Home|End|Page)/.test(key) ? { row: 0, col: 0 } : null;
  const limit = (row: number, col: number) => ({
    row: Math.max(0, Math.min(rows - 1, row)),
    col: Math.max(0, Math.min(cols - 1, col)),
  });
  const { row, col } = cursor;
  switch (key) {
    case 'ArrowUp':
      return limit(row - 1, col);
    case 'ArrowDown':
      return limit(row + 1, col);
    case 'ArrowLeft':
      return limit(row, col - 1);
    case 'ArrowRight':
      return limit(row, col + 1);
    case 'PageUp':
      return limit(row - 10, col);
    case 'PageDown':
      return limit(row + 10, col);
    case 'Home':
      return limit(row, 0);
    case 'End':
      return limit(row, cols - 1);
    default:
      return null;
  }
}
