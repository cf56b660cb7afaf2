// Colours that grow steadily lighter or darker with the weight, so that they can be told apart by everyone and in print.
// Zero has the colour of the background; negative weights have a scale of their own (orange against blue).

export type Theme = 'light' | 'dark';
type Rgb = [number, number, number];

export interface Palette {
  background: string;
  text: string;
  muted: string;
  line: string; // between cells, axes
  accent: string; // the cursor, links between tokens
  series: string[]; // curves; they differ in lightness too
}

export const palettes: Record<Theme, Palette> = {
  light: {
    background: '#ffffff',
    text: '#1b1f24',
    muted: '#59636e',
    line: '#e3e6ea',
    accent: '#b3261e',
    series: ['#0b4f9c', '#c2570c', '#2c8f6f', '#8a3ea8', '#6b6b6b'],
  },
  dark: {
    background: '#14171c',
    text: '#e6e9ee',
    muted: '#9aa4b0',
    line: '#2a2f37',
    accent: '#ff8a73',
    series: ['#7db8f5', '#f2a65a', '#63cfa6', '#d59bf0', '#b5b5b5'],
  },
};

const stops: Record<Theme, { more: string[]; less: string[] }> = {
  light: {
    more: ['#ffffff', '#d3e4f3', '#8dbede', '#3d8dc4', '#1b5798', '#0a2858'],
    less: ['#ffffff', '#fbdcbb', '#efa65f', '#d06a1c', '#94420a', '#542203'],
  },
  dark: {
    more: ['#14171c', '#15324d', '#1b5c80', '#2b919d', '#84cb97', '#f8f4a6'],
    less: ['#14171c', '#452614', '#83411a', '#c96a2b', '#f2a566', '#ffe3c4'],
  },
};

function rgbOf(hex: string): Rgb {
  return [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16)) as Rgb;
}

const linear = (channel: number) => (channel <= 10.31475 ? channel / 3294.6 : ((channel / 255 + 0.055) / 1.055) ** 2.4);
const encoded = (value: number) => 255 * (value <= 0.0031308 ? 12.92 * value : 1.055 * value ** (1 / 2.4) - 0.055);

// OKLab (Ottosson 2020): equal steps look equal.
function okLabOf(rgb: Rgb): Rgb {
  const [r, g, b] = rgb.map(linear) as Rgb;
  const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  return [
    0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
    1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
    0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
  ];
}

function rgbOfOkLab([lightness, a, b]: Rgb): Rgb {
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  const channels = [
    4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
    -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
    -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s,
  ];
  return channels.map((value) => Math.round(Math.min(255, Math.max(0, encoded(Math.max(0, value)))))) as Rgb;
}

function table(colours: string[]): Rgb[] {
  const labs = colours.map((colour) => okLabOf(rgbOf(colour)));
  return Array.from({ length: 256 }, (_, i) => {
    const place = (i / 255) * (labs.length - 1);
    const below = Math.min(Math.floor(place), labs.length - 2);
    const part = place - below;
    return rgbOfOkLab(labs[below]!.map((value, c) => value + part * (labs[below + 1]![c]! - value)) as Rgb);
  });
}

const tables = new Map<Theme, { more: Rgb[]; less: Rgb[] }>();
function tableOf(theme: Theme) {
  let known = tables.get(theme);
  if (!known) tables.set(theme, (known = { more: table(stops[theme].more), less: table(stops[theme].less) }));
  return known;
}

// The colour of a strength from -1 to 1.
export function rgb(theme: Theme, strength: number): Rgb {
  const { more, less } = tableOf(theme);
  const index = Math.min(255, Math.round(Math.abs(strength) * 255));
  return (strength < 0 ? less : more)[Number.isNaN(index) ? 0 : index]!;
}

export function colour(theme: Theme, strength: number): string {
  return hex(rgb(theme, strength));
}

export function hex(channels: readonly number[]): string {
  return '#' + channels.map((channel) => channel.toString(16).padStart(2, '0')).join('');
}

// Relative luminance as WCAG has it, from 0 to 1.
export function luminance([r, g, b]: Rgb): number {
  return 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
}

// Black or white: what can be read on that strength.
export function textOn(theme: Theme, strength: number): string {
  return luminance(rgb(theme, strength)) > 0.18 ? '#000000' : '#ffffff';
}
