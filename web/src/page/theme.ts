// Dark or light: as the system has it until the reader chooses; the choice is remembered.
import type { Theme } from '../draw/colour.ts';

const storageKey = 'heed.theme';

// Storage may be forbidden (a file opened from disk, a private window): then nothing is remembered.
export function remembered(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}
export function remember(key: string, value: string): void {
  try {
    localStorage.setItem(key, value);
  } catch {
    // Nothing to do: the page works without it.
  }
}

const system = matchMedia('(prefers-color-scheme: dark)');

export function currentTheme(): Theme {
  const chosen = document.documentElement.dataset.theme;
  if (chosen === 'dark' || chosen === 'light') return chosen;
  return system.matches ? 'dark' : 'light';
}

export function startTheme(changed: () => void): void {
  const chosen = remembered(storageKey);
  if (chosen === 'dark' || chosen === 'light') document.documentElement.dataset.theme = chosen;
  system.addEventListener('change', changed);
}

export function switchTheme(): Theme {
  const theme: Theme = currentTheme() === 'dark' ? 'light' : 'dark';
  document.documentElement.dataset.theme = theme;
  remember(storageKey, theme);
  return theme;
}
