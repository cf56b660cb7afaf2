import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { documentOfLog } from '../../src/document/log.ts';
import { matrixOf } from '../../src/document/weights.ts';
import { merged } from '../../src/document/merge.ts';
import {
  base64Bytes,
  InvalidDocument,
  parseDocument,
  validate,
  validateTraining,
} from '../../src/document/validate.ts';
import { smallDocument } from '../documents.ts';

type Loose = any; // documents are changed in ways that types forbid

function reasonsFor(change: (document: Loose) => void): string[] {
  const document: Loose = smallDocument();
  change(document);
  try {
    validate(document);
  } catch (error) {
    assert.ok(error instanceof InvalidDocument);
    return error.reasons;
  }
  assert.fail('the document was accepted');
}

test('documents of the tests are valid, also after JSON', () => {
  assert.equal(parseDocument(JSON.stringify(smallDocument())).examples.length, 4);
});

const broken: [string, (document: Loose) => void, RegExp][] = [
  ['another format', (d) => (d.format = 'x'), /^format: expected "heed.attention", got "x"$/],
  ['a newer version', (d) => (d.version = 2), /^version: expected 1/],
  ['no models', (d) => delete d.models, /^models: expected a list, got nothing$/],
  [
    'a model that is not there',
    (d) => (d.examples[0].model = 3),
    /^examples\[0\].model: expected a whole number from 0 to 2, got 3$/,
  ],
  [
    'a token that is no text',
    (d) => (d.examples[0].sequences.source.tokens[1] = 7),
    /tokens\[1\]: expected a text, got 7$/,
  ],
  [
    'a sequence that is not there',
    (d) => (d.examples[0].maps[0].keys = 'soruce'),
    /maps\[0\].keys: expected one of the sequences \(source, target, target_in\), got "soruce"$/,
  ],
  [
    'too many rows',
    (d) => (d.examples[0].maps[1].rows = 11),
    /maps\[1\].rows: expected 10, the number of tokens of "source", got 11$/,
  ],
  [
    'no heads',
    (d) => (d.examples[0].maps[1].heads = 0),
    /maps\[1\].heads: expected a whole number, at least 1, got 0$/,
  ],
  [
    'too few bytes',
    (d) => (d.examples[0].maps[2].weights.data = 'AAAA'),
    /maps\[2\].weights.data: expected base64 of 400 bytes \(4 heads x 10 rows x 10 columns\), got 3 bytes$/,
  ],
  ['no base64', (d) => (d.examples[0].maps[2].weights.data = 'AAA'), /got a text that is no base64$/],
  [
    'another encoding',
    (d) => (d.examples[0].maps[2].weights.encoding = 'u16'),
    /encoding: expected "sqrt_u8" or "f32", got "u16"$/,
  ],
  [
    'weights of a search tree without their keys',
    (d) => delete d.examples[0].beam.keys,
    /beam.keys: expected a text, got nothing$/,
  ],
  [
    'keys of a search tree without weights',
    (d) => delete d.examples[0].beam.weights,
    /beam.weights: expected an object, got nothing$/,
  ],
  [
    'keys of a search tree that are no sequence',
    (d) => (d.examples[0].beam.keys = 'nothing'),
    /beam.keys: expected one of the sequences \(source, target, target_in\), got "nothing"$/,
  ],
  [
    'a rank that is none',
    (d) => (d.examples[0].beam.nodes[10].rank = 0),
    /beam.nodes\[10\].rank: expected a whole number, at least 1, got 0$/,
  ],
  [
    'too few weights of a search tree',
    (d) => d.examples[0].beam.nodes.pop(),
    /beam.weights.data: expected base64 of 110 bytes \(11 nodes x 10 keys\), got 120 bytes$/,
  ],
  [
    'a picture from elsewhere',
    (d) => (d.examples[3].picture.data = 'https://example.org/a.png'),
    /picture.data: expected "data:image\/png/,
  ],
  [
    'a script as a picture',
    (d) => (d.examples[3].picture.data = 'data:image/svg+xml;base64,AAAA'),
    /picture.data: expected/,
  ],
  [
    'a tree with a loop',
    (d) => (d.examples[0].beam.nodes[1].parent = 7),
    /nodes\[1\].parent: expected -1 or the id of an earlier node, got 7$/,
  ],
  [
    'two nodes with one id',
    (d) => (d.examples[0].beam.nodes[2].id = 1),
    /nodes\[2\].id: expected an id that no earlier node has, got 1$/,
  ],
  [
    'a weight that is no number',
    (d) => (d.examples[2].text.sentences[0].words[0].weight = null),
    /words\[0\].weight: expected a number, got null$/,
  ],
  [
    'a row that is too short',
    (d) => d.comparison.rows[1].pop(),
    /comparison.rows\[1\]: expected 4 values, one for each column/,
  ],
  [
    'a best row that is not there',
    (d) => (d.comparison.best = 3),
    /comparison.best: expected a whole number from 0 to 2, got 3$/,
  ],
  [
    'a loss that is a text',
    (d) => (d.training[0].points[3].loss = 'nan'),
    /points\[3\].loss: expected a number, got "nan"$/,
  ],
];
for (const [name, change, expected] of broken)
  test(`refused: ${name}`, () => {
    const reasons = reasonsFor(change);
    assert.match(reasons[0]!, expected);
  });

