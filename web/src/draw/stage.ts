// Shows a drawing: two canvases as large as the window on it, one for the drawing and one for the cursor above it, so that
// pointing at things repaints almost nothing; scroll bars of the browser; pointer, keys, and words for screen readers.
import { h } from '../dom.ts';
import { CanvasPainter } from './canvas_painter.ts';
import { palettes, type Theme } from './colour.ts';
import type { Cursor, Drawing, Look, Seen } from './drawing.ts';

export interface StageEvents {
  pointed(cursor: Cursor | null): void; // under the pointer, or moved there by keys
  chosen(cursor: Cursor): void; // clicked, or Enter
}

export class Stage {
  readonly element: HTMLElement;
  private readonly window: HTMLElement;
  private readonly sizer = h('div', { class: 'stage-sizer' });
  private readonly base = h('canvas', { 'aria-hidden': 'true' });
  private readonly top = h('canvas', { 'aria-hidden': 'true', class: 'stage-cursor' });
  private readonly tip = h('div', { class: 'tip', hidden: true });
  private readonly spoken = h('div', { class: 'spoken', role: 'status', 'aria-live': 'polite' });
  private readonly watcher: ResizeObserver;
  private look: Look;
  private cursor: Cursor | null = null; // under the pointer or the keys
  private kept: Cursor | null = null; // chosen: shown while the pointer is elsewhere
  private pending = 0;
  private basePending = false;
  private height = 0;

  constructor(
    private drawing: Drawing,
    theme: Theme,
    private readonly events: StageEvents,
  ) {
    this.look = { theme, palette: palettes[theme] };
    const layers = h('div', { class: 'stage-layers' }, this.base, this.top);
    this.window = h(
      'div',
      { class: 'stage-window', tabindex: 0, role: 'application', 'data-focus': 'stage' },
      layers,
      this.sizer,
    );
    this.element = h('div', { class: 'stage' }, this.window, this.tip, this.spoken);
    this.window.addEventListener('scroll', () => this.repaint(), { passive: true });
    this.window.addEventListener('pointermove', (event) => this.point(event));
    this.window.addEventListener('pointerleave', () => this.setPointed(null));
    this.window.addEventListener('click', (event) => {
      this.point(event);
      this.choose();
    });
    this.window.addEventListener('keydown', (event) => this.press(event));
    this.window.addEventListener('blur', () => (this.tip.hidden = true));
    this.watcher = new ResizeObserver(() => this.relayout());
    this.watcher.observe(this.element);
    this.show(drawing);
    // What the stage stands in may grow without the stage itself, which is no wider than its drawing.
    queueMicrotask(() => this.element.parentElement && this.watcher.observe(this.element.parentElement));
  }

  show(drawing: Drawing): void {
    this.drawing = drawing;
    this.window.setAttribute('aria-label', `${drawing.label}. ${drawing.hint}`);
    this.relayout();
  }

  // A cell that was chosen earlier: by a link, in another view.
  keep(cursor: Cursor): void {
    this.kept = cursor;
    this.repaint(false);
  }

  stop(): void {
    this.watcher.disconnect();
    cancelAnimationFrame(this.pending);
  }

  private seen(): Seen {
    return { x: this.window.scrollLeft, y: this.window.scrollTop, width: this.window.clientWidth, height: this.height };
  }

  private relayout(): void {
    // As wide as the drawing, so that what stands beside it is near; measured without that limit, which the last drawing set.
    this.element.style.maxWidth = 'none';
    const width = this.element.clientWidth;
    if (width === 0) return;
    const most = Math.max(280, Math.round(window.innerHeight * 0.72));
    const size = this.drawing.layout(width, most);
    const scrolls = size.width > width + 1;
    this.height = Math.min(most, Math.ceil(size.height)) - (size.height > most && scrolls ? 14 : 0);
    this.window.style.height = `${this.height + (scrolls ? 14 : 0)}px`;
    const bar = size.height > most ? 16 : 0; // room for the scroll bar
    this.element.style.maxWidth = `${Math.ceil(size.width) + bar}px`;
    this.sizer.style.width = `${Math.floor(size.width)}px`;
    this.sizer.style.height = `${Math.floor(size.height)}px`;
    this.paintNow();
  }

