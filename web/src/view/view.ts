// What every view is: an element, and the files that it can be saved as.
import type { AttentionDocument, Example } from '../document/types.ts';
import type { Theme } from '../draw/colour.ts';
import type { Savable } from '../page/files.ts';
import type { PageState, PanelState } from '../page/state.ts';

export interface ViewContext {
  document: AttentionDocument;
  example: Example | undefined; // none where a document has only curves or a table
  asked: number; // how many of the first examples the live panel has told about already
  panel: PanelState;
  page: PageState;
  theme: Theme;
  changePanel(part: Partial<PanelState>): void;
  keepCell(query: number, key: number): void; // the same, without showing the view anew
  changePage(part: Partial<PageState>): void;
}

export interface View {
  element: HTMLElement;
  savable: Savable;
  refresh?(document: AttentionDocument): void; // shows what the document has become, in place
  stop?(): void; // releases what the element alone does not
}
