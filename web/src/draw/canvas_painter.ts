import { canvasOf, type Bitmap } from './heat.ts';
import { fontOf, type Fill, type Painter, type Rect, type Stroke, type TextStyle } from './painter.ts';

export class CanvasPainter implements Painter {
  constructor(private readonly context: CanvasRenderingContext2D) {}

  fill(rect: Rect, style: Fill): void {
    this.context.globalAlpha = style.opacity ?? 1;
    this.context.fillStyle = style.fill;
    if (style.radius) {
      this.context.beginPath();
      this.context.roundRect(rect.x, rect.y, rect.width, rect.height, style.radius);
      this.context.fill();
    } else {
      this.context.fillRect(rect.x, rect.y, rect.width, rect.height);
    }
    this.context.globalAlpha = 1;
  }

  frame(rect: Rect, style: Stroke): void {
    this.stroke(style, () => this.context.rect(rect.x, rect.y, rect.width, rect.height));
  }

  path(points: readonly number[], style: Stroke): void {
    this.stroke(style, () => {
      for (let i = 0; i + 1 < points.length; i += 2) this.context.lineTo(points[i]!, points[i + 1]!);
    });
  }

  link(from: { x: number; y: number }, to: { x: number; y: number }, style: Stroke): void {
    const middle = (from.x + to.x) / 2;
    this.stroke(style, () => {
      this.context.moveTo(from.x, from.y);
      this.context.bezierCurveTo(middle, from.y, middle, to.y, to.x, to.y);
    });
  }

  text(x: number, y: number, text: string, style: TextStyle): void {
    const context = this.context;
    context.font = fontOf(style);
    context.fillStyle = style.fill;
    context.textAlign = style.align ?? 'left';
    context.textBaseline = 'middle';
    if (!style.turned) {
      context.fillText(text, x, y);
      return;
    }
    context.save();
    context.translate(x, y);
    context.rotate(-Math.PI / 2);
    context.fillText(text, 0, 0);
    context.restore();
  }

  heat(bitmap: Bitmap, rect: Rect): void {
    const picture = canvasOf(bitmap);
    this.context.imageSmoothingEnabled = rect.width < bitmap.cols || rect.height < bitmap.rows;
    this.context.imageSmoothingQuality = 'high';
    this.context.drawImage(picture, rect.x, rect.y, rect.width, rect.height);
  }

  picture(picture: HTMLImageElement, rect: Rect): void {
    this.context.imageSmoothingEnabled = rect.width < picture.naturalWidth;
    this.context.drawImage(picture, rect.x, rect.y, rect.width, rect.height);
  }

  clipped(rect: Rect, paint: () => void): void {
    this.context.save();
    this.context.beginPath();
    this.context.rect(rect.x, rect.y, rect.width, rect.height);
    this.context.clip();
    paint();
    this.context.restore();
  }

  moved(x: number, y: number, paint: () => void): void {
    this.context.save();
    this.context.translate(x, y);
    paint();
    this.context.restore();
  }

  private stroke(style: Stroke, trace: () => void): void {
    const context = this.context;
    context.globalAlpha = style.opacity ?? 1;
    context.strokeStyle = style.stroke;
    context.lineWidth = style.width ?? 1;
    context.lineJoin = 'round';
    context.setLineDash(style.dashed ? [3, 3] : []);
    context.beginPath();
    trace();
    context.stroke();
    context.globalAlpha = 1;
  }
}
