import assert from 'node:assert/strict';
import { test } from 'node:test';
import { violations } from './access.ts';
import { address, browser, options, server } from './with_mock.ts';

server.token = 'open sesame';

test('a server that wants a token gets it: asked for in a dialog, kept for the tab', options, async () => {
  const page = await browser.page();
  await page.goto(address);
  const dialog = page.getByRole('dialog', { name: 'This server wants a token' });
  await dialog.getByText('A token is missing.').waitFor();
  assert.deepEqual(await violations(page), []);
  await page.keyboard.type('wrong');
  await page.keyboard.press('Enter');
  await dialog.getByText('The token is not the right one.').waitFor();
  assert.equal(await dialog.count(), 1);
  await page.keyboard.type('open sesame');
  await page.keyboard.press('Enter');
  await page.waitForSelector('.live');
  await page.locator('.live textarea').fill('abc');
  await page.locator('[data-explains="ABC"]').waitFor();
  assert.equal(server.asked.at(-1)!.authorization, 'Bearer open sesame');
  assert.ok(!page.url().includes('sesame'), 'a link does not give it away');
  await page.reload();
  await page.locator('[data-explains="ABC"]').waitFor();
  assert.equal(await dialog.count(), 0, 'not asked for again');

  // The token changes while the page is open: the question that is refused asks for the new one, and goes on.
  server.token = 'another';
  await page.locator('.live textarea').fill('xyz');
  await dialog.waitFor();
  await page.keyboard.type('another');
  await page.keyboard.press('Enter');
  await page.locator('[data-explains="XYZ"]').waitFor();
  await page.close();
});

test('without a token there is a reason and a way to try again', options, async () => {
  const page = await browser.page();
  await page.goto(address);
  await page.getByRole('dialog').waitFor();
  await page.keyboard.press('Escape');
  await page.locator('[role=alert]', { hasText: 'A token is missing.' }).waitFor();
  assert.deepEqual(await violations(page), []);
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByRole('dialog').waitFor();
  await page.close();
});
