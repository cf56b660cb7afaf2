// The strongest keys of one query, with numbers; and the same for all queries as text, for screen readers and for those
// who rather read.
import { strongestKeys, type Matrix } from '../document/weights.ts';
import { h, replaceChildren } from '../dom.ts';
import { weightText } from '../draw/heat.ts';
import { shownToken } from '../draw/token.ts';

const keysShown = 8;

interface Tokens {
  label: string;
  tokens: string[];
}

export class Readout {
  readonly element = h('div', { class: 'readout', role: 'group', 'aria-label': 'Strongest keys' });
  private shown = -2;

  constructor(
    private readonly matrix: Matrix,
    private readonly queries: Tokens,
    private readonly keys: Tokens,
  ) {
    this.show(-1);
  }

  // -1: no query yet.
  show(query: number): void {
    if (query === this.shown) return;
    this.shown = query;
    if (query < 0 || query >= this.matrix.rows) {
      replaceChildren(
        this.element,
        h('p', { class: 'quiet' }, 'Point at a cell, or use the arrow keys, to see what a token looked at.'),
      );
      return;
    }
    const strongest = strongestKeys(this.matrix, query, keysShown);
    const most = Math.abs(strongest[0]?.weight ?? 1);
    const rows = strongest.map(({ index, weight }) => {
      const bar = h('span', { class: weight < 0 ? 'meter negative' : 'meter' });
      bar.style.width = `${(Math.abs(weight) / most) * 100}%`;
      const place = h('span', { class: 'place' }, String(index + 1));
      return h(
        'li',
        {},
        h('bdi', { class: 'token' }, shownToken(this.keys.tokens[index] ?? '')),
        place,
        h('span', { class: 'track' }, bar),
        h('span', { class: 'number' }, weightText(weight)),
      );
    });
    const heading = h(
      'h2',
      {},
      h('bdi', { class: 'token' }, shownToken(this.queries.tokens[query] ?? '')),
      h('span', { class: 'quiet' }, ` ${this.queries.label} ${query + 1}, looked at`),
    );
    const list = rows.length > 0 ? h('ol', {}, ...rows) : h('p', { class: 'quiet' }, 'nothing: all weights are 0');
    replaceChildren(this.element, heading, list);
  }
}

// Made when it is opened: 512 rows are nothing to lay out in advance.
export function textAlternative(matrix: Matrix, queries: Tokens, keys: Tokens): HTMLDetailsElement {
  const details = h(
    'details',
    { class: 'as-text' },
    h('summary', { 'data-focus': 'as-text' }, 'Read as text: the strongest keys of each query'),
  );
  details.addEventListener('toggle', () => {
    if (!details.open || details.querySelector('table')) return;
    const body = h('tbody');
    for (let row = 0; row < matrix.rows; ++row) {
      const cell = h('td');
      strongestKeys(matrix, row, 5).forEach(({ index, weight }, i) =>
        cell.append(i > 0 ? ', ' : '', h('bdi', {}, shownToken(keys.tokens[index] ?? '')), ` ${weightText(weight)}`),
      );
      body.append(h('tr', {}, h('th', { scope: 'row' }, h('bdi', {}, shownToken(queries.tokens[row] ?? ''))), cell));
    }
    const head = h(
      'thead',
      {},
      h(
        'tr',
        {},
        h('th', { scope: 'col' }, queries.label),
        h('th', { scope: 'col' }, `${keys.label}, strongest first`),
      ),
    );
    details.append(h('table', {}, head, body));
  });
  return details;
}