test('at most five reasons are given', () => {
  assert.equal(reasonsFor((d) => (d.examples = Array.from({ length: 100 }, () => ({})))).length, 5);
});

test('text that is no JSON is said to be none', () => {
  assert.throws(() => parseDocument('{"format":'), /no JSON/);
  assert.throws(() => parseDocument('null'), /the document: expected an object, got null/);
});

test('bytes of base64', () => {
  assert.deepEqual(['', 'AAAA', 'AAA=', 'AA==', 'A', 'AAAAA'].map(base64Bytes), [0, 3, 2, 1, -1, -1]);
});

test('documents are merged: equal models once, examples with the right ones', () => {
  const first = smallDocument();
  const second = { ...smallDocument(), models: [{ name: 'other' }, ...smallDocument().models], title: 'second' };
  second.examples.forEach((example) => (example.model += 1));
  second.examples[0]!.model = 0;
  const both = validate(merged([first, second]));
  assert.equal(both.title, first.title);
  assert.deepEqual(
    both.models.map((model) => model.name),
    ['en-de', 'reviews', 'scenes', 'other'],
  );
  assert.deepEqual(
    both.examples.map((example) => both.models[example.model]!.name),
    ['en-de', 'en-de', 'reviews', 'scenes', 'other', 'en-de', 'reviews', 'scenes'],
  );
  assert.equal(both.training!.length, 4);
});

test('a log of a training run becomes curves; half a line at its end is no harm', () => {
  const lines = [
    '{"event":"started","step":0}',
    '{"event":"step","step":10,"loss":3.5}',
    '{"event":"validated","step":10,"nll":3.1,"metric":{"name":"bleu","value":12.5}}',
    '{"event":"st',
  ];
  const { training } = validate(documentOfLog(lines.join('\n'), 'log.jsonl'));
  assert.deepEqual(training![0]!.points, [
    { step: 10, loss: 3.5 },
    { step: 10, valid_loss: 3.1, metric: 12.5 },
  ]);
  assert.throws(() => documentOfLog([...lines].reverse().join('\n'), 'log.jsonl'), /Line 1 of log.jsonl is no JSON/);
  assert.throws(() => documentOfLog('{}', 'a.jsonl'), /a.jsonl has no line/);
});

test('the example in the documentation is a valid document with the weights that it shows', async () => {
  const page = await readFile('../docs/attention_document.md', 'utf8');
  const document = parseDocument(/```json\n([^]*?)```/.exec(page)![1]!);
  const matrix = matrixOf(document.examples[0]!.maps[0]!, 0);
  [0.9, 0.1, 0.08, 0.92, 0.5, 0.5].forEach((weight, i) => assert.ok(Math.abs(matrix.values[i]! - weight) < 0.005));
  assert.ok(
    page.includes('HEED_ATTENTION_DOCUMENT') &&
      (await readFile('page.html', 'utf8')).includes('HEED_ATTENTION_DOCUMENT'),
  );
});

test('a search tree needs no weights', () => {
  const document: Loose = smallDocument();
  delete document.examples[0].beam.keys;
  delete document.examples[0].beam.weights;
  assert.equal(validate(document), document);
});

test('curves alone are checked like those of a document', () => {
  const runs = smallDocument().training!;
  assert.equal(validateTraining(runs), runs);
  const reasons = (value: unknown) => {
    try {
      validateTraining(value);
      return [];
    } catch (error) {
      return (error as InvalidDocument).reasons;
    }
  };
  assert.deepEqual(reasons(undefined), ['training: expected a list, got nothing']);
  assert.deepEqual(reasons([{ name: 'a', points: [{ step: 'x' }] }]), [
    'training[0].points[0].step: expected a number, got "x"',
  ]);
});
