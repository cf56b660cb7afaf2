// Single keys for everything. They can be switched off (help), and are silent while the reader types or a dialog is open.
import { remember, remembered } from './theme.ts';

export interface Shortcut {
  key: string;
  shown?: string; // how help writes it
  words: string;
  run(): void;
}

const storageKey = 'heed.single_keys';

export const singleKeys = {
  on: remembered(storageKey) !== 'off',
  change(on: boolean): void {
    singleKeys.on = on;
    remember(storageKey, on ? 'on' : 'off');
  },
};

function typing(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable ||
      /^(TEXTAREA|SELECT)$/.test(target.tagName) ||
      (target instanceof HTMLInputElement && target.type !== 'checkbox'))
  );
}

export function listen(shortcuts: () => Shortcut[]): void {
  addEventListener('keydown', (event) => {
    if (
      event.ctrlKey ||
      event.altKey ||
      event.metaKey ||
      event.defaultPrevented ||
      document.querySelector('dialog[open]')
    )
      return;
    if (event.key === 'Escape' && typing(event.target)) (event.target as HTMLElement).blur();
    // Help can always be asked for, or the keys could never be switched on again.
    if (typing(event.target) || (!singleKeys.on && event.key !== '?')) return;
    const found = shortcuts().find((shortcut) => shortcut.key === event.key);
    if (!found) return;
    event.preventDefault();
    found.run();
  });
}
