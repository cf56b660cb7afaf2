// What is seen, as a file or in the clipboard: SVG, PNG, CSV, JSON.
import { palettes, type Theme } from '../draw/colour.ts';
import type { Drawing, Look } from '../draw/drawing.ts';
import type { Painter } from '../draw/painter.ts';
import { SvgPainter } from '../draw/svg_painter.ts';

export type FileKind = 'SVG' | 'PNG' | 'CSV' | 'JSON';
type Cell = string | number | boolean | null;

// What a view can be saved as.
export interface Savable {
  name: string; // of the file, without its ending
  svg(look: Look): string;
  table(): Cell[][]; // the first row has the names of the columns
  json(): unknown;
}

export const lookOf = (theme: Theme): Look => ({ theme, palette: palettes[theme] });

// A file from whatever paints: the background first, so that the picture can be read anywhere.
export function paintedSvg(
  size: { width: number; height: number },
  title: string,
  look: Look,
  paint: (painter: Painter) => void,
): string {
  const painter = new SvgPainter();
  painter.fill({ x: 0, y: 0, width: size.width, height: size.height }, { fill: look.palette.background });
  paint(painter);
  return painter.finish(size.width, size.height, title);
}

export function drawingSvg(drawing: Drawing, look: Look): string {
  const size = drawing.layout(900, 100000);
  return paintedSvg(size, drawing.label, look, (painter) => drawing.paint(painter, { x: 0, y: 0, ...size }, look));
}

// RFC 4180, with a line end after each row.
export function csv(table: Cell[][]): string {
  const quoted = (cell: Cell) => {
    const text = cell === null ? '' : String(cell);
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return table.map((row) => row.map(quoted).join(',') + '\r\n').join('');
}

async function png(svg: string): Promise<Blob> {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  await image.decode();
  // Twice as fine as on the screen, but no larger than every browser can do.
  const scale = Math.min(2, 8192 / image.width, 8192 / image.height);
  const canvas = document.createElement('canvas');
  canvas.width = Math.ceil(image.width * scale);
  canvas.height = Math.ceil(image.height * scale);
  canvas.getContext('2d')!.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve, reject) =>
    canvas.toBlob(
      (blob) => (blob ? resolve(blob) : reject(new Error('The browser cannot make this PNG.'))),
      'image/png',
    ),
  );
}

export async function fileOf(savable: Savable, kind: FileKind, theme: Theme): Promise<Blob> {
  const look = lookOf(theme);
  switch (kind) {
    case 'SVG':
      return new Blob([savable.svg(look)], { type: 'image/svg+xml' });
    case 'PNG':
      return png(savable.svg(look));
    case 'CSV':
      return new Blob([csv(savable.table())], { type: 'text/csv' });
    case 'JSON':
      return new Blob([JSON.stringify(savable.json(), null, 1) + '\n'], { type: 'application/json' });
  }
}

export function download(blob: Blob, name: string): void {
  const address = URL.createObjectURL(blob);
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}

// The clipboard of the browser, or, where it is refused, the old way, which works for text.
export async function copyText(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = document.createElement('textarea');
    area.value = text;
    document.body.append(area);
    area.select();
    const done = document.execCommand('copy');
    area.remove();
    if (!done) throw new Error('The browser does not allow copying. Download the file instead.');
  }
}

export async function copyFile(savable: Savable, kind: FileKind, theme: Theme): Promise<void> {
  const blob = await fileOf(savable, kind, theme);
  if (kind !== 'PNG') return copyText(await blob.text());
  try {
    await navigator.clipboard.write([new ClipboardItem({ 'image/png': blob })]);
  } catch {
    throw new Error('The browser does not allow copying a picture. Download it instead.');
  }
}
