// Checks that a value is an attention document before anything trusts it. Every message names the place and says what
// was expected and what came.
import type { AttentionDocument, TrainingRun } from './types.ts';

const mostMessages = 5;

export class InvalidDocument extends Error {
  constructor(readonly reasons: string[]) {
    super(reasons.join('\n'));
    this.name = 'InvalidDocument';
  }
}

type Fields = Record<string, unknown>;

function shown(value: unknown): string {
  if (value === undefined) return 'nothing';
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 40 ? Array.from(text.slice(0, 80)).slice(0, 40).join('') + '…' : text;
}

class Checker {
  readonly reasons: string[] = [];

  fail(path: string, expected: string, value: unknown): false {
    this.reasons.push(`${path}: expected ${expected}, got ${shown(value)}`);
    return false;
  }
  object(path: string, value: unknown): value is Fields {
    return (
      (typeof value === 'object' && value !== null && !Array.isArray(value)) || this.fail(path, 'an object', value)
    );
  }
  array(path: string, value: unknown): value is unknown[] {
    return Array.isArray(value) || this.fail(path, 'a list', value);
  }
  text(path: string, value: unknown): value is string {
    return typeof value === 'string' || this.fail(path, 'a text', value);
  }
  flag(path: string, value: unknown): value is boolean {
    return typeof value === 'boolean' || this.fail(path, 'true or false', value);
  }
  number(path: string, value: unknown): value is number {
    return (typeof value === 'number' && Number.isFinite(value)) || this.fail(path, 'a number', value);
  }
  whole(path: string, value: unknown, from: number, to = 1e9): value is number {
    const good = typeof value === 'number' && Number.isInteger(value) && value >= from && value <= to;
    return (
      good ||
      this.fail(path, to < 1e9 ? `a whole number from ${from} to ${to}` : `a whole number, at least ${from}`, value)
    );
  }
  // The field may be absent or null; if it is there, it must pass.
  maybe(value: unknown, check: () => unknown): void {
    if (value !== undefined && value !== null) check();
  }
  each(path: string, value: unknown, check: (path: string, item: unknown) => void): value is unknown[] {
    if (!this.array(path, value)) return false;
    for (let i = 0; i < value.length && this.reasons.length < mostMessages; ++i) check(`${path}[${i}]`, value[i]);
    return true;
  }
}

// Bytes that a base64 text of this length holds, or -1 where no text of that length can be base64.
export function base64Bytes(data: string): number {
  if (data.length % 4 !== 0) return -1;
  const padding = data.endsWith('==') ? 2 : data.endsWith('=') ? 1 : 0;
  return (data.length / 4) * 3 - padding;
}

// The product of the sizes is how many weights there must be.
function checkWeights(check: Checker, path: string, weights: unknown, sizes: [number, string][]): void {
  if (!check.object(path, weights) || !check.text(`${path}.data`, weights.data)) return;
  check.maybe(weights.scale, () => check.number(`${path}.scale`, weights.scale));
  const size = weights.encoding === 'sqrt_u8' ? 1 : weights.encoding === 'f32' ? 4 : 0;
  if (size === 0) {
    check.fail(`${path}.encoding`, '"sqrt_u8" or "f32"', weights.encoding);
    return;
  }
  const bytes = base64Bytes(weights.data);
  const wanted = sizes.reduce((product, [count]) => product * count, size);
  if (bytes !== wanted)
    check.reasons.push(
      `${path}.data: expected base64 of ${wanted} bytes (${sizes.map(([count, name]) => `${count} ${name}`).join(' x ')}` +
        `${size === 4 ? ' x 4' : ''}), got ${bytes < 0 ? 'a text that is no base64' : `${bytes} bytes`}`,
    );
}

