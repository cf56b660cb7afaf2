// Debian's Chromium, driven by playwright-core.
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { chromium, type BrowserContext, type BrowserContextOptions, type Page } from 'playwright-core';
import type { AttentionDocument } from '../../src/document/types.ts';
import { withDocument } from '../documents.ts';

export const pageFile = path.resolve('dist/page.html');
const candidates = [process.env.CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
export const chromiumPath = candidates.find((candidate) => candidate && existsSync(candidate));

export class Browser {
  private constructor(
    readonly folder: string,
    private readonly context: BrowserContext,
  ) {}

  static async start(options: BrowserContextOptions = {}): Promise<Browser> {
    const folder = await mkdtemp(path.join(tmpdir(), 'heed-page-'));
    const context = await chromium.launchPersistentContext(path.join(folder, 'profile'), {
      executablePath: chromiumPath!,
      headless: true,
      args: [
        '--no-sandbox',
        '--disable-gpu',
        '--no-first-run',
        '--disable-background-networking',
        '--disable-component-update',
        '--disable-sync',
      ],
      viewport: { width: 1280, height: 860 },
      colorScheme: 'light',
      ...options,
    });
    return new Browser(folder, context);
  }

  // A page whose every error fails the test that asks for them.
  async page(): Promise<Page & { problems: string[] }> {
    const page = (await this.context.newPage()) as Page & { problems: string[] };
    page.problems = [];
    page.on('pageerror', (error) => page.problems.push(error.message));
    page.on('console', (message) => message.type() === 'error' && page.problems.push(message.text()));
    return page;
  }

  // The page with that document inside, as a file on disk; returns its address.
  async fileWith(document: AttentionDocument, name = 'page.html'): Promise<string> {
    const file = path.join(this.folder, name);
    await writeFile(file, withDocument(await readFile(pageFile, 'utf8'), document));
    return pathToFileURL(file).href;
  }

  async stop(): Promise<void> {
    await this.context.close();
    await rm(this.folder, { recursive: true, force: true });
  }
}
