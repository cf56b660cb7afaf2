// The windows in front of the page: help, saving what is seen, and the token of a server. The browser's own dialog keeps the
// focus and closes on Escape.
import { button, checkbox, h, select } from '../dom.ts';
import type { Theme } from '../draw/colour.ts';
import { copyFile, download, fileOf, type FileKind, type Savable } from './files.ts';
import type { Shortcut } from './keyboard.ts';

function dialog(title: string, ...content: (HTMLElement | string)[]): HTMLDialogElement {
  const close = () => {
    element.close();
    element.remove();
  };
  const head = h('header', {}, h('h2', { id: 'dialog-title' }, title), button('Close', close, { class: 'plain' }, '✕'));
  const element: HTMLDialogElement = h('dialog', { 'aria-labelledby': 'dialog-title' }, head, ...content);
  // At once, not when the browser comes to tell that it was closed: the next key is for the page.
  element.addEventListener('cancel', (event) => {
    event.preventDefault();
    close();
  });
  element.addEventListener('click', (event) => event.target === element && close());
  document.body.append(element);
  element.showModal();
  return element;
}

export function showHelp(shortcuts: Shortcut[], singleKeys: { on: boolean; change(on: boolean): void }): void {
  const row = (keys: string, words: string) =>
    h('tr', {}, h('td', {}, ...keys.split(' ').map((key) => h('kbd', {}, key))), h('td', {}, words));
  const rows = [
    ...shortcuts.map((shortcut) => row(shortcut.shown ?? shortcut.key, shortcut.words)),
    row('← ↑ → ↓', 'in a picture: from cell to cell, from token to token'),
    row('Home End', 'in a matrix: ends of the row'),
    row('Enter', 'keep the cell, open the head'),
    row('Tab', 'to the next control'),
  ];
  dialog(
    'Keys',
    h('table', { class: 'keys' }, h('tbody', {}, ...rows)),
    checkbox('Single keys are on', singleKeys.on, singleKeys.change),
    h(
      'p',
      { class: 'quiet' },
      'A row of a matrix is a query: a token that looks. A column is a key: a token that is looked at. The weight says how much. The page sends nothing anywhere but to the server that it came from.',
    ),
  );
}

const kinds: { kind: FileKind; words: string }[] = [
  { kind: 'SVG', words: 'a drawing that stays sharp at any size' },
  { kind: 'PNG', words: 'a picture' },
  { kind: 'CSV', words: 'the numbers, for a spreadsheet' },
  { kind: 'JSON', words: 'the numbers, for a program' },
];

// One of several panels can be chosen; the first is, to begin with.
export function showSave(savables: Savable[], theme: Theme, wholeDocument: () => void): void {
  let savable = savables[0]!;
  const choices = savables.map((one, i) => ({ value: String(i), words: `${i + 1}. ${one.name}` }));
  const choice = select('What to save', choices, '0', (value) => (savable = savables[Number(value)]!));
  const said = h('p', { role: 'status', class: 'quiet' }, 'What is seen now, as a file or to paste somewhere.');
  const attempt = async (work: () => Promise<void>, done: string) => {
    try {
      await work();
      said.textContent = done;
    } catch (error) {
      said.textContent = (error as Error).message;
    }
  };
  const save = (kind: FileKind) => async () =>
    download(await fileOf(savable, kind, theme), `${savable.name}.${kind.toLowerCase()}`);
  const rows = kinds.map(({ kind, words }) =>
    h(
      'tr',
      {},
      h('th', { scope: 'row' }, kind),
      h('td', {}, words),
      h(
        'td',
        {},
        button(
          `Copy as ${kind}`,
          () => void attempt(() => copyFile(savable, kind, theme), `${kind} copied.`),
          {},
          'Copy',
        ),
      ),
      h(
        'td',
        {},
        button(`Download as ${kind}`, () => void attempt(save(kind), `${kind} saved.`), {}, 'Download'),
      ),
    ),
  );
  dialog(
    'Save',
    ...(savables.length > 1 ? [choice] : []),
    h('table', {}, h('tbody', {}, ...rows)),
    said,
    button('Download the whole document', wholeDocument),
  );
}

// null: the reader closed it without an answer.
export function askForToken(reason: string): Promise<string | null> {
  return new Promise((resolve) => {
    let token: string | null = null;
    const field = h('input', { type: 'password', required: true, autocomplete: 'off', autofocus: true, size: 32 });
    const form = h(
      'form',
      { class: 'token-form' },
      h('label', { class: 'field grow' }, 'Token', field),
      h('button', { type: 'submit', class: 'primary' }, 'Send'),
    );
    const element = dialog(
      'This server wants a token',
      h('p', {}, reason),
      form,
      h(
        'p',
        { class: 'quiet' },
        'Whoever started the server has it in the file of --token-file. It is kept until you close this tab.',
      ),
    );
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      token = field.value.trim() || null;
      element.close();
      element.remove();
    });
    element.addEventListener('close', () => resolve(token));
  });
}
