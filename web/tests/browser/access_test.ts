import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { smallDocument } from '../documents.ts';
import { Browser, chromiumPath, pageFile } from './browser.ts';
import { MockServer } from './mock_server.ts';
import { pathToFileURL } from 'node:url';

const options = { skip: chromiumPath ? false : 'no Chromium: apt-get install chromium', timeout: 180000 };
const server = new MockServer();
let browser: Browser;
let address: string;
let axe: string;
before(async () => {
  if (!chromiumPath) return;
  browser = await Browser.start();
  address = await browser.fileWith(smallDocument());
  axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
});
after(async () => {
  await browser?.stop();
  if (chromiumPath) await server.stop().catch(() => undefined);
});

async function violations(page: Page): Promise<string[]> {
  await page.evaluate(axe);
  return page.evaluate(async () => {
    const { axe } = window as unknown as {
      axe: {
        run(): Promise<{
          violations: { id: string; help: string; nodes: { html: string; failureSummary: string }[] }[];
        }>;
      };
    };
    const { violations } = await axe.run();
    return violations.map(
      (one) =>
        `${one.id}: ${one.help}\n  ${one.nodes.map((node) => `${node.html}\n  ${node.failureSummary}`).join('\n  ')}`,
    );
  });
}

const places = [
  '#view=matrix&head=2&cell=3,3',
  '#view=lines',
  '#view=heads',
  '#view=text&example=3',
  '#view=picture&example=4',
  '#view=beam',
  '#view=training',
  '#view=comparison',
  '#view=matrix&example=1&example2=2',
];

for (const theme of ['light', 'dark'] as const)
  test(`axe-core finds nothing in any view: ${theme}`, options, async () => {
    const page = await browser.page();
    await page.emulateMedia({ colorScheme: theme });
    for (const place of places) {
      await page.goto('about:blank');
      await page.goto(address + place);
      await page.waitForSelector('.panel');
      await page
        .locator('.as-text summary')
        .first()
        .click({ timeout: 500 })
        .catch(() => undefined);
      assert.deepEqual(await violations(page), [], `${theme} ${place}`);
    }
    await page.keyboard.press('?');
    assert.deepEqual(await violations(page), [], `${theme} help`);
    await page.keyboard.press('Escape');
    await page.keyboard.press('e');
    assert.deepEqual(await violations(page), [], `${theme} save`);
    await page.close();
  });

test('axe-core finds nothing on the empty page, and in live mode, with an error too', options, async () => {
  const page = await browser.page();
  await page.goto(pathToFileURL(pageFile).href);
  await page.getByText('Nothing to show yet').waitFor();
  assert.deepEqual(await violations(page), []);
  await page.goto(await server.start());
  await page.waitForSelector('.live');
  assert.deepEqual(await violations(page), []);
  await page.locator('.live textarea').fill('abc');
  await page.locator('.facts', { hasText: /ABC/ }).waitFor();
  await page.locator('.live textarea').fill('too long');
  await page.locator('.live [role=alert]').waitFor();
  assert.deepEqual(await violations(page), []);
  await page.close();
});
