// The page: what is at the top, the views to choose from, and one or two panels. The state (state.ts) says what is shown;
// whatever changes it shows the panels anew.
import type { AttentionDocument, TrainingRun } from '../document/types.ts';
import { byGroup, meanOfHeads } from '../document/weights.ts';
import { button, h, replaceChildren } from '../dom.ts';
import type { LivePanel } from '../live/live_panel.ts';
import type { LiveQuestion } from '../live/client.ts';
import { views, type ViewEntry } from '../view/all.ts';
import type { ViewContext } from '../view/view.ts';
import { showHelp, showSave } from './dialogs.ts';
import { copyText, download } from './files.ts';
import { listen, singleKeys, type Shortcut } from './keyboard.ts';
import { readLink, writeLink } from './link.ts';
import { acceptDrops, askForFiles, openFiles } from './open.ts';
import { makePanel, type Panel } from './panel.ts';
import { firstPanel, fitted, mapOf, Store, zooms, type PageState, type PanelState, type ViewName } from './state.ts';
import { currentTheme, startTheme, switchTheme } from './theme.ts';

export class Page {
  private readonly store: Store<PageState>;
  private readonly title = h('span', { class: 'title' });
  private readonly tabs = h('nav', { 'aria-label': 'Views' });
  private readonly place = h('div', { class: 'panels' });
  private readonly top = h('div'); // live panel, problems, empty page
  private readonly said = h('div', { class: 'said', role: 'status' });
  private panels: Panel[] = [];
  private given: AttentionDocument | null = null;
  private document: AttentionDocument | null = null; // what was given, and the curves of the server
  private live: LivePanel | null = null;
  private question: LiveQuestion | null = null;
  private linked: PageState | null = null; // what a link says, until the server has answered its question
  private wanted: ViewName; // the view that was chosen, which the document may not have yet
  private asked = 0; // how many of the first examples are answers to what was just asked, of a model each
  private training: TrainingRun[] = []; // of the server

  constructor(root: HTMLElement) {
    this.store = new Store(readLink(location.hash).state);
    this.wanted = this.store.get().view;
    const tool = (words: string, shown: string, run: () => void) => button(words, run, { class: 'plain' }, shown);
    const header = h(
      'header',
      { class: 'page-top' },
      h('h1', {}, 'heed'),
      this.title,
      h(
        'div',
        { class: 'page-tools' },
        tool('Open a document', 'Open', () => this.ask()),
        tool('Save what is seen', 'Save', () => this.save()),
        tool('Copy a link to this view', 'Link', () => void this.copyLink()),
        tool('Two examples side by side', 'Side by side', () => this.toggleSecond()),
        tool('Dark or light', '◐', () => this.switchTheme()),
        tool('Keys and help', '?', () => this.help()),
      ),
    );
    replaceChildren(root, header, h('main', {}, this.top, this.tabs, this.place), this.said);
    startTheme(() => this.render());
    listen(() => this.shortcuts());
    const open = (files: Iterable<File>) => void this.open(files);
    acceptDrops(open);
    addEventListener('hashchange', () => {
      const link = readLink(location.hash);
      this.setState(link.state);
      if (link.question && this.live) this.restore(this.live, link.question, link.state);
    });
    this.store.subscribe(() => this.render());
  }

  // `asked`: how many of the first examples are answers to what was just asked; two stand side by side.
  show(document: AttentionDocument, asked = 0): void {
    this.given = document;
    this.document = this.withTraining(document);
    this.title.textContent = document.title ?? '';
    window.document.title = document.title ? `${document.title} – heed` : 'heed';
    if (!this.live) replaceChildren(this.top);
    const state = { ...this.store.get(), view: this.wanted };
    const [first = firstPanel] = state.panels;
    if (asked > 1 && this.asked <= 1)
      state.panels = [
        { ...first, example: 0 },
        { ...first, example: 1, query: -1, key: -1 },
      ];
    else if (this.asked > 1 && asked <= 1) state.panels = [{ ...first, example: 0 }];
    this.asked = asked;
    // A part of an answer may have no room for what the link says: the whole answer has.
    this.setState(this.linked ?? state);
  }

  // Curves that have grown: where they are seen they grow in place, and nothing else changes.
  showTraining(training: TrainingRun[]): void {
    const first = this.training.length === 0;
    this.training = training;
    if (!this.given) return this.show({ format: 'heed.attention', version: 1, models: [], examples: [] });
    this.document = this.withTraining(this.given);
    if (first) return this.setState({ ...this.store.get(), view: this.wanted });
    for (const panel of this.panels) panel.view?.refresh?.(this.document);
  }

