// The search tree: a column for each step, the hypotheses that were kept in full, those that were dropped pale.
import type { Beam, BeamNode } from '../document/types.ts';
import type { Cursor, Drawing, Look, Seen } from './drawing.ts';
import { textWidth, type Painter } from './painter.ts';
import { fitted, saidToken } from './token.ts';

const rowHeight = 36;
const gap = 34;
const margin = 8;
const widestToken = 140;
const scoreFont = { size: 10 };

export interface PlacedNode extends BeamNode {
  depth: number;
  row: number; // that of its best child; other children stand below, as near as there is room
  children: number[]; // places in the list
  up: number; // place of the parent in the list, or -1
}

// The validator has checked that parents come before their children.
export function placeNodes(beam: Beam): PlacedNode[] {
  const placeOf = new Map(beam.nodes.map((node, place) => [node.id, place]));
  const nodes: PlacedNode[] = beam.nodes.map((node) => ({
    ...node,
    depth: 0,
    row: 0,
    children: [],
    up: placeOf.get(node.parent) ?? -1,
  }));
  nodes.forEach((node, place) => {
    if (node.up < 0) return;
    node.depth = nodes[node.up]!.depth + 1;
    nodes[node.up]!.children.push(place);
  });
  // The best output below each node: the way to the best one of all is the first row, where one begins to read.
  const best = nodes.map((node) => (node.final || node.rank != null ? (node.ranked_by ?? node.score) : -Infinity));
  for (let place = nodes.length - 1; place >= 0; --place) {
    const { up } = nodes[place]!;
    if (up >= 0) best[up] = Math.max(best[up]!, best[place]!);
  }
  const inOrder = (a: number, b: number) =>
    best[a] === best[b] ? nodes[b]!.score - nodes[a]!.score : best[b]! > best[a]! ? 1 : -1;
  nodes.forEach((node) => node.children.sort(inOrder));
  const free: number[] = []; // the first row without a node, at each depth
  // A list of what is left to do instead of a function that calls itself: trees may be deeper than the stack.
  const waiting = nodes.flatMap((node, place) => (node.up < 0 ? [place] : [])).reverse();
  for (let place = waiting.pop(); place !== undefined; place = waiting.pop()) {
    const line = [place]; // the node, its best child, and so on: one row
    for (let next = nodes[place]!.children[0]; next !== undefined; next = nodes[next]!.children[0]) line.push(next);
    const row = line.reduce((most, at) => Math.max(most, free[nodes[at]!.depth] ?? 0), 0);
    for (const at of line) {
      nodes[at]!.row = row;
      free[nodes[at]!.depth] = row + 1;
    }
    // The last to be put there is the next to be settled: children of the end of the line first, the better before the worse.
    for (const at of line) for (const child of nodes[at]!.children.slice(1).reverse()) waiting.push(child);
  }
  return nodes;
}

// The text from the root to a node.
export function textOfPath(nodes: PlacedNode[], place: number): string[] {
  const tokens: string[] = [];
  for (let at = place; at >= 0; at = nodes[at]!.up) tokens.push(nodes[at]!.token);
  return tokens.reverse();
}

function scoreText(score: number, digits: number): string {
  return Math.abs(score) < 1e6 ? score.toFixed(digits) : score.toExponential(digits);
}

// Cursor: the row is the place of a node in the list; the column means nothing.
export class BeamDrawing implements Drawing {
  readonly label: string;
  readonly hint = 'Left and right arrow keys go to the parent and the best child, up and down to the neighbours';
  readonly nodes: PlacedNode[];
  private readonly columns: { x: number; width: number }[] = [];

  // `lookedAt`: what the step of a node attended to, in words; empty where that is not known.
  constructor(
    beam: Beam,
    private readonly lookedAt: (place: number) => string = () => '',
  ) {
    this.nodes = placeNodes(beam);
    const finals = this.nodes.filter((node) => node.final).length;
    this.label = `Search tree: ${this.nodes.length} hypotheses, ${finals} of them finished`;
  }

  layout(): { width: number; height: number } {
    this.columns.length = 0;
    for (const node of this.nodes) {
      const column = (this.columns[node.depth] ??= { x: 0, width: 44 });
      const token = textWidth(this.shown(node), { bold: true });
      const score = textWidth(scoreText(node.score, 2), scoreFont);
      column.width = Math.max(column.width, Math.ceil(Math.max(token, score)) + 16);
    }
    let x = margin;
    for (const column of this.columns) {
      column.x = x;
      x += column.width + gap;
    }
    const rows = this.nodes.reduce((most, node) => Math.max(most, node.row), 0) + 1;
    return { width: Math.max(0, x - gap) + margin, height: rows * rowHeight + 2 * margin };
  }

