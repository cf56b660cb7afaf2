// How a token is shown: spaces and line ends are visible, a mark that combines has something to stand on, a long token is
// cut between characters as people see them. Lengths are counted in such characters here, never in code units: one family
// of emoji is a single character of 11 units.
import { textWidth, type Font } from './painter.ts';

const controls: Record<string, string> = { ' ': '␣', '\n': '⏎', '\r': '␍', '\t': '⇥', '\u00a0': '⍽', '\u3000': '□' };

const longestLabel = 40; // characters
const longestSaid = 200;
// Code points of one character, and marks on one letter. No script and no emoji needs as many; a stack of marks that goes
// on and on is cut, as it would cover the labels above and below it.
const mostCodePoints = 16;
const stack = /(\p{M}{5})\p{M}+/gu;

// Intl.Segmenter is in every browser of today; without it, code points are nearly as good.
const segmenter =
  typeof Intl !== 'undefined' && 'Segmenter' in Intl
    ? new Intl.Segmenter(undefined, { granularity: 'grapheme' })
    : null;

function* charactersOf(text: string): Generator<string> {
  if (!segmenter) yield* text;
  else for (const { segment } of segmenter.segment(text)) yield segment;
}

export function graphemes(text: string): string[] {
  return Array.from(charactersOf(text));
}

function withoutStack(character: string): string {
  if (character.length <= 2) return character;
  const points = Array.from(character.slice(0, 2 * mostCodePoints)).slice(0, mostCodePoints);
  return points.join('').replace(stack, '$1');
}

// The first characters of a text, which may be very long, and whether there are more.
function beginning(text: string, count: number): { characters: string[]; more: boolean } {
  const characters: string[] = [];
  for (const character of charactersOf(text)) {
    if (characters.length === count) return { characters, more: true };
    characters.push(withoutStack(character));
  }
  return { characters, more: false };
}

export function shownToken(token: string): string {
  if (token === '') return '∅';
  const visible = token.replace(/[ \n\r\t\u00a0\u3000]/g, (space) => controls[space]!);
  return /^\p{M}/u.test(visible) ? '◌' + visible : visible;
}

// At most `count` characters, the last of them an ellipsis where some were cut.
export function shortened(text: string, count: number): string {
  const { characters, more } = beginning(text, count);
  if (!more) return characters.join('');
  return count > 0 ? characters.slice(0, -1).join('') + '…' : '';
}

// As a sentence says it.
export function saidToken(token: string): string {
  return shortened(shownToken(token), longestSaid);
}

// As much of a text as is no wider than `room`, with an ellipsis where something was cut; empty where not even that fits.
export function fittedText(text: string, room: number, font: Font = {}): string {
  const { characters, more } = beginning(text, longestLabel);
  const whole = more ? shortened(text, longestLabel) : characters.join('');
  if (textWidth(whole, font) <= room) return whole;
  // Halving ends also where a longer text is narrower, as in scripts whose letters join.
  let best = '';
  for (let low = 0, high = characters.length - 1; low <= high;) {
    const middle = (low + high) >> 1;
    const candidate = characters.slice(0, middle).join('') + '…';
    if (textWidth(candidate, font) <= room) {
      best = candidate;
      low = middle + 1;
    } else {
      high = middle - 1;
    }
  }
  return best;
}

// The same for a token, as it is shown.
export function fitted(token: string, room: number, font: Font = {}): string {
  return fittedText(shownToken(token), room, font);
}

// How wide the widest of these labels is if none is cut to fit.
export function widestLabel(tokens: readonly string[]): number {
  let widest = 0;
  for (const token of tokens.slice(0, 2000))
    widest = Math.max(widest, textWidth(shortened(shownToken(token), longestLabel)));
  return widest;
}
