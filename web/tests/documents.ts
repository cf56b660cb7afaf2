// Documents for the tests: small ones that look like real models, and one as large as the page must bear.
import type { AttentionDocument, AttentionMap, Beam, Example, EncodedWeights } from '../src/document/types.ts';

export function sqrtU8(weights: number[], scale = 1): EncodedWeights {
  const bytes = Uint8Array.from(weights, (weight) => Math.round(255 * Math.sqrt(weight / scale)));
  return { encoding: 'sqrt_u8', scale, data: Buffer.from(bytes).toString('base64') };
}

export function f32(weights: number[]): EncodedWeights {
  return { encoding: 'f32', data: Buffer.from(Float32Array.from(weights).buffer).toString('base64') };
}

// Numbers from 0 to 1, the same in every run.
export function numbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

function softmax(scores: number[]): number[] {
  const most = Math.max(...scores);
  const powers = scores.map((score) => Math.exp(score - most));
  const sum = powers.reduce((a, b) => a + b, 0);
  return powers.map((power) => power / sum);
}

interface MapPlan {
  name: string;
  label: string;
  group: string;
  layer: number;
  queries: string;
  keys: string;
  heads: number;
}

// Each head looks at a place of its own beside the diagonal, more or less sharply.
function map(sequences: Example['sequences'], plan: MapPlan, causal = false): AttentionMap {
  const rows = sequences[plan.queries]!.tokens.length;
  const cols = sequences[plan.keys]!.tokens.length;
  const random = numbers(plan.layer * 31 + plan.name.length);
  const weights: number[] = [];
  for (let head = 0; head < plan.heads; ++head) {
    const shift = ((head * 3 + plan.layer) % 5) - 2;
    const sharp = 0.6 + head * 0.8;
    for (let row = 0; row < rows; ++row) {
      const middle = (row * (cols - 1)) / Math.max(1, rows - 1) + (plan.keys === plan.queries ? shift : shift / 3);
      const scores = Array.from({ length: cols }, (_, col) =>
        causal && col > row ? -30 : -sharp * Math.abs(col - middle) + random(),
      );
      weights.push(...softmax(scores));
    }
  }
  return { ...plan, rows, cols, weights: sqrtU8(weights) };
}

function translation(input: string[], output: string[], more: Partial<Example> = {}): Example {
  const sequences = {
    source: { label: 'source', tokens: [...input, '</s>'] },
    target: { label: 'output', tokens: [...output, '</s>'] },
    target_in: { label: 'output so far', tokens: ['<s>', ...output] },
  };
  const maps: AttentionMap[] = [];
  for (let layer = 0; layer < 2; ++layer)
    maps.push(
      map(sequences, {
        name: `encoder.${layer}.self`,
        label: `encoder layer ${layer + 1}`,
        group: 'encoder self-attention',
        layer,
        queries: 'source',
        keys: 'source',
        heads: 4,
      }),
    );
  for (let layer = 0; layer < 2; ++layer)
    maps.push(
      map(
        sequences,
        {
          name: `decoder.${layer}.self`,
          label: `decoder layer ${layer + 1}`,
          group: 'decoder self-attention',
          layer,
          queries: 'target_in',
          keys: 'target_in',
          heads: 4,
        },
        true,
      ),
    );
  for (let layer = 0; layer < 2; ++layer)
    maps.push(
      map(sequences, {
        name: `decoder.${layer}.cross`,
        label: `decoder layer ${layer + 1}, source`,
        group: 'decoder cross-attention',
        layer,
        queries: 'target',
        keys: 'source',
        heads: 4,
      }),
    );
  return {
    model: 0,
    input: input.join(' '),
    output: output.join(' '),
    log_probability: -2.31,
    sequences,
    maps,
    ...more,
  };
}

