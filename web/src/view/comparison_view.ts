// The table of heed compare, sorted by any column.
import type { Comparison } from '../document/types.ts';
import { h } from '../dom.ts';
import type { Look } from '../draw/drawing.ts';
import { textWidth } from '../draw/painter.ts';
import { paintedSvg } from '../page/files.ts';
import type { View, ViewContext } from './view.ts';

export interface Order {
  column: number;
  down: boolean; // largest first
}

// Places of the rows in that order: numbers by size, texts by the alphabet, missing values last; equal ones stay as they are.
export function sortedRows(comparison: Comparison, order: Order): number[] {
  const places = comparison.rows.map((_, place) => place);
  return places.sort((a, b) => {
    const [x, y] = [comparison.rows[a]![order.column]!, comparison.rows[b]![order.column]!];
    if (x === null || y === null) return x === y ? a - b : x === null ? 1 : -1;
    const compared = typeof x === 'number' && typeof y === 'number' ? x - y : String(x).localeCompare(String(y));
    return compared === 0 ? a - b : order.down ? -compared : compared;
  });
}

const shown = (value: string | number | null) => (value === null ? '–' : String(value));

function svgOf(comparison: Comparison, rows: number[], look: Look): string {
  const widths = comparison.columns.map(
    (name, col) =>
      24 +
      Math.max(
        textWidth(name, { bold: true }),
        ...comparison.rows.map((row) => textWidth(shown(row[col]!), { bold: true })),
      ),
  );
  const starts = widths.map((_, col) => 8 + widths.slice(0, col).reduce((sum, width) => sum + width, 0));
  const size = { width: starts.at(-1)! + widths.at(-1)! + 8, height: (rows.length + 1) * 24 + 12 };
  return paintedSvg(size, 'Comparison', look, (painter) => {
    const write = (row: number, col: number, text: string, bold: boolean, number: boolean) =>
      painter.text(starts[col]! + (number ? widths[col]! - 12 : 0), row * 24 + 18, text, {
        fill: look.palette.text,
        bold,
        align: number ? 'right' : 'left',
      });
    comparison.columns.forEach((name, col) => write(0, col, name, true, typeof comparison.rows[0]?.[col] === 'number'));
    painter.path([8, 30, size.width - 8, 30], { stroke: look.palette.muted });
    rows.forEach((place, row) =>
      comparison.rows[place]!.forEach((value, col) =>
        write(row + 1, col, shown(value), place === comparison.best, typeof value === 'number'),
      ),
    );
  });
}

export function comparisonView(context: ViewContext): View {
  const comparison = context.document.comparison!;
  let order: Order | null = null;
  const places = () => (order ? sortedRows(comparison, order) : comparison.rows.map((_, place) => place));
  const body = h('tbody');
  const numeric = (col: number) => comparison.rows.some((row) => typeof row[col] === 'number');
  const fill = () =>
    body.replaceChildren(
      ...places().map((place) => {
        const best = place === comparison.best;
        const cells = comparison.rows[place]!.map((value, col) => {
          const text = h('bdi', {}, shown(value));
          if (col > 0) return h('td', { class: numeric(col) ? 'number' : null }, text);
          return h('th', { scope: 'row' }, text, best && h('span', { class: 'badge' }, 'best'));
        });
        return h('tr', { class: best ? 'best' : null }, ...cells);
      }),
    );
  const heads = comparison.columns.map((name, column) => {
    const sort = () => {
      // The first click on numbers puts the largest first, on texts the first of the alphabet.
      order = { column, down: order?.column === column ? !order.down : numeric(column) };
      heads.forEach((head, i) =>
        head.setAttribute('aria-sort', i === column ? (order!.down ? 'descending' : 'ascending') : 'none'),
      );
      fill();
    };
    return h(
      'th',
      { scope: 'col', class: numeric(column) ? 'number' : null, 'aria-sort': 'none' },
      h('button', { type: 'button', onclick: sort }, name),
    );
  });
  fill();
  const table = h('table', { class: 'comparison' }, h('thead', {}, h('tr', {}, ...heads)), body);
  return {
    element: h(
      'div',
      {},
      h('p', { class: 'quiet' }, 'Click the name of a column to sort by it.'),
      h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Table of the comparison' }, table),
    ),
    savable: {
      name: 'comparison',
      svg: (look) => svgOf(comparison, places(), look),
      table: () => [comparison.columns, ...places().map((place) => comparison.rows[place]!)],
      json: () => comparison,
    },
  };
}
