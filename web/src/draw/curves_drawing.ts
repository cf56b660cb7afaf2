// Training curves: one measure of all runs over the steps.
import type { TrainingPoint, TrainingRun } from '../document/types.ts';
import type { Cursor, Drawing, Look, Seen } from './drawing.ts';
import { textWidth, type Painter } from './painter.ts';

export type Measure = 'loss' | 'valid_loss' | 'metric';
export const measureWords: Record<Measure, string> = {
  loss: 'loss while training',
  valid_loss: 'loss on validation data',
  metric: 'metric on validation data',
};

const margin = { right: 16, top: 14, bottom: 34 };
const leastLeft = 56; // more where the numbers are long
const numbers = { size: 11 };
const tickCount = 5;

interface Point {
  step: number;
  value: number;
}

// Round numbers (1, 2 or 5 times a power of ten) that cut the range into about `count` parts.
export function ticks(from: number, to: number, count: number): number[] {
  if (!(to > from)) return [from];
  const rough = to / Math.max(1, count) - from / Math.max(1, count); // the whole range may be larger than any number
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].find((factor) => factor * power >= rough)! * power;
  const first = Math.ceil(from / step - 1e-9);
  const found: number[] = [];
  // Counted, because numbers may be so large that adding one step to them changes nothing.
  for (let i = 0; i <= count + 1; ++i) {
    const value = (first + i) * step || 0; // not -0
    if (!Number.isFinite(value) || !(value <= to + step * 1e-9)) break;
    if (value >= from - step * 1e-9 && (found.length === 0 || value > found.at(-1)!)) found.push(value);
  }
  return found;
}

export function shortNumber(value: number): string {
  if (Math.abs(value) >= 1e9) return value.toExponential(2);
  if (Math.abs(value) >= 1e6) return `${+(value / 1e6).toFixed(2)}M`;
  if (Math.abs(value) >= 1e4) return `${+(value / 1e3).toFixed(1)}k`;
  return String(+value.toPrecision(4));
}

// Where a value lies between two others, from 0 to 1. By halves, because a difference may be larger than any number.
function partOf(from: number, to: number, value: number): number {
  const range = to / 2 - from / 2;
  return range > 0 ? (value / 2 - from / 2) / range : 0;
}

export function pointsOf(run: TrainingRun, measure: Measure): Point[] {
  const known = (point: TrainingPoint): Point | null =>
    point[measure] == null ? null : { step: point.step, value: point[measure] };
  return run.points.map(known).filter((point): point is Point => point !== null);
}

// Cursor: the row is a run, the column one of its points.
export class CurvesDrawing implements Drawing {
  readonly label: string;
  readonly hint = 'Left and right arrow keys move along a run, up and down from run to run';
  private readonly runs: { name: string; points: Point[] }[];
  private readonly range = { fromStep: 0, toStep: 1, least: 0, most: 1 };
  private left = leastLeft;
  private width = 0;
  private height = 0;

  constructor(runs: TrainingRun[], measure: Measure) {
    this.runs = runs.map((run) => ({ name: run.name, points: pointsOf(run, measure) }));
    this.label = `${measureWords[measure]} of ${runs.length} ${runs.length === 1 ? 'run' : 'runs'}`;
    const all = this.runs.flatMap((run) => run.points);
    if (all.length === 0) return;
    const extent = (values: number[]) =>
      values.reduce(([low, high], value) => [Math.min(low!, value), Math.max(high!, value)], [Infinity, -Infinity]);
    [this.range.fromStep, this.range.toStep] = extent(all.map((point) => point.step)) as [number, number];
    const [low, high] = extent(all.map((point) => point.value)) as [number, number];
    const space = (high - low) * 0.05 || Math.abs(high) * 0.1 || 1;
    const limited = (value: number) => Math.max(-Number.MAX_VALUE, Math.min(Number.MAX_VALUE, value));
    this.range.least = limited(low >= 0 ? Math.max(0, low - space) : low - space);
    this.range.most = limited(high + space);
  }

  layout(width: number, height: number): { width: number; height: number } {
    this.width = width;
    this.height = Math.min(380, height, Math.max(220, width * 0.5));
    const widest = Math.max(...this.levels().map((level) => textWidth(shortNumber(level), numbers)), 0);
    this.left = Math.max(leastLeft, Math.ceil(widest) + 12);
    return { width: this.width, height: this.height };
  }

