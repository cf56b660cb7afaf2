// The state of the page as the part of an address after #, and back: #view=lines&example=2&map=decoder.0.source&head=3.
// What is as at the start is left out. People and numbers count from 1 here.
import { meanOfHeads } from '../document/weights.ts';
import type { LiveQuestion } from '../live/client.ts';
import { mostBeam, mostSeed, mostTemperature } from '../live/live_options.ts';
import { firstPanel, firstState, zooms, type PageState, type PanelState, type ViewName } from './state.ts';

const viewNames: ViewName[] = ['matrix', 'lines', 'heads', 'text', 'picture', 'beam', 'training', 'comparison'];

export interface Link {
  state: PageState;
  question: LiveQuestion | null; // what was asked in live mode: asking it again restores the example
}

function writePanel(fields: URLSearchParams, panel: PanelState, suffix: string): void {
  fields.set(`example${suffix}`, String(panel.example + 1));
  if (panel.map) fields.set(`map${suffix}`, panel.map);
  if (panel.head !== meanOfHeads) fields.set(`head${suffix}`, String(panel.head + 1));
  if (panel.query >= 0) fields.set(`cell${suffix}`, `${panel.query + 1},${panel.key + 1}`);
}

export function writeLink({ state, question }: Link): string {
  const fields = new URLSearchParams();
  fields.set('view', state.view);
  state.panels.forEach((panel, i) => writePanel(fields, panel, i === 0 ? '' : '2'));
  if (state.eachRow) fields.set('scale', 'row');
  if (state.showSmall) fields.set('small', '1');
  if (state.zoom !== 1) fields.set('zoom', String(state.zoom));
  if (question) {
    fields.set('model', question.model);
    if (question.compare) fields.set('compare', question.compare);
    fields.set('input', question.input);
    if (question.target) fields.set('target', question.target);
    if (question.beam > 1) fields.set('beam', String(question.beam));
    if (question.temperature > 0) {
      fields.set('temperature', String(question.temperature));
      fields.set('seed', String(question.seed));
    }
  }
  return '#' + fields.toString();
}

function whole(text: string | null, missing: number): number {
  return text !== null && /^\d{1,6}$/.test(text) ? Number(text) - 1 : missing;
}

function readPanel(fields: URLSearchParams, suffix: string): PanelState {
  const cell = /^(\d{1,6}),(\d{1,6})$/.exec(fields.get(`cell${suffix}`) ?? '');
  return {
    example: Math.max(0, whole(fields.get(`example${suffix}`), firstPanel.example)),
    map: fields.get(`map${suffix}`) ?? '',
    head: Math.max(meanOfHeads, whole(fields.get(`head${suffix}`), meanOfHeads)),
    query: cell ? Number(cell[1]) - 1 : -1,
    key: cell ? Number(cell[2]) - 1 : -1,
  };
}

// Never fails: what a link says that means nothing is as at the start.
export function readLink(hash: string): Link {
  const fields = new URLSearchParams(hash.replace(/^#/, ''));
  const view = viewNames.find((name) => name === fields.get('view')) ?? firstState.view;
  const panels = [readPanel(fields, '')];
  if (fields.has('example2')) panels.push(readPanel(fields, '2'));
  const zoom = zooms.find((value) => value === Number(fields.get('zoom'))) ?? 1;
  const state = { view, panels, eachRow: fields.get('scale') === 'row', showSmall: fields.get('small') === '1', zoom };
  const input = fields.get('input');
  if (input === null) return { state, question: null };
  const number = (name: string, missing: number, most: number) => {
    const value = Number(fields.get(name) ?? missing);
    return Number.isFinite(value) && value >= 0 ? Math.min(value, most) : missing;
  };
  const text = (name: string) => fields.get(name) ?? '';
  const question = {
    model: text('model'),
    compare: text('compare'),
    input,
    target: text('target'),
    beam: Math.max(1, Math.round(number('beam', 1, mostBeam))),
    temperature: number('temperature', 0, mostTemperature),
    seed: Math.round(number('seed', 1, mostSeed)),
  };
  return { state, question };
}
