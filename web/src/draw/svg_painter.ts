import { hex } from './colour.ts';
import { canvasOf, type Bitmap } from './heat.ts';
import { fontFamily, type Fill, type Painter, type Rect, type Stroke, type TextStyle } from './painter.ts';

// Up to so many cells a matrix is written as rectangles, which stay sharp at any size; beyond that as a picture.
const mostCells = 64 * 64;

export function escaped(text: string): string {
  const names: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
  // Characters that XML forbids, and halves of characters, are shown as the sign for an unknown one.
  return text
    .replace(/[&<>"]/g, (sign) => names[sign]!)
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff\ud800-\udfff]/gu, '\ufffd');
}

const rounded = (value: number) => String(Math.round(value * 100) / 100);

export class SvgPainter implements Painter {
  private parts: string[] = [];
  private clips = 0;

  fill(rect: Rect, style: Fill): void {
    this.add(
      'rect',
      `${this.box(rect)} fill="${style.fill}"${this.opacity(style)}${style.radius ? ` rx="${style.radius}"` : ''}`,
    );
  }

  frame(rect: Rect, style: Stroke): void {
    this.add('rect', `${this.box(rect)} ${this.stroke(style)}`);
  }

  path(points: readonly number[], style: Stroke): void {
    this.add('polyline', `points="${points.map(rounded).join(' ')}" ${this.stroke(style)}`);
  }

  link(from: { x: number; y: number }, to: { x: number; y: number }, style: Stroke): void {
    const [x, y, middle, toX, toY] = [from.x, from.y, (from.x + to.x) / 2, to.x, to.y].map(rounded);
    this.add('path', `d="M${x} ${y}C${middle} ${y} ${middle} ${toY} ${toX} ${toY}" ${this.stroke(style)}`);
  }

  text(x: number, y: number, text: string, style: TextStyle): void {
    const anchor = { left: 'start', center: 'middle', right: 'end' }[style.align ?? 'left'];
    const turn = style.turned ? ` transform="rotate(-90 ${rounded(x)} ${rounded(y)})"` : '';
    this.parts.push(
      `<text x="${rounded(x)}" y="${rounded(y)}" dy=".35em" font-size="${style.size ?? 12}" fill="${style.fill}"` +
        ` text-anchor="${anchor}"${style.bold ? ' font-weight="600"' : ''}${turn}>${escaped(text)}</text>`,
    );
  }

  heat(bitmap: Bitmap, rect: Rect): void {
    const { rows, cols, pixels } = bitmap;
    if (rows * cols > mostCells) {
      this.image(canvasOf(bitmap).toDataURL('image/png'), rect, ' style="image-rendering:pixelated"');
      return;
    }
    const width = rect.width / cols;
    const height = rect.height / rows;
    const blank = hex(pixels.length > 0 ? this.commonest(pixels) : []);
    if (rows * cols > 0) this.fill(rect, { fill: blank });
    for (let row = 0; row < rows; ++row)
      for (let col = 0; col < cols; ++col) {
        const at = (row * cols + col) * 4;
        const fill = hex(Array.from(pixels.subarray(at, at + 3)));
        if (fill !== blank) this.fill({ x: rect.x + col * width, y: rect.y + row * height, width, height }, { fill });
      }
  }

  picture(picture: HTMLImageElement, rect: Rect): void {
    this.image(picture.src, rect, '');
  }

  clipped(rect: Rect, paint: () => void): void {
    const id = `clip${++this.clips}`;
    this.parts.push(`<clipPath id="${id}"><rect ${this.box(rect)}/></clipPath><g clip-path="url(#${id})">`);
    paint();
    this.parts.push('</g>');
  }

  moved(x: number, y: number, paint: () => void): void {
    this.parts.push(`<g transform="translate(${rounded(x)} ${rounded(y)})">`);
    paint();
    this.parts.push('</g>');
  }

  // The whole file.
  finish(width: number, height: number, title: string): string {
    const size = `width="${Math.ceil(width)}" height="${Math.ceil(height)}" viewBox="0 0 ${Math.ceil(width)} ${Math.ceil(height)}"`;
    return (
      `<svg xmlns="http://www.w3.org/2000/svg" ${size} font-family='${fontFamily}' xml:space="preserve">` +
      `<title>${escaped(title)}</title>\n${this.parts.join('\n')}\n</svg>\n`
    );
  }

  private add(tag: string, attributes: string): void {
    this.parts.push(`<${tag} ${attributes}/>`);
  }
  private image(source: string, rect: Rect, more: string): void {
    this.add('image', `href="${escaped(source)}" ${this.box(rect)} preserveAspectRatio="none"${more}`);
  }
  private box(rect: Rect): string {
    return `x="${rounded(rect.x)}" y="${rounded(rect.y)}" width="${rounded(rect.width)}" height="${rounded(rect.height)}"`;
  }
  private opacity(style: { opacity?: number }): string {
    return style.opacity === undefined || style.opacity === 1 ? '' : ` opacity="${rounded(style.opacity)}"`;
  }
  private stroke(style: Stroke): string {
    const dashes = style.dashed ? ' stroke-dasharray="3 3"' : '';
    return `fill="none" stroke="${style.stroke}" stroke-width="${rounded(style.width ?? 1)}"${this.opacity(style)}${dashes}`;
  }
  private commonest(pixels: Uint8ClampedArray): number[] {
    const counts = new Map<number, number>();
    let best = 0;
    for (let at = 0; at < pixels.length; at += 4) {
      const key = (pixels[at]! << 16) | (pixels[at + 1]! << 8) | pixels[at + 2]!;
      const count = (counts.get(key) ?? 0) + 1;
      counts.set(key, count);
      if (count > (counts.get(best) ?? 0)) best = key;
    }
    return [best >> 16, (best >> 8) & 255, best & 255];
  }
}
