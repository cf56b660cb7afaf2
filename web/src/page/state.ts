// What the page shows. A link holds all of it (link.ts), so whatever can be seen can be sent to someone.
import type { AttentionDocument, Example } from '../document/types.ts';
import { meanOfHeads } from '../document/weights.ts';

export type ViewName = 'matrix' | 'lines' | 'heads' | 'text' | 'picture' | 'beam' | 'training' | 'comparison';

export interface PanelState {
  example: number;
  map: string; // name of a map; empty: the last one of the example
  head: number; // or meanOfHeads
  query: number; // a cell that was chosen, or -1
  key: number;
}

export interface PageState {
  view: ViewName;
  panels: PanelState[]; // one, or two side by side
  eachRow: boolean;
  showSmall: boolean;
  zoom: number; // of the matrix; 1: as large as fits
}

export const firstPanel: PanelState = { example: 0, map: '', head: meanOfHeads, query: -1, key: -1 };
export const firstState: PageState = {
  view: 'text', // or, where there is none, the first one that there is: view/all.ts
  panels: [firstPanel],
  eachRow: false,
  showSmall: false,
  zoom: 1,
};
export const zooms = [1, 1.5, 2, 3, 4, 6, 8, 12, 16];

// The map that a panel shows: the one of that name, else the last one, which is nearest to the output.
export function mapOf(example: Example, name: string) {
  return example.maps.find((map) => map.name === name) ?? example.maps.at(-1);
}

// The nearest state that the document can show: a link may come from another document.
export function fitted(state: PageState, document: AttentionDocument): PageState {
  const panels = state.panels.slice(0, 2).map((panel) => {
    const number = Math.max(0, Math.min(document.examples.length - 1, panel.example));
    const example = document.examples[number];
    const map = example && mapOf(example, panel.map);
    if (!map) return { ...panel, example: number };
    const head = panel.head >= 0 && panel.head < map.heads ? panel.head : meanOfHeads;
    const inside = panel.query < map.rows && panel.key < map.cols;
    return {
      example: number,
      map: map.name,
      head: map.heads === 1 ? 0 : head,
      query: inside ? panel.query : -1,
      key: inside ? panel.key : -1,
    };
  });
  return { ...state, panels };
}

export class Store<State> {
  private readonly listeners: ((state: State) => void)[] = [];
  constructor(private state: State) {}

  get(): State {
    return this.state;
  }
  set(state: State): void {
    this.state = state;
    for (const listener of this.listeners) listener(state);
  }
  // Without telling anyone: they show it already.
  quietly(state: State): void {
    this.state = state;
  }
  subscribe(listener: (state: State) => void): void {
    this.listeners.push(listener);
  }
}
