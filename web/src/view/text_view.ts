// A text whose words and sentences are shaded by their weights: the bar before a sentence is the sentence's weight.
import type { NestedText, Sentence } from '../document/types.ts';
import { h } from '../dom.ts';
import { colour, textOn, type Theme } from '../draw/colour.ts';
import { weightText } from '../draw/heat.ts';
import type { Look } from '../draw/drawing.ts';
import { textWidth } from '../draw/painter.ts';
import { shownToken } from '../draw/token.ts';
import { paintedSvg } from '../page/files.ts';
import type { View, ViewContext } from './view.ts';

const lineHeight = 24;
const textSize = 14;

function strongest(weights: number[]): number {
  return weights.reduce((most, weight) => Math.max(most, Math.abs(weight)), 0) || 1;
}

// What the shades are parts of: the strongest sentence, and the strongest word of each sentence.
function shades(text: NestedText) {
  const sentence = strongest(text.sentences.map((one) => one.weight));
  const words = text.sentences.map((one) => strongest(one.words.map((word) => word.weight)));
  return { sentence, words };
}

function sentenceElement(
  sentence: Sentence,
  number: number,
  most: { sentence: number; word: number },
  theme: Theme,
): HTMLElement {
  const strength = sentence.weight / most.sentence;
  const bar = h('span', { class: 'sentence-weight', 'aria-hidden': 'true' }, sentence.weight.toFixed(2));
  bar.style.background = colour(theme, strength);
  bar.style.color = textOn(theme, strength);
  const line = h('p', { dir: 'auto' });
  for (const word of sentence.words) {
    const part = word.weight / most.word;
    const span = h(
      'span',
      {
        class: 'word',
        'data-weight': weightText(word.weight),
        title: `${shownToken(word.text)}: ${weightText(word.weight)}`,
      },
      word.text,
    );
    span.style.background = colour(theme, part);
    span.style.color = textOn(theme, part);
    line.append(span, word.space === false ? '' : ' ');
  }
  return h('li', { 'aria-label': `Sentence ${number + 1}, weight ${weightText(sentence.weight)}` }, bar, line);
}

function svgOf(text: NestedText, look: Look): string {
  const { sentence: mostSentence, words: mostWord } = shades(text);
  const [left, width] = [64, 900];
  const boxes: { x: number; y: number; width: number; text: string; strength: number }[] = [];
  let y = 8;
  text.sentences.forEach((sentence, i) => {
    boxes.push({ x: 8, y, width: 42, text: sentence.weight.toFixed(2), strength: sentence.weight / mostSentence });
    let x = left;
    for (const word of sentence.words) {
      const size = textWidth(word.text, { size: textSize });
      if (x + size > width && x > left) [x, y] = [left, y + lineHeight];
      boxes.push({ x, y, width: size, text: word.text, strength: word.weight / mostWord[i]! });
      x += size + (word.space === false ? 0 : 5);
    }
    y += lineHeight + 6;
  });
  return paintedSvg({ width: width + 16, height: y + 4 }, 'Words and sentences', look, (painter) => {
    for (const box of boxes) {
      painter.fill(
        { x: box.x - 1, y: box.y, width: box.width + 2, height: lineHeight - 3 },
        { fill: colour(look.theme, box.strength), radius: 2 },
      );
      painter.text(box.x + box.width / 2, box.y + lineHeight / 2 - 1, box.text, {
        fill: textOn(look.theme, box.strength),
        size: textSize,
        align: 'center',
      });
    }
  });
}

export function textView(context: ViewContext): View {
  const text = context.example!.text!;
  const most = shades(text);
  const sentences = text.sentences.map((sentence, i) =>
    sentenceElement(sentence, i, { sentence: most.sentence, word: most.words[i]! }, context.theme),
  );
  const hint = h(
    'p',
    { class: 'quiet' },
    'The number before a sentence is its weight. A word is shaded by its weight within its sentence; point at it for the number.',
  );
  const words = text.sentences.flatMap((sentence, i) =>
    sentence.words.map((word) => [i + 1, sentence.weight, word.text, word.weight]),
  );
  const table = h(
    'table',
    {},
    h('thead', {}, h('tr', {}, ...['sentence', 'word', 'weight'].map((name) => h('th', { scope: 'col' }, name)))),
  );
  const details = h(
    'details',
    { class: 'as-text' },
    h('summary', {}, 'Read as text: the strongest words of each sentence'),
    table,
  );
  const body = h('tbody');
  text.sentences.forEach((sentence, i) => {
    for (const word of [...sentence.words].sort((a, b) => b.weight - a.weight).slice(0, 5))
      body.append(
        h(
          'tr',
          {},
          h('td', {}, String(i + 1)),
          h('td', {}, h('bdi', {}, word.text)),
          h('td', {}, weightText(word.weight)),
        ),
      );
  });
  table.append(body);
  return {
    element: h('div', {}, hint, h('ol', { class: 'sentences' }, ...sentences), details),
    savable: {
      name: 'text',
      svg: (look) => svgOf(text, look),
      table: () => [['sentence', 'sentence weight', 'word', 'weight'], ...words],
      json: () => text,
    },
  };
}