  private repaint(base = true): void {
    this.basePending ||= base;
    if (this.pending === 0) this.pending = requestAnimationFrame(() => this.paintPending());
  }

  private paintPending(): void {
    this.pending = 0;
    const seen = this.seen();
    if (this.basePending) this.paintOn(this.base, seen, (painter) => this.drawing.paint(painter, seen, this.look));
    this.basePending = false;
    this.paintOn(this.top, seen, (painter) => {
      const shown = this.cursor ?? this.kept;
      if (shown) this.drawing.paintCursor(painter, seen, this.look, shown);
    });
  }

  // Without waiting for the next frame: the first picture is there as soon as the weights are.
  private paintNow(): void {
    cancelAnimationFrame(this.pending);
    this.basePending = true;
    this.paintPending();
  }

  private paintOn(canvas: HTMLCanvasElement, seen: Seen, paint: (painter: CanvasPainter) => void): void {
    const ratio = window.devicePixelRatio || 1;
    const [width, height] = [Math.round(seen.width * ratio), Math.round(seen.height * ratio)];
    if (canvas.width !== width || canvas.height !== height) {
      canvas.width = width;
      canvas.height = height;
      canvas.style.width = `${seen.width}px`;
      canvas.style.height = `${seen.height}px`;
    }
    const context = canvas.getContext('2d')!;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, seen.width, seen.height);
    paint(new CanvasPainter(context));
  }

  private point(event: MouseEvent): void {
    const box = this.base.getBoundingClientRect();
    this.setPointed(this.drawing.at(event.clientX - box.left, event.clientY - box.top, this.seen()));
  }

  private setPointed(cursor: Cursor | null): void {
    if (cursor?.row === this.cursor?.row && cursor?.col === this.cursor?.col && this.tip.hidden === !cursor) return;
    this.cursor = cursor;
    this.repaint(false);
    this.showTip();
    this.events.pointed(cursor);
  }

  private choose(): void {
    if (!this.cursor) return;
    this.kept = this.cursor;
    this.events.chosen(this.cursor);
  }

  private press(event: KeyboardEvent): void {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.key === 'Enter' && this.cursor) {
      this.choose();
      event.preventDefault();
      return;
    }
    const moved = this.drawing.move(this.cursor ?? this.kept, event.key);
    if (!moved) return;
    event.preventDefault();
    event.stopPropagation();
    this.cursor = moved;
    this.scrollTo(moved);
    this.repaint(false);
    this.showTip();
    this.spoken.textContent = this.drawing.words(moved);
    this.events.pointed(moved);
  }

  private scrollTo(cursor: Cursor): void {
    const place = this.drawing.place(cursor);
    const seen = this.seen();
    const first = this.drawing.place({ row: 0, col: 0 }); // what stands before the first cell stays in view
    const nearest = (from: number, size: number, start: number, shown: number, before: number) =>
      from - before < start ? from - before : from + size > start + shown ? from + size - shown : start;
    this.window.scrollTo(
      nearest(place.x, place.width, seen.x, seen.width, first.x),
      nearest(place.y, place.height, seen.y, seen.height, first.y),
    );
  }

  private showTip(): void {
    this.tip.hidden = !this.cursor;
    if (!this.cursor) return;
    this.tip.textContent = this.drawing.words(this.cursor);
    const place = this.drawing.place(this.cursor);
    const seen = this.seen();
    const left = place.x - seen.x + place.width + 10;
    const width = this.tip.offsetWidth;
    const fits = left + width < seen.width;
    const beside = fits ? left : Math.max(0, place.x - seen.x - width - 10);
    const below = Math.min(seen.height - this.tip.offsetHeight, place.y - seen.y + place.height + 8);
    this.tip.style.transform = `translate(${Math.round(beside)}px, ${Math.round(Math.max(0, below))}px)`;
  }
}
