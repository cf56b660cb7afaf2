// The list of views: a view is one file and one line here. The first one that an example has is shown at first, so the
// one that fits few examples, but those best, comes before the one that fits them all.
import type { AttentionDocument, Example } from '../document/types.ts';
import type { ViewName } from '../page/state.ts';
import { beamView } from './beam_view.ts';
import { comparisonView } from './comparison_view.ts';
import { headsView } from './heads_view.ts';
import { mapView } from './map_view.ts';
import { pictureView } from './picture_view.ts';
import { textView } from './text_view.ts';
import { trainingView } from './training_view.ts';
import type { View, ViewContext } from './view.ts';

export interface ViewEntry {
  name: ViewName;
  words: string;
  key: string; // that shows it
  ofExample: boolean; // or of the whole document
  available(document: AttentionDocument, example: Example | undefined): boolean;
  make(context: ViewContext): View;
}

const hasMaps = (_: AttentionDocument, example: Example | undefined) => (example?.maps.length ?? 0) > 0;

export const views: ViewEntry[] = [
  {
    name: 'text',
    words: 'Text',
    key: 'x',
    ofExample: true,
    available: (_, example) => !!example?.text,
    make: textView,
  },
  {
    name: 'picture',
    words: 'Picture',
    key: 'p',
    ofExample: true,
    available: (_, example) => !!example?.picture && example.maps.some((map) => map.keys === 'cells'),
    make: pictureView,
  },
  {
    name: 'matrix',
    words: 'Matrix',
    key: 'm',
    ofExample: true,
    available: hasMaps,
    make: (context) => mapView(context, 'matrix'),
  },
  {
    name: 'lines',
    words: 'Lines',
    key: 'l',
    ofExample: true,
    available: hasMaps,
    make: (context) => mapView(context, 'lines'),
  },
  { name: 'heads', words: 'All heads', key: 'h', ofExample: true, available: hasMaps, make: headsView },
  {
    name: 'beam',
    words: 'Search tree',
    key: 'b',
    ofExample: true,
    available: (_, example) => (example?.beam?.nodes.length ?? 0) > 0,
    make: beamView,
  },
  {
    name: 'training',
    words: 'Training',
    key: 't',
    ofExample: false,
    available: (document) => (document.training?.length ?? 0) > 0,
    make: trainingView,
  },
  {
    name: 'comparison',
    words: 'Comparison',
    key: 'c',
    ofExample: false,
    available: (document) => !!document.comparison,
    make: comparisonView,
  },
];
