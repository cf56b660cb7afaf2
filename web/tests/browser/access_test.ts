import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { smallDocument } from '../documents.ts';
import { violations } from './access.ts';
import { Browser, chromiumPath, pageFile } from './browser.ts';
import { MockServer } from './mock_server.ts';
import { pathToFileURL } from 'node:url';

const options = { skip: chromiumPath ? false : 'no Chromium: apt-get install chromium', timeout: 180000 };
const server = new MockServer();
let browser: Browser;
let address: string;
before(async () => {
  if (!chromiumPath) return;
  browser = await Browser.start();
  address = await browser.fileWith(smallDocument());
});
after(async () => {
  await browser?.stop();
  if (chromiumPath) await server.stop().catch(() => undefined);
});

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
  await page.locator('[data-explains="ABC"]').waitFor();
  await page.getByLabel('Beam').fill('2');
  await page.getByLabel('Temperature').fill('1');
  await page.getByLabel('Compare with').selectOption('reverse');
  await page.locator('[data-panel="1"] .facts', { hasText: /cba/ }).waitFor();
  assert.deepEqual(await violations(page), []);
  await page.getByLabel('Temperature').fill('0');
  await page.getByRole('button', { name: 'Search tree' }).click();
  await page.locator('.beam-words').first().waitFor();
  assert.deepEqual(await violations(page), []);
  await page.locator('.live textarea').fill('too long');
  await page.locator('.live [role=alert]').waitFor();
  assert.deepEqual(await violations(page), []);
  await page.close();
});
