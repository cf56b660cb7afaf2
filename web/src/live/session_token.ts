// The token of a server that wants one: asked for in a dialog, kept until the browser's tab is closed.
import type { Tokens } from './client.ts';

const storageKey = 'heed.token';

export class SessionToken implements Tokens {
  private token: string | null = null; // where the browser forbids to store it
  private asking: Promise<string | null> | null = null;

  constructor(private readonly dialog: (reason: string) => Promise<string | null>) {
    try {
      this.token = sessionStorage.getItem(storageKey);
    } catch {
      // A private window, say: it is asked for again after the page was loaded again.
    }
  }

  current(): string | null {
    return this.token;
  }

  // Several requests that were refused together ask once.
  ask(reason: string): Promise<string | null> {
    this.asking ??= this.dialog(reason).then((token) => {
      this.asking = null;
      this.keep(token);
      return token;
    });
    return this.asking;
  }

  private keep(token: string | null): void {
    this.token = token;
    try {
      if (token === null) sessionStorage.removeItem(storageKey);
      else sessionStorage.setItem(storageKey, token);
    } catch {
      // Kept in memory alone.
    }
  }
}
