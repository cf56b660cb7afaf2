import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Browser, chromiumPath } from './browser.ts';
import { documentFor, MockServer } from './mock_server.ts';

const options = { skip: chromiumPath ? false : 'no Chromium: apt-get install chromium', timeout: 120000 };
const server = new MockServer();
let browser: Browser;
let address: string;
before(async () => {
  if (!chromiumPath) return;
  address = await server.start();
  browser = await Browser.start();
});
after(async () => {
  await browser?.stop();
  if (chromiumPath) await server.stop();
});

async function opened(hash = '') {
  const page = await browser.page();
  await page.goto(address + hash);
  await page.waitForSelector('.live');
  server.asked.length = 0;
  return page;
}
const field = '.live textarea';

test('typing shows the prediction as it grows, and what it attends to', options, async () => {
  const page = await opened();
  assert.ok(
    await page.locator(field).evaluate((element) => element === document.activeElement),
    'the text field has the focus',
  );
  await page.keyboard.type('hello world');
  const grown = new Set<string>();
  const pictures = new Set<string>();
  for (let i = 0; i < 200 && !grown.has('HELLO WORLD'); ++i) {
    grown.add(await page.locator('.live-output').innerText());
    if (await page.locator('.facts').count())
      pictures.add(
        await page
          .locator('.facts')
          .innerText()
          .catch(() => ''),
      );
    await page.waitForTimeout(20);
  }
  assert.ok(grown.size > 4, `seen: ${[...grown].join(' | ')}`);
  assert.ok(pictures.size > 1, 'pictures of the growing output');
  await page.locator('.facts', { hasText: /HELLO WORLD/ }).waitFor();
  assert.match(
    (await page.locator('.stage-window').getAttribute('aria-label')) ?? '',
    /11 queries \(output\), 11 keys \(source\)/,
  );
  assert.ok(
    server.asked.some(
      ({ path, body }) => path === '/v1/predict' && body!.stream === true && body!.input === 'hello world',
    ),
  );
  assert.deepEqual(page.problems, []);
  await page.close();
});

test('the text field keeps the focus and what was typed while pictures come', options, async () => {
  const page = await opened();
  await page.keyboard.type('ab');
  await page.locator('.facts', { hasText: /AB/ }).waitFor();
  await page.keyboard.type('cd');
  await page.locator('.facts', { hasText: /ABCD/ }).waitFor();
  assert.equal(await page.locator(field).inputValue(), 'abcd');
  await page.close();
});

test('beam, temperature, model and a given output go to the server', options, async () => {
  const page = await opened();
  await page.getByText('As I type').click();
  await page.locator(field).fill('abc');
  await page.getByLabel('Beam').fill('4');
  await page.getByRole('button', { name: 'Run' }).click();
  await page.getByRole('button', { name: 'Search tree' }).waitFor();
  assert.equal(server.asked.at(-1)!.body!.beam, 4);
  await page.getByLabel('Beam').fill('1');
  await page.getByLabel('Temperature').fill('0.8');
  await page.locator(field).press('Enter');
  await page.locator('.facts', { hasText: /ABC!/ }).waitFor();
  assert.equal(
    server.asked.find(({ path, body }) => path === '/v1/predict' && body!.temperature)!.body!.temperature,
    0.8,
  );
  assert.equal(server.asked.at(-1)!.body!.target, 'ABC!', 'a sampled output is explained as it is');
  await page.getByLabel('Temperature').fill('0');
  await page.getByLabel('Model').selectOption('reverse');
  await page.locator('.facts', { hasText: /cba/ }).waitFor();
  await page.getByLabel('Output to explain').fill('xyz');
  await page.locator(field).press('Enter');
  await page.locator('.facts', { hasText: /xyz/ }).waitFor();
  assert.equal(server.asked.at(-1)!.body!.target, 'xyz');
  await page.close();
});

test('errors show the reason of the server, and go away', options, async () => {
  const page = await opened();
  await page.getByText('As I type').click();
  const ask = async (text: string) => {
    await page.locator(field).fill(text);
    await page.locator(field).press('Enter');
  };
  await ask('too long');
  await page.locator('[role=alert]', { hasText: 'The text has 9000 tokens; at most 1000 are allowed.' }).waitFor();
  assert.match(await page.locator('[role=alert]').innerText(), /text_too_long/);
  await ask('crash');
  await page.locator('[role=alert]', { hasText: 'The server answered 500' }).waitFor();
  await ask('half');
  await page.locator('[role=alert]', { hasText: 'The server is shutting down.' }).waitFor();
  server.contents.attention = (body) => ({ ...documentFor(body), version: 7 });
  await ask('abc');
  await page.locator('[role=alert]', { hasText: 'version: expected 1' }).waitFor();
  server.contents.attention = documentFor;
  await ask('abc');
  await page.locator('.facts', { hasText: /ABC/ }).waitFor();
  assert.ok(await page.locator('.live [role=alert]').isHidden());
  await page.close();
});

test('pinned examples stay beside the next one', options, async () => {
  const page = await opened();
  await page.getByText('As I type').click();
  for (const text of ['one', 'two']) {
    await page.locator(field).fill(text);
    await page.locator(field).press('Enter');
    await page.locator('.facts', { hasText: new RegExp(`${text.toUpperCase()}`) }).waitFor();
    if (text === 'one') await page.getByRole('button', { name: 'Pin' }).click();
  }
  await page.getByRole('button', { name: 'Two examples side by side' }).click();
  assert.match(await page.locator('[data-panel="0"] .facts').innerText(), /TWO/);
  assert.match(await page.locator('[data-panel="1"] .facts').innerText(), /ONE/);
  await page.close();
});

test('a link asks the same again', options, async () => {
  const page = await opened();
  await page.locator(field).fill('again');
  await page.getByLabel('Model').selectOption('reverse');
  await page.locator('.facts', { hasText: /niaga/ }).waitFor();
  await page.waitForURL(/input=again/);
  const link = page.url();
  await page.close();
  const other = await browser.page();
  await other.goto(link);
  await other.locator('.facts', { hasText: /niaga/ }).waitFor();
  assert.equal(await other.locator(field).inputValue(), 'again');
  assert.equal(await other.getByLabel('Model').inputValue(), 'reverse');
  await other.close();
});

test('a server that went away is said to be away', options, async () => {
  const gone = new MockServer();
  const page = await browser.page();
  await page.goto(await gone.start());
  await page.waitForSelector('.live');
  await gone.stop();
  await page.locator(field).fill('abc');
  await page.locator('[role=alert]', { hasText: 'The server does not answer' }).waitFor();
  await page.close();
});