  private withTraining(document: AttentionDocument): AttentionDocument {
    if (this.training.length === 0) return document;
    return { ...document, training: [...(document.training ?? []), ...this.training] };
  }

  get view(): ViewName {
    return this.store.get().view;
  }

  // Calls the function whenever the state changes, another view for instance.
  viewed(changed: () => void): void {
    this.store.subscribe(changed);
  }

  startLive(live: LivePanel, question: LiveQuestion | null): void {
    this.live = live;
    this.title.replaceWith(live.head);
    this.place.parentElement!.classList.add('with-live');
    replaceChildren(this.top, live.element);
    if (question) this.restore(live, question, this.store.get());
    else live.focus();
  }

  private restore(live: LivePanel, question: LiveQuestion, state: PageState): void {
    this.question = question;
    this.linked = state;
    live.restore(question);
  }

  remember(question: LiveQuestion): void {
    this.question = question;
    this.linked = null;
    this.writeLink();
  }

  problem(heading: string, reasons: string[], again?: () => void): void {
    const box = h(
      'div',
      { class: 'problem', role: 'alert' },
      h('strong', {}, heading),
      ...reasons.map((reason) => h('p', {}, reason)),
      again && button('Try again', again),
    );
    replaceChildren(this.top, this.live?.element, box);
  }

  // Nothing to show and nobody to ask.
  empty(): void {
    const example = 'heed look MODEL "a text" --html page.html';
    replaceChildren(
      this.top,
      h(
        'section',
        { class: 'empty' },
        h('h2', {}, 'Nothing to show yet'),
        h(
          'p',
          {},
          'Drop a document here, or ',
          button('open a file', () => this.ask()),
          '. A training log (log.jsonl) is shown as curves; several files are shown together.',
        ),
        h('p', {}, 'A page with a document inside is made by ', h('code', {}, example), '.'),
      ),
    );
  }

  private setState(state: PageState): void {
    if (!this.document) return;
    this.wanted = state.view;
    const next = fitted(state, this.document);
    const offered = this.offered(next);
    const view = offered.some((entry) => entry.name === next.view) ? next.view : (offered[0]?.name ?? next.view);
    this.store.set({ ...next, view });
  }

  private offered(state: PageState): ViewEntry[] {
    const document = this.document;
    if (!document) return [];
    return views.filter((entry) =>
      state.panels.some((panel) => entry.available(document, document.examples[panel.example])),
    );
  }

  private render(): void {
    const document = this.document;
    if (!document) return;
    const state = this.store.get();
    const entry = views.find((one) => one.name === state.view);
    const focused = this.focusedPlace();
    for (const panel of this.panels) panel.view?.stop?.();
    const offered = this.offered(state);
    replaceChildren(
      this.tabs,
      ...offered.map((one) =>
        button(one.words, () => this.setState({ ...this.store.get(), view: one.name }), {
          'aria-current': one.name === state.view ? 'page' : null,
          'data-focus': one.name,
        }),
      ),
    );
    this.tabs.hidden = offered.length < 2;
    const shown = entry?.ofExample === false ? state.panels.slice(0, 1) : state.panels;
    this.panels = shown.map((panel, i) => makePanel(this.context(document, panel, i), entry, i));
    this.place.classList.toggle('two', this.panels.length > 1);
    replaceChildren(this.place, ...this.panels.map((panel) => panel.element));
    this.writeLink();
    if (focused) window.document.querySelector<HTMLElement>(focused)?.focus();
  }

  private context(document: AttentionDocument, panel: PanelState, place: number): ViewContext {
    const change = (part: Partial<PanelState>): PageState => {
      const state = this.store.get();
      return { ...state, panels: state.panels.map((one, i) => (i === place ? { ...one, ...part } : one)) };
    };
    return {
      document,
      example: document.examples[panel.example],
      asked: this.asked,
      panel,
      page: this.store.get(),
      theme: currentTheme(),
      changePanel: (part) => this.setState(change(part)),
      changePage: (part) => this.setState({ ...this.store.get(), ...part }),
      keepCell: (query, key) => {
        this.store.quietly(change({ query, key }));
        this.writeLink();
      },
    };
  }

  // A selector of the control that has the focus, to find it again once the panels are shown anew.
  private focusedPlace(): string | null {
    const focused = document.activeElement;
    const name = focused instanceof HTMLElement ? focused.dataset.focus : undefined;
    if (!name) return null;
    const panel = focused!.closest<HTMLElement>('[data-panel]')?.dataset.panel;
    return `${panel === undefined ? '' : `[data-panel="${panel}"] `}[data-focus="${name}"]`;
  }

  private writeLink(): void {
    history.replaceState(null, '', writeLink({ state: this.store.get(), question: this.question }));
  }