  paint(painter: Painter, _seen: Seen, look: Look): void {
    if (this.plot().width <= 0 || this.plot().height <= 0) return; // no room
    const { palette } = look;
    const { left } = this;
    const muted = { fill: palette.muted, ...numbers };
    const right = this.width - margin.right;
    const bottom = this.height - margin.bottom;
    for (const value of this.levels()) {
      const y = this.y(value);
      painter.path([left, y, right, y], { stroke: palette.line });
      painter.text(left - 8, y, shortNumber(value), { ...muted, align: 'right' });
    }
    for (const step of ticks(this.range.fromStep, this.range.toStep, Math.max(2, Math.floor(this.width / 110)))) {
      painter.path([this.x(step), bottom, this.x(step), bottom + 4], { stroke: palette.muted });
      const half = textWidth(shortNumber(step), numbers) / 2;
      const middle = Math.max(half, Math.min(this.width - half, this.x(step)));
      painter.text(middle, bottom + 13, shortNumber(step), { ...muted, align: 'center' });
    }
    painter.text((left + right) / 2, this.height - 8, 'step', { ...muted, align: 'center' });
    this.runs.forEach((run, index) => {
      const points = run.points.flatMap((point) => [this.x(point.step), this.y(point.value)]);
      if (run.points.length === 1)
        painter.fill(
          { x: points[0]! - 3, y: points[1]! - 3, width: 6, height: 6 },
          { fill: this.colour(look, index), radius: 3 },
        );
      else
        painter.path(points, { stroke: this.colour(look, index), width: 1.75, dashed: index >= palette.series.length });
    });
  }

  paintCursor(painter: Painter, _seen: Seen, look: Look, cursor: Cursor): void {
    const point = this.runs[cursor.row]?.points[cursor.col];
    if (!point || this.plot().width <= 0 || this.plot().height <= 0) return;
    const x = this.x(point.step);
    painter.path([x, margin.top, x, this.height - margin.bottom], { stroke: look.palette.accent, opacity: 0.4 });
    painter.fill(
      { x: x - 4, y: this.y(point.value) - 4, width: 8, height: 8 },
      { fill: look.palette.accent, radius: 4 },
    );
  }

  at(x: number, y: number): Cursor | null {
    let best: { cursor: Cursor; distance: number } | null = null;
    this.runs.forEach((run, row) =>
      run.points.forEach((point, col) => {
        const distance = Math.abs(this.x(point.step) - x) * 4 + Math.abs(this.y(point.value) - y);
        if (!best || distance < best.distance) best = { cursor: { row, col }, distance };
      }),
    );
    return (best as { cursor: Cursor } | null)?.cursor ?? null;
  }

  move(cursor: Cursor | null, key: string): Cursor | null {
    if (!/^(Arrow|Home|End)/.test(key) || this.runs.length === 0) return null;
    if (!cursor) return { row: 0, col: 0 };
    const step = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity }[key] ?? 0;
    const row = Math.max(
      0,
      Math.min(this.runs.length - 1, cursor.row + (key === 'ArrowDown' ? 1 : key === 'ArrowUp' ? -1 : 0)),
    );
    return { row, col: Math.max(0, Math.min(this.runs[row]!.points.length - 1, cursor.col + step)) };
  }

  place(cursor: Cursor) {
    const point = this.runs[cursor.row]?.points[cursor.col] ?? { step: this.range.fromStep, value: this.range.most };
    return { x: this.x(point.step) - 4, y: this.y(point.value) - 4, width: 8, height: 8 };
  }

  words(cursor: Cursor): string {
    const run = this.runs[cursor.row];
    const point = run?.points[cursor.col];
    return run && point ? `${run.name}, step ${point.step}: ${+point.value.toPrecision(5)}` : '';
  }

  colour(look: Look, run: number): string {
    return look.palette.series[run % look.palette.series.length]!;
  }

  private levels(): number[] {
    return ticks(this.range.least, this.range.most, tickCount);
  }

  // What is left for the curves.
  private plot(): { width: number; height: number } {
    return { width: this.width - this.left - margin.right, height: this.height - margin.top - margin.bottom };
  }

  private x(step: number): number {
    return this.left + partOf(this.range.fromStep, this.range.toStep, step) * this.plot().width;
  }
  private y(value: number): number {
    return this.height - margin.bottom - partOf(this.range.least, this.range.most, value) * this.plot().height;
  }
}