function checkMap(check: Checker, path: string, map: unknown, lengths: Map<string, number>): void {
  if (!check.object(path, map)) return;
  check.text(`${path}.name`, map.name);
  check.text(`${path}.label`, map.label);
  check.maybe(map.group, () => check.text(`${path}.group`, map.group));
  check.maybe(map.layer, () => check.whole(`${path}.layer`, map.layer, 0));
  const { heads, rows, cols } = map;
  if (
    !check.whole(`${path}.heads`, heads, 1) ||
    !check.whole(`${path}.rows`, rows, 0) ||
    !check.whole(`${path}.cols`, cols, 0)
  )
    return;
  for (const [axis, count] of [
    ['queries', rows],
    ['keys', cols],
  ] as const) {
    const name = map[axis];
    if (!check.text(`${path}.${axis}`, name)) continue;
    const length = lengths.get(name);
    if (length === undefined)
      check.fail(`${path}.${axis}`, `one of the sequences (${[...lengths.keys()].join(', ')})`, name);
    else if (length !== count)
      check.fail(
        `${path}.${axis === 'queries' ? 'rows' : 'cols'}`,
        `${length}, the number of tokens of "${name}"`,
        count,
      );
  }
  checkWeights(check, `${path}.weights`, map.weights, [
    [heads, 'heads'],
    [rows, 'rows'],
    [cols, 'columns'],
  ]);
}

function checkText(check: Checker, path: string, text: unknown): void {
  if (!check.object(path, text)) return;
  check.each(`${path}.sentences`, text.sentences, (at, sentence) => {
    if (!check.object(at, sentence)) return;
    check.number(`${at}.weight`, sentence.weight);
    check.each(`${at}.words`, sentence.words, (wordAt, word) => {
      if (!check.object(wordAt, word)) return;
      check.text(`${wordAt}.text`, word.text);
      check.number(`${wordAt}.weight`, word.weight);
      check.maybe(word.space, () => check.flag(`${wordAt}.space`, word.space));
    });
  });
}

function checkPicture(check: Checker, path: string, picture: unknown): void {
  if (!check.object(path, picture)) return;
  check.whole(`${path}.rows`, picture.rows, 1, 4096);
  check.whole(`${path}.cols`, picture.cols, 1, 4096);
  if (check.text(`${path}.data`, picture.data) && !/^data:image\/(png|jpeg|webp);base64,/.test(picture.data))
    check.fail(`${path}.data`, '"data:image/png;base64,.." (or jpeg, webp)', picture.data);
}

function checkBeam(check: Checker, path: string, beam: unknown, lengths: Map<string, number>): void {
  if (!check.object(path, beam)) return;
  const seen = new Set<number>();
  const good = check.each(`${path}.nodes`, beam.nodes, (at, node) => {
    if (!check.object(at, node) || !check.whole(`${at}.id`, node.id, 0)) return;
    if (seen.has(node.id)) check.fail(`${at}.id`, 'an id that no earlier node has', node.id);
    // A parent comes before its children, so the tree can have no loop.
    if (node.parent !== -1 && !seen.has(node.parent as number))
      check.fail(`${at}.parent`, '-1 or the id of an earlier node', node.parent);
    seen.add(node.id);
    check.text(`${at}.token`, node.token);
    check.number(`${at}.score`, node.score);
    check.flag(`${at}.kept`, node.kept);
    check.flag(`${at}.final`, node.final);
    check.maybe(node.ranked_by, () => check.number(`${at}.ranked_by`, node.ranked_by));
    check.maybe(node.rank, () => check.whole(`${at}.rank`, node.rank, 1));
  });
  check.maybe(beam.weights ?? beam.keys, () => {
    const { keys } = beam;
    if (!good || !check.text(`${path}.keys`, keys)) return;
    const length = lengths.get(keys);
    if (length === undefined)
      check.fail(`${path}.keys`, `one of the sequences (${[...lengths.keys()].join(', ')})`, keys);
    else
      checkWeights(check, `${path}.weights`, beam.weights, [
        [(beam.nodes as unknown[]).length, 'nodes'],
        [length, 'keys'],
      ]);
  });
}