  paint(painter: Painter, seen: Seen, look: Look): void {
    const visible = (place: number) => {
      const { x, y, width, height } = this.box(place, seen);
      return x + width + gap > 0 && y + height > 0 && x - gap < seen.width && y < seen.height;
    };
    this.nodes.forEach((node, place) => {
      if (node.up >= 0 && (visible(place) || visible(node.up)))
        this.edge(painter, seen, place, {
          stroke: node.kept ? look.palette.series[0]! : look.palette.muted,
          width: node.kept ? 1.5 : 1,
          opacity: node.kept ? 0.9 : 0.4,
          dashed: !node.kept,
        });
    });
    this.nodes.forEach((_, place) => visible(place) && this.node(painter, seen, look, place));
  }

  paintCursor(painter: Painter, seen: Seen, look: Look, cursor: Cursor): void {
    for (let at = cursor.row; at >= 0 && this.nodes[at]; at = this.nodes[at]!.up) {
      if (this.nodes[at]!.up >= 0) this.edge(painter, seen, at, { stroke: look.palette.accent, width: 2.5 });
      painter.frame(this.box(at, seen), { stroke: look.palette.accent, width: 2 });
    }
  }

  at(x: number, y: number, seen: Seen): Cursor | null {
    const row = this.nodes.findIndex((_, place) => {
      const box = this.box(place, seen);
      return x >= box.x && x <= box.x + box.width && y >= box.y && y <= box.y + box.height;
    });
    return row < 0 ? null : { row, col: 0 };
  }

  move(cursor: Cursor | null, key: string): Cursor | null {
    if (this.nodes.length === 0 || !/^Arrow/.test(key)) return null;
    const node = cursor && this.nodes[cursor.row];
    if (!node) return { row: 0, col: 0 };
    if (key === 'ArrowLeft') return { row: Math.max(0, node.up < 0 ? cursor.row : node.up), col: 0 };
    if (key === 'ArrowRight') return { row: node.children[0] ?? cursor.row, col: 0 };
    const column = this.nodes
      .map((other, place) => ({ other, place }))
      .filter(({ other }) => other.depth === node.depth);
    column.sort((a, b) => a.other.row - b.other.row);
    const at = column.findIndex(({ place }) => place === cursor.row) + (key === 'ArrowUp' ? -1 : 1);
    return { row: column[Math.max(0, Math.min(column.length - 1, at))]!.place, col: 0 };
  }

  place(cursor: Cursor) {
    return this.box(cursor.row, { x: 0, y: 0, width: 0, height: 0 });
  }

  words(cursor: Cursor): string {
    const node = this.nodes[cursor.row];
    if (!node) return '';
    const fate = node.final ? 'finished' : node.kept ? 'kept' : 'dropped';
    const lookedAt = this.lookedAt(cursor.row);
    return (
      `\u2068${textOfPath(this.nodes, cursor.row).map(saidToken).join(' ')}\u2069: ` +
      `score ${scoreText(node.score, 3)}, ${fate}${lookedAt && `; looked at ${lookedAt}`}`
    );
  }

  private shown(node: BeamNode): string {
    return fitted(node.token, widestToken, { bold: true });
  }

  private box(place: number, seen: Seen) {
    const node = this.nodes[place];
    if (!node) return { x: 0, y: 0, width: 0, height: 0 };
    const column = this.columns[node.depth]!;
    return {
      x: column.x - seen.x,
      y: margin + node.row * rowHeight - seen.y + 2,
      width: column.width,
      height: rowHeight - 6,
    };
  }

  private edge(painter: Painter, seen: Seen, place: number, style: Parameters<Painter['link']>[2]): void {
    const from = this.box(this.nodes[place]!.up, seen);
    const to = this.box(place, seen);
    painter.link({ x: from.x + from.width, y: from.y + from.height / 2 }, { x: to.x, y: to.y + to.height / 2 }, style);
  }

  private node(painter: Painter, seen: Seen, look: Look, place: number): void {
    const node = this.nodes[place]!;
    const box = this.box(place, seen);
    const { palette } = look;
    painter.fill(box, { fill: palette.background, radius: 4 });
    if (node.final) painter.fill(box, { fill: palette.series[2]!, opacity: 0.22, radius: 4 });
    painter.frame(box, {
      stroke: node.final ? palette.series[2]! : node.kept ? palette.series[0]! : palette.muted,
      width: node.final ? 1.5 : 1,
      opacity: node.kept || node.final ? 1 : 0.6,
      dashed: !node.kept && !node.final,
    });
    const fill = node.kept || node.final ? palette.text : palette.muted;
    painter.text(box.x + box.width / 2, box.y + 10, this.shown(node), {
      fill,
      align: 'center',
      bold: node.kept || node.final,
    });
    painter.text(box.x + box.width / 2, box.y + 22, scoreText(node.score, 2), {
      ...scoreFont,
      fill: palette.muted,
      align: 'center',
    });
  }
}