  private say(words: string): void {
    this.said.textContent = words;
    this.said.classList.add('visible');
    setTimeout(() => this.said.classList.remove('visible'), 2500);
  }

  private async copyLink(): Promise<void> {
    try {
      await copyText(location.href);
      this.say('Link copied');
    } catch {
      this.say('The link is in the address bar');
    }
  }

  private ask(): void {
    askForFiles((files) => void this.open(files));
  }

  private async open(files: Iterable<File>): Promise<void> {
    try {
      this.show(await openFiles(files));
    } catch (error) {
      this.problem('This file cannot be shown', (error as Error).message.split('\n'));
    }
  }

  private save(): void {
    // The panel that has the focus, or else the first, comes first.
    const focused = this.focusedPanel();
    const shown = this.panels.flatMap((panel) => panel.view?.savable ?? []);
    const savables = [...shown.slice(focused), ...shown.slice(0, focused)];
    if (savables.length === 0 || !this.document) return;
    const whole = () =>
      download(new Blob([JSON.stringify(this.document)], { type: 'application/json' }), 'attention.json');
    showSave(savables, currentTheme(), whole);
  }

  private toggleSecond(): void {
    const state = this.store.get();
    const [first] = state.panels;
    const count = this.document?.examples.length ?? 0;
    // The next example, or, where there is only one, the next head of it.
    const second = { ...(first ?? firstPanel), query: -1, key: -1 };
    if (count > 1) second.example = (second.example + 1) % count;
    else second.head += 1;
    this.setState({ ...state, panels: state.panels.length > 1 ? [first!] : [first!, second] });
  }

  private switchTheme(): void {
    this.say(switchTheme());
    this.render();
  }

  private help(): void {
    showHelp(this.shortcuts(), singleKeys);
  }

  // The place of the panel that has the focus, or of the first.
  private focusedPanel(): number {
    return Number(document.activeElement?.closest<HTMLElement>('[data-panel]')?.dataset.panel ?? 0);
  }

  private stepIn(change: (panel: PanelState) => Partial<PanelState>): void {
    const focused = this.focusedPanel();
    const state = this.store.get();
    this.setState({
      ...state,
      panels: state.panels.map((panel, i) => (i === focused ? { ...panel, ...change(panel) } : panel)),
    });
  }

  private stepHead(by: number): void {
    this.stepIn((panel) => {
      const example = this.document?.examples[panel.example];
      const heads = (example && mapOf(example, panel.map)?.heads) ?? 1;
      return { head: Math.max(meanOfHeads, Math.min(heads - 1, panel.head + by)) };
    });
  }

  private stepMap(by: number): void {
    this.stepIn((panel) => {
      const maps = byGroup(this.document?.examples[panel.example]?.maps ?? []);
      const at = maps.findIndex((map) => map.name === panel.map) + by;
      return { map: maps[Math.max(0, Math.min(maps.length - 1, at))]?.name ?? '' };
    });
  }

  private stepZoom(by: number): void {
    const state = this.store.get();
    this.setState({ ...state, zoom: zooms[Math.max(0, Math.min(zooms.length - 1, zooms.indexOf(state.zoom) + by))]! });
  }

  private shortcuts(): Shortcut[] {
    const live = this.live;
    return [
      ...this.offered(this.store.get()).map((entry) => ({
        key: entry.key,
        words: entry.words,
        run: () => this.setState({ ...this.store.get(), view: entry.name }),
      })),
      {
        key: 'j',
        words: 'next example',
        run: () => this.stepIn((panel) => ({ example: panel.example + 1, query: -1, key: -1 })),
      },
      {
        key: 'k',
        words: 'example before',
        run: () => this.stepIn((panel) => ({ example: panel.example - 1, query: -1, key: -1 })),
      },
      { key: ']', words: 'next head', run: () => this.stepHead(1) },
      { key: '[', words: 'head before', run: () => this.stepHead(-1) },
      { key: '}', words: 'next map', run: () => this.stepMap(1) },
      { key: '{', words: 'map before', run: () => this.stepMap(-1) },
      { key: '+', words: 'larger cells', run: () => this.stepZoom(1) },
      { key: '-', words: 'smaller cells', run: () => this.stepZoom(-1) },
      { key: 's', words: 'two examples side by side, or one', run: () => this.toggleSecond() },
      { key: 'd', words: 'dark or light', run: () => this.switchTheme() },
      { key: 'e', words: 'save or copy what is seen', run: () => this.save() },
      { key: 'o', words: 'open a document', run: () => this.ask() },
      ...(live ? [{ key: '/', words: 'to the text field', run: () => live.focus() }] : []),
      { key: '?', words: 'this help', run: () => this.help() },
    ];
  }
}