function checkExample(check: Checker, path: string, example: unknown, models: number): void {
  if (!check.object(path, example)) return;
  check.whole(`${path}.model`, example.model, 0, models - 1);
  check.text(`${path}.input`, example.input);
  check.text(`${path}.output`, example.output);
  check.maybe(example.log_probability, () => check.number(`${path}.log_probability`, example.log_probability));
  check.maybe(example.reference, () => check.text(`${path}.reference`, example.reference));
  check.maybe(example.text, () => checkText(check, `${path}.text`, example.text));
  check.maybe(example.picture, () => checkPicture(check, `${path}.picture`, example.picture));

  const lengths = new Map<string, number>();
  const picture = example.picture as { rows: number; cols: number } | undefined;
  if (picture && typeof picture === 'object') lengths.set('cells', picture.rows * picture.cols);
  if (check.object(`${path}.sequences`, example.sequences))
    for (const [name, sequence] of Object.entries(example.sequences)) {
      const at = `${path}.sequences.${name}`;
      if (!check.object(at, sequence)) continue;
      check.text(`${at}.label`, sequence.label);
      if (check.each(`${at}.tokens`, sequence.tokens, (tokenAt, token) => check.text(tokenAt, token)))
        lengths.set(name, sequence.tokens.length);
    }
  check.each(`${path}.maps`, example.maps, (at, map) => checkMap(check, at, map, lengths));
  check.maybe(example.beam, () => checkBeam(check, `${path}.beam`, example.beam, lengths));
}

function checkTraining(check: Checker, training: unknown): void {
  check.each('training', training, (path, run) => {
    if (!check.object(path, run)) return;
    check.text(`${path}.name`, run.name);
    check.each(`${path}.points`, run.points, (at, point) => {
      if (!check.object(at, point)) return;
      check.number(`${at}.step`, point.step);
      for (const field of ['loss', 'valid_loss', 'metric'])
        if (point[field] != null) check.number(`${at}.${field}`, point[field]);
    });
  });
}

function checkComparison(check: Checker, comparison: unknown): void {
  if (!check.object('comparison', comparison)) return;
  const columns = comparison.columns;
  if (!check.each('comparison.columns', columns, (at, column) => check.text(at, column))) return;
  const good = check.each('comparison.rows', comparison.rows, (at, row) => {
    if (!check.array(at, row)) return;
    if (row.length !== columns.length) check.fail(at, `${columns.length} values, one for each column`, row);
    for (const value of row) if (value !== null && typeof value !== 'string') check.number(at, value);
  });
  const rows = good ? (comparison.rows as unknown[]).length : 0;
  check.maybe(comparison.best, () => check.whole('comparison.best', comparison.best, 0, rows - 1));
}

// Returns the value as a document, or throws InvalidDocument with the first reasons.
export function validate(value: unknown): AttentionDocument {
  const check = new Checker();
  if (check.object('the document', value)) {
    if (value.format !== 'heed.attention') check.fail('format', '"heed.attention"', value.format);
    else if (value.version !== 1)
      check.fail('version', '1 (this page is older than the document, or the file is damaged)', value.version);
    else {
      check.maybe(value.title, () => check.text('title', value.title));
      check.each('models', value.models, (path, model) => {
        if (!check.object(path, model)) return;
        check.text(`${path}.name`, model.name);
        for (const field of ['task', 'kind', 'about'])
          check.maybe(model[field], () => check.text(`${path}.${field}`, model[field]));
      });
      const models = Array.isArray(value.models) ? value.models.length : 0;
      check.each('examples', value.examples, (path, example) => checkExample(check, path, example, models));
      check.maybe(value.training, () => checkTraining(check, value.training));
      check.maybe(value.comparison, () => checkComparison(check, value.comparison));
    }
  }
  if (check.reasons.length > 0) throw new InvalidDocument(check.reasons.slice(0, mostMessages));
  return value as AttentionDocument;
}

// The curves alone, as the server sends them while a training goes on.
export function validateTraining(value: unknown): TrainingRun[] {
  const check = new Checker();
  checkTraining(check, value);
  if (check.reasons.length > 0) throw new InvalidDocument(check.reasons.slice(0, mostMessages));
  return value as TrainingRun[];
}

export function parseDocument(text: string): AttentionDocument {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new InvalidDocument([`This is no JSON: ${(error as Error).message}`]);
  }
  return validate(value);
}
