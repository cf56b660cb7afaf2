// The log of a training run (log.jsonl) as training curves. A run that is still going may end in half a line.
import type { AttentionDocument, TrainingPoint } from './types.ts';
import { InvalidDocument } from './validate.ts';

interface LogLine {
  event?: string;
  step?: number;
  loss?: number;
  nll?: number;
  metric?: { value?: number };
}

export function documentOfLog(text: string, name: string): AttentionDocument {
  const points: TrainingPoint[] = [];
  const lines = text.split('\n');
  lines.forEach((line, i) => {
    if (line.trim() === '') return;
    let event: LogLine;
    try {
      event = JSON.parse(line) as LogLine;
    } catch {
      if (i === lines.length - 1) return;
      throw new InvalidDocument([`Line ${i + 1} of ${name} is no JSON.`]);
    }
    if (typeof event.step !== 'number') return;
    if (event.event === 'step') points.push({ step: event.step, loss: event.loss ?? null });
    if (event.event === 'validated')
      points.push({ step: event.step, valid_loss: event.nll ?? null, metric: event.metric?.value ?? null });
  });
  if (points.length === 0)
    throw new InvalidDocument([
      `${name} has no line with "event": "step" or "validated". A log.jsonl of heed train was expected.`,
    ]);
  return { format: 'heed.attention', version: 1, title: name, models: [], examples: [], training: [{ name, points }] };
}
