// All layers and heads as small pictures, a row for each map; one opens as a matrix. They are painted a few at a time, so
// that the page answers while many are on their way.
import type { AttentionMap } from '../document/types.ts';
import { byGroup, meanOfHeads, thumbnailOf } from '../document/weights.ts';
import { h } from '../dom.ts';
import { bitmapOf, canvasOf, strengthsOf, type Bitmap } from '../draw/heat.ts';
import { textWidth } from '../draw/painter.ts';
import { paintedSvg } from '../page/files.ts';
import { headWords, mapWords, scalingChoice, wordsInGroup } from './map_tools.ts';
import { mapJson } from './map_view.ts';
import type { View, ViewContext } from './view.ts';

const side = 96; // most pixels of a small picture
const budget = 10; // milliseconds of painting in one frame

function thumbnail(context: ViewContext, map: AttentionMap, head: number): Bitmap {
  const small = thumbnailOf(map, head, side);
  return bitmapOf(
    small,
    strengthsOf(small, { eachRow: context.page.eachRow, showSmall: context.page.showSmall }),
    context.theme,
  );
}

// Runs jobs in order, some in each frame; the returned function stops it.
function inFrames(jobs: (() => void)[]): () => void {
  let next = 0;
  let frame = 0;
  const work = () => {
    const end = performance.now() + budget;
    while (next < jobs.length && performance.now() < end) jobs[next++]!();
    frame = next < jobs.length ? requestAnimationFrame(work) : 0;
  };
  work();
  return () => cancelAnimationFrame(frame);
}

function svgOfAll(context: ViewContext, maps: AttentionMap[]): View['savable']['svg'] {
  return (look) => {
    const [size, gap] = [72, 10];
    const label = Math.max(0, ...maps.map((map) => textWidth(mapWords(map)))) + 20;
    const most = Math.max(1, ...maps.map((map) => map.heads));
    const box = { width: label + most * (size + gap), height: 24 + maps.length * (size + gap) };
    return paintedSvg(box, 'All heads', look, (painter) => {
      for (let head = 0; head < most; ++head)
        painter.text(label + head * (size + gap) + size / 2, 12, `head ${head + 1}`, {
          fill: look.palette.muted,
          size: 11,
          align: 'center',
        });
      maps.forEach((map, row) => {
        const y = 24 + row * (size + gap);
        painter.text(label - 10, y + size / 2, mapWords(map), { fill: look.palette.text, align: 'right' });
        for (let head = 0; head < map.heads; ++head) {
          const rect = { x: label + head * (size + gap), y, width: size, height: size };
          painter.heat(thumbnail({ ...context, theme: look.theme }, map, head), rect);
          painter.frame(rect, { stroke: look.palette.line });
        }
      });
    });
  };
}

// Arrow keys go through the pictures as they stand; Tab enters and leaves the whole set.
function moveFocus(event: KeyboardEvent, rows: HTMLButtonElement[][]): void {
  const row = rows.findIndex((buttons) => buttons.includes(document.activeElement as HTMLButtonElement));
  if (row < 0) return;
  const col = rows[row]!.indexOf(document.activeElement as HTMLButtonElement);
  const steps: Record<string, [number, number]> = {
    ArrowUp: [-1, 0],
    ArrowDown: [1, 0],
    ArrowLeft: [0, -1],
    ArrowRight: [0, 1],
  };
  const step = steps[event.key];
  if (!step) return;
  const buttons = rows[row + step[0]];
  const next = buttons?.[Math.min(buttons.length - 1, col + step[1])];
  event.preventDefault();
  if (!next) return;
  rows.flat().forEach((button) => (button.tabIndex = button === next ? 0 : -1));
  next.focus();
}

export function headsView(context: ViewContext): View {
  const example = context.example!;
  const maps = byGroup(example.maps);
  const jobs: (() => void)[] = [];
  const rows: HTMLButtonElement[][] = [];
  const list = h('div', { class: 'heads' });
  const most = Math.max(...maps.map((map) => map.heads));
  list.style.setProperty('--thumb', `${most <= 4 ? 112 : most <= 8 ? 92 : 74}px`);
  let group: string | undefined;
  for (const map of maps) {
    if (map.group !== group) list.append(h('h2', {}, (group = map.group) ?? ''));
    const buttons = Array.from({ length: map.heads }, (_, head) => {
      const canvas = h('canvas', {
        width: Math.min(side, map.cols),
        height: Math.min(side, map.rows),
        'aria-hidden': 'true',
      });
      jobs.push(() => canvas.getContext('2d')!.drawImage(canvasOf(thumbnail(context, map, head)), 0, 0));
      const open = () => {
        context.changePanel({ map: map.name, head: map.heads > 1 ? head : meanOfHeads });
        context.changePage({ view: 'matrix' });
      };
      const chosen = context.panel.map === map.name && context.panel.head === head;
      return h(
        'button',
        {
          type: 'button',
          class: 'thumb',
          title: `${headWords(map, head)}`,
          tabindex: -1,
          'aria-label': `Open ${headWords(map, head)}`,
          'aria-current': chosen ? 'true' : null,
          onclick: open,
        },
        canvas,
        map.heads > 1 && h('span', { 'aria-hidden': 'true' }, String(head + 1)),
      );
    });
    rows.push(buttons);
    list.append(
      h(
        'div',
        { class: 'heads-row', role: 'group', 'aria-label': mapWords(map) },
        h('span', { class: 'heads-label', 'aria-hidden': 'true' }, wordsInGroup(map)),
        h('div', { class: 'thumbs' }, ...buttons),
      ),
    );
  }
  const all = rows.flat();
  (all.find((button) => button.hasAttribute('aria-current')) ?? all[0])?.setAttribute('tabindex', '0');
  list.addEventListener('keydown', (event) => moveFocus(event, rows));
  const stop = inFrames(jobs);
  const hint = h(
    'p',
    { class: 'quiet' },
    'Rows are queries, columns are keys. Click one to open it; arrow keys and Enter do the same.',
  );
  const element = h('div', {}, h('div', { class: 'tools' }, ...scalingChoice(context), hint), list);
  const savable = {
    name: 'all_heads',
    svg: svgOfAll(context, maps),
    table: () => [
      ['map', 'head', 'queries', 'keys'],
      ...maps.flatMap((map) =>
        Array.from({ length: map.heads }, (_, head) => [map.name, head + 1, map.rows, map.cols]),
      ),
    ],
    json: () => maps.flatMap((map) => Array.from({ length: map.heads }, (_, head) => mapJson(example, map, head))),
  };
  return { element, savable, stop };
}
