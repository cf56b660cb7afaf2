// How a token is shown: spaces and line ends are visible, a mark that combines has something to stand on, a long token is
// cut between characters as people see them.

const controls: Record<string, string> = { ' ': '␣', '\n': '⏎', '\r': '␍', '\t': '⇥', '\u00a0': '⍽', '\u3000': '□' };

// Intl.Segmenter is in every browser of today; without it, code points are nearly as good.
const segmenter =
  typeof Intl !== 'undefined' && 'Segmenter' in Intl
    ? new Intl.Segmenter(undefined, { granularity: 'grapheme' })
    : null;

export function graphemes(text: string): string[] {
  return segmenter ? Array.from(segmenter.segment(text), (part) => part.segment) : Array.from(text);
}

export function shownToken(token: string): string {
  if (token === '') return '∅';
  const visible = token.replace(/[ \n\r\t\u00a0\u3000]/g, (space) => controls[space]!);
  return /^\p{M}/u.test(visible) ? '◌' + visible : visible;
}

// At most `count` characters, the last of them an ellipsis where some were cut.
export function shortened(text: string, count: number): string {
  if (text.length <= count) return text;
  const parts = graphemes(text);
  return parts.length <= count ? text : parts.slice(0, Math.max(1, count - 1)).join('') + '…';
}
