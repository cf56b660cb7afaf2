import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { address, browser, options, server } from './with_mock.ts';

const points = (count: number) => Array.from({ length: count }, (_, i) => ({ step: (i + 1) * 10, loss: 3 / (i + 1) }));
const run = (count: number) => [{ name: 'dates', points: points(count) }];

// The clock of the page is the test's: it asks again when the test lets two seconds pass.
async function opened(): Promise<Page> {
  const page = await browser.page();
  await page.clock.install();
  server.asked.length = 0;
  await page.goto(address);
  await page.waitForSelector('.live');
  return page;
}
const lastStep = (page: Page, step: number) => page.getByRole('cell', { name: String(step), exact: true }).waitFor();
async function asks(page: Page, seconds: number): Promise<number> {
  const before = server.count('/v1/training');
  for (let i = 0; i < seconds; ++i) {
    await page.clock.runFor(1000);
    await page.waitForTimeout(30); // real time, for the answer
  }
  return server.count('/v1/training') - before;
}

test('curves of the server grow while somebody looks at them, and the rest stays', options, async () => {
  server.training = run(3);
  const page = await opened();
  await lastStep(page, 30);
  assert.equal(server.count('/v1/training'), 1);
  await page.locator('.stage-window').focus();
  await page.keyboard.press('ArrowRight');
  const before = await page.locator('.stage-window').elementHandle();
  server.training = run(5);
  assert.equal(await asks(page, 2), 1, 'every two seconds');
  await lastStep(page, 50);
  const same = await page.evaluate((element) => element === document.activeElement && element!.isConnected, before);
  assert.ok(same, 'the picture that has the focus stays');

  // A measure that comes later gets a picture of its own.
  server.training = [{ name: 'dates', points: [...points(5), { step: 55, valid_loss: 1.5, metric: 40 }] }];
  await asks(page, 2);
  await page.locator('figcaption', { hasText: 'metric on validation data' }).waitFor();
  assert.equal(await page.locator('figure').count(), 3);

  // An answer is shown although the curves came first; they are not asked for while nobody sees them.
  await page.locator('.live textarea').fill('abc');
  await page.clock.runFor(500);
  await page.locator('[data-explains="ABC"]').waitFor();
  assert.equal(await asks(page, 10), 0);
  await page.getByRole('button', { name: 'Training' }).click();
  assert.ok((await asks(page, 2)) >= 1, 'at once when they are seen again');
  await page.close();
});

test('curves that no longer grow are not asked for any longer', options, async () => {
  server.training = run(4);
  const page = await opened();
  await lastStep(page, 40);
  assert.ok((await asks(page, 20)) >= 9, 'a validation may take a while');
  await page.clock.runFor(60000);
  assert.equal(await asks(page, 10), 0);
  await page.close();
});

test('a hidden tab asks for nothing', options, async () => {
  server.training = run(4);
  const page = await opened();
  await lastStep(page, 40);
  const hide = (hidden: boolean) =>
    page.evaluate(
      (state) => {
        Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => state });
        document.dispatchEvent(new Event('visibilitychange'));
      },
      hidden ? 'hidden' : 'visible',
    );
  await hide(true);
  assert.equal(await asks(page, 10), 0);
  server.training = run(6);
  await hide(false);
  await lastStep(page, 60);
  await page.close();
});

test('a server without trainings is asked once', options, async () => {
  server.training = [];
  const page = await opened();
  assert.equal(await asks(page, 10), 0);
  assert.equal(server.count('/v1/training'), 1);
  assert.equal(await page.getByRole('button', { name: 'Training' }).count(), 0);
  await page.close();
});

test('a training that has written nothing yet is waited for', options, async () => {
  server.training = run(0);
  const page = await opened();
  await page.getByText('The training has not written anything yet.').waitFor();
  server.training = run(2);
  await asks(page, 2);
  await lastStep(page, 20);
  assert.ok(await page.getByText('The training has not written anything yet.').isHidden());
  await page.close();
});
