// How probable a model finds each of its outputs: of labels, where the second one often says more than the first.
import { h } from '../dom.ts';
import type { Prediction } from './client.ts';

export function percentText(share: number): string {
  if (share >= 0.9995 || share === 0) return `${Math.round(share * 100)} %`;
  return share < 0.001 ? '< 0.1 %' : `${(share * 100).toFixed(1)} %`;
}

// A line for each output, the best first; none where there is only one.
export function probabilityBars(prediction: Prediction): HTMLElement[] {
  const outputs = prediction.nbest ?? [];
  if (outputs.length < 2) return [];
  return outputs.map(({ output, log_probability }) => {
    const share = Math.exp(log_probability ?? -Infinity);
    const meter = h('span', { class: 'meter' });
    meter.style.width = `${share * 100}%`;
    return h(
      'li',
      {},
      h('bdi', { class: 'label' }, output),
      h('span', { class: 'track', 'aria-hidden': 'true' }, meter),
      h('span', { class: 'number' }, percentText(share)),
    );
  });
}