const nodes = [
  { id: 0, parent: -1, token: '<s>', score: 0, kept: true, final: false },
  { id: 1, parent: 0, token: 'ein', score: -0.21, kept: true, final: false },
  { id: 2, parent: 0, token: 'der', score: -1.9, kept: true, final: false },
  { id: 3, parent: 0, token: 'hund', score: -4.2, kept: false, final: false },
  { id: 4, parent: 1, token: 'hund', score: -0.6, kept: true, final: false },
  { id: 5, parent: 1, token: 'großer', score: -1.4, kept: true, final: false },
  { id: 6, parent: 2, token: 'hund', score: -3.3, kept: false, final: false },
  { id: 7, parent: 4, token: 'läuft', score: -1.1, kept: true, final: false },
  { id: 8, parent: 4, token: 'rennt', score: -1.3, kept: true, final: false },
  { id: 9, parent: 5, token: 'hund', score: -2.6, kept: false, final: false },
  { id: 10, parent: 7, token: '</s>', score: -1.2, kept: true, final: true },
  { id: 11, parent: 8, token: '</s>', score: -1.5, kept: true, final: true },
];

// The search tree, with what each step looked at in a source of that length: the token of its own place, most of all.
function beamOn(length: number): Beam {
  const depths: number[] = [];
  const weights = nodes.flatMap(({ parent }, place) => {
    const depth = (depths[place] = parent < 0 ? 0 : depths[parent]! + 1);
    if (depth === 0) return Array<number>(length).fill(0);
    return softmax(Array.from({ length }, (_, key) => -1.3 * Math.abs(key - depth + (place % 2) / 2)));
  });
  return { nodes: structuredClone(nodes), keys: 'source', weights: sqrtU8(weights) };
}

// A red square on a grey checkerboard, 64 x 64 pixels.
const png =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAEAAAABACAIAAAAlC+aJAAAAgklEQVR42u3Zuw3AIAwFQGaizrBUqTJDmjRMkHmyAEiRLOUDJ7l0wTU82U5l3Zq1H7VZX+tPAAAAAAAhwF8e2usHuNd/LjlYAAAAowKe+f7igJeTGAAAAGBYgCQGAAAAMA/YzAEAAAC4D1ivAwAAAMwJkMQAAAAA5gFJDAAAADAt4AKzfTiNjEDSHAAAAABJRU5ErkJggg==';

function picture(): Example {
  const sequences = { target: { label: 'answer', tokens: ['a', 'red', 'square', '</s>'] } };
  const cells = { ...sequences, cells: { label: 'cells', tokens: Array.from({ length: 16 }, (_, i) => `${i}`) } };
  return {
    model: 2,
    input: 'scene_12.png: what is there?',
    output: 'a red square',
    sequences,
    maps: [
      map(cells, {
        name: 'decoder.cross',
        label: 'decoder',
        group: 'picture',
        layer: 0,
        queries: 'target',
        keys: 'cells',
        heads: 1,
      }),
    ],
    picture: { data: png, rows: 4, cols: 4 },
  };
}

function review(): Example {
  const sentences = [
    'The plot is thin and slow .',
    'But the actors are wonderful , and I loved every minute of the music !',
    'شاهدته مرتين .',
  ];
  const random = numbers(5);
  return {
    model: 1,
    input: sentences.join(' '),
    output: 'positive',
    reference: 'positive',
    log_probability: -0.08,
    sequences: {},
    maps: [],
    text: {
      sentences: sentences.map((sentence, i) => ({
        weight: [0.14, 0.71, 0.15][i]!,
        words: sentence.split(' ').map((text) => ({
          text,
          weight: /wonderful|loved|thin|مرتين/.test(text) ? 0.35 : random() * 0.06,
          space: true,
        })),
      })),
    },
  };
}

export function smallDocument(): AttentionDocument {
  const points = (start: number, from: number) =>
    Array.from({ length: 40 }, (_, i) => ({
      step: (i + 1) * 50,
      loss: from + start * Math.exp(-i / 9) + 0.02 * Math.sin(i * 3),
      valid_loss: i % 5 === 4 ? from + 0.15 + start * Math.exp(-i / 9) : null,
      metric: i % 5 === 4 ? 100 - 90 * Math.exp(-i / 10) : null,
    }));
  return {
    format: 'heed.attention',
    version: 1,
    title: 'Sentences, a review and a picture',
    models: [
      { name: 'en-de', task: 'seq2seq', kind: 'transformer', about: '2+2 layers of 128, scaled_dot, 4 heads' },
      { name: 'reviews', task: 'classification', kind: 'hierarchical', about: 'GRU of 100, additive' },
      { name: 'scenes', task: 'image', kind: 'rnn', about: 'convolution of 4 x 4 cells, additive' },
    ],
    examples: [
      translation(
        ['A', 'brown', 'dog', 'runs', 'over', 'the', 'green', 'grass', '.'],
        ['Ein', 'brauner', 'Hund', 'läuft', 'über', 'die', 'grüne', 'Wiese', '.'],
        { beam: beamOn(10), reference: 'Ein brauner Hund rennt über die grüne Wiese .' },
      ),
      translation(
        ['الكلب', 'البني', 'يركض', 'בגינה', '。', 'नमस्ते', 'e\u0301te\u0301'],
        ['棕色', '的', '狗', '在', '奔跑', ' ', '\u0301', 'Donaudampfschifffahrtsgesellschaft'],
      ),
      review(),
      picture(),
    ],
    training: [
      { name: 'additive', points: points(4.2, 0.9) },
      { name: 'scaled_dot', points: points(3.6, 1.1) },
    ],
    comparison: {
      columns: ['variant', 'exact match', 'seconds', 'note'],
      rows: [
        ['dot', 98.0, 31.2, 'fast'],
        ['additive', 99.2, 44.9, ''],
        ['local_p', 91.5, null, 'long inputs only'],
      ],
      best: 1,
    },
  };
}

// Tokens whose characters, code points and code units are not equally many: families, marks, other directions, half a
// character; all of them long, over a source of 23 words.
export function oddTokensDocument(): AttentionDocument {
  const family = '👨‍👩‍👧‍👦';
  const words = Array.from({ length: 22 }, (_, i) => `word${i + 1}`);
  const tokens = [
    `Donaudampfschifffahrtsgesellschaft${family}`,
    family.repeat(30),
    `${family}${'W'.repeat(40)}`,
    'e\u0301'.repeat(60),
    'a' + '\u0301'.repeat(500),
    'مرحبا بالعالم '.repeat(9),
    '漢字'.repeat(30),
    `\ud800${'x'.repeat(40)}\udc00`,
    '',
  ];
  const document = smallDocument();
  return { ...document, title: 'Odd tokens', examples: [translation(words, tokens)] };
}

// As large as the page must bear: `layers` maps of `heads` heads on `tokens` x `tokens` weights.
export function largeDocument(layers = 12, heads = 12, tokens = 512): AttentionDocument {
  const words = Array.from({ length: tokens }, (_, i) => `w${i}`);
  const size = tokens * tokens;
  const maps = Array.from({ length: layers }, (_, layer): AttentionMap => {
    const bytes = new Uint8Array(heads * size);
    const random = numbers(layer + 1);
    for (let head = 0; head < heads; ++head)
      for (let row = 0; row < tokens; ++row) {
        const from = head * size + row * tokens;
        for (let step = 0; step <= Math.min(row, 24); ++step)
          bytes[from + row - step] = Math.max(0, 230 - step * (3 + head * 3));
        for (let extra = 0; extra < 6; ++extra)
          bytes[from + Math.floor(random() * (row + 1))] = Math.floor(random() * 160);
      }
    return {
      name: `layer.${layer}.self`,
      label: `layer ${layer + 1}`,
      group: 'self-attention',
      layer,
      queries: 'text',
      keys: 'text',
      heads,
      rows: tokens,
      cols: tokens,
      weights: { encoding: 'sqrt_u8', scale: 1, data: Buffer.from(bytes).toString('base64') },
    };
  });
  const example: Example = {
    model: 0,
    input: `${tokens} tokens`,
    output: '',
    sequences: { text: { label: 'text', tokens: words } },
    maps,
  };
  return { format: 'heed.attention', version: 1, title: 'Large', models: [{ name: 'lm' }], examples: [example] };
}

// The page with a document inside, as programs make it.
export function withDocument(page: string, document: AttentionDocument): string {
  return page.replace('HEED_ATTENTION_DOCUMENT', () => JSON.stringify(document).replaceAll('<', '\\u003c'));
}
