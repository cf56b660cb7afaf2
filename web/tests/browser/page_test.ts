import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { matrixOf, weightAt } from '../../src/document/weights.ts';
import { f32, oddTokensDocument, smallDocument } from '../documents.ts';
import { Browser, chromiumPath, pageFile } from './browser.ts';

const options = { skip: chromiumPath ? false : 'no Chromium: apt-get install chromium', timeout: 120000 };
let browser: Browser;
let address: string;
before(async () => {
  if (!chromiumPath) return;
  browser = await Browser.start({ acceptDownloads: true, permissions: ['clipboard-read', 'clipboard-write'] });
  address = await browser.fileWith(smallDocument());
});
after(async () => browser?.stop());

async function opened(hash = '') {
  const page = await browser.page();
  await page.goto(address + hash);
  await page.waitForSelector('.panel');
  return page;
}

test('shows the document that is inside, asks nobody for anything', options, async () => {
  const page = await browser.page();
  const asked: string[] = [];
  page.on('request', (request) => asked.push(request.url()));
  await page.goto(address);
  await page.waitForSelector('.stage canvas');
  assert.equal(await page.title(), 'Sentences, a review and a picture – heed');
  assert.match(await page.locator('.facts').innerText(), /A brown dog runs over the green grass/);
  assert.deepEqual(
    asked.filter((url) => !url.startsWith('data:') && !url.startsWith('blob:')),
    [address],
  );
  // Something was drawn: the canvas has more than one colour.
  const colours = await page.evaluate(() => {
    const canvas = document.querySelector<HTMLCanvasElement>('.stage canvas')!;
    const { data } = canvas.getContext('2d')!.getImageData(0, 0, canvas.width, canvas.height);
    return new Set(new Uint32Array(data.buffer)).size;
  });
  assert.ok(colours > 20, String(colours));
  assert.deepEqual(page.problems, []);
  await page.close();
});

test('pointing at a cell tells its exact weight, and the strongest keys of its query', options, async () => {
  const page = await opened('#view=matrix&example=1&map=decoder.1.cross&head=3&cell=5,5');
  const example = smallDocument().examples[0]!;
  const matrix = matrixOf(example.maps.at(-1)!, 2);
  // The kept cell is drawn; its row is read out.
  assert.match(await page.locator('.readout').innerText(), /über/);
  const box = (await page.locator('.stage-window').boundingBox())!;
  await page.mouse.move(box.x + box.width - 20, box.y + box.height - 20);
  const tip = await page.locator('.tip').innerText();
  assert.equal(tip.replace(/[\u2068\u2069]/g, ''), `</s> → </s>: ${weightAt(matrix, 9, 9).toFixed(4)}`);
  assert.match(await page.locator('.readout li').first().innerText(), new RegExp(weightAt(matrix, 9, 9).toFixed(4)));
  await page.mouse.click(box.x + box.width - 20, box.y + box.height - 20);
  await page.waitForURL(/cell=10%2C10/);
  await page.close();
});

test('a head of all heads opens as a matrix', options, async () => {
  const page = await opened('#view=heads');
  assert.equal(await page.locator('.thumb').count(), 24);
  await page.getByRole('button', { name: 'Open encoder self-attention, encoder layer 2, head 3' }).click();
  await page.waitForSelector('.map-view');
  assert.match(page.url(), /view=matrix&example=1&map=encoder.1.self&head=3/);
  assert.equal(await page.locator('.segments [aria-pressed=true]').innerText(), '3');
  assert.equal(await page.locator('.field select').inputValue(), 'encoder.1.self');
  await page.close();
});

test('a link restores the view, in a new page too', options, async () => {
  const page = await opened();
  await page.getByRole('button', { name: 'Lines' }).click();
  await page.getByRole('button', { name: 'Head 4' }).click();
  await page.getByRole('button', { name: 'Two examples side by side' }).click();
  await page.getByRole('button', { name: 'Matrix' }).click();
  await page.locator('[data-panel="1"]').getByText('Each row alone').click();
  await page.getByRole('button', { name: 'Copy a link to this view' }).click();
  const link = await page.evaluate(() => navigator.clipboard.readText());
  assert.equal(link, page.url());
  const again = await browser.page();
  await again.goto(link);
  await again.waitForSelector('.panel');
  assert.equal(await again.locator('.panel').count(), 2);
  assert.equal(await again.locator('[data-panel="0"] .segments [aria-pressed=true]').innerText(), '4');
  assert.equal(await again.locator('[data-panel="1"] .example-choice select').inputValue(), '1');
  assert.ok(await again.locator('[data-panel="0"] .check input').first().isChecked());
  assert.equal(again.url(), page.url());
  await page.close();
  await again.close();
});

test('dark and light: as the system has it, switched by a button, remembered', options, async () => {
  const page = await opened();
  const back = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
  const light = await back();
  await page.emulateMedia({ colorScheme: 'dark' });
  const dark = await back();
  assert.notEqual(light, dark);
  await page.emulateMedia({ colorScheme: 'light' });
  await page.getByRole('button', { name: 'Dark or light' }).click();
  assert.equal(await back(), dark);
  await page.reload();
  assert.equal(await back(), dark);
  await page.getByRole('button', { name: 'Dark or light' }).click();
  assert.equal(await back(), light);
  await page.close();
});

test('everything works with the keyboard alone', options, async () => {
  const page = await opened();
  const key = (name: string) => page.keyboard.press(name);
  await key('?');
  assert.match(await page.locator('dialog').innerText(), /next head/);
  await key('Escape');
  assert.equal(await page.locator('dialog').count(), 0);
  await key('l');
  assert.match(page.url(), /view=lines/);
  await key('m');
  await key(']');
  await key(']');
  assert.match(page.url(), /head=2/);
  await key('[');
  assert.match(page.url(), /head=1/);
  await key('{');
  assert.match(page.url(), /map=decoder.0.cross/);
  // By Tab into the matrix, and from cell to cell.
  for (let i = 0; i < 60; ++i) {
    await key('Tab');
    if (await page.evaluate(() => document.activeElement?.classList.contains('stage-window'))) break;
  }
  for (const name of ['ArrowDown', 'ArrowDown', 'ArrowRight', 'End', 'Enter']) await key(name);
  assert.match(page.url(), /cell=2%2C10/);
  assert.match(await page.locator('.spoken').innerText(), /brauner.*<\/s>.*: 0/);
  await key('h');
  await page.waitForSelector('.thumb');
  await page.locator('.thumb[tabindex="0"]').focus();
  await key('ArrowDown');
  await key('ArrowRight');
  await key('Enter');
  assert.match(page.url(), /view=matrix/);
  await key('j');
  assert.match(page.url(), /example=2/);
  await key('k');
  await key('s');
  assert.equal(await page.locator('.panel').count(), 2);
  await key('s');
  const before = await page.evaluate(() => document.documentElement.dataset.theme);
  await key('d');
  assert.notEqual(await page.evaluate(() => document.documentElement.dataset.theme), before);
  await key('d');
  await key('e');
  assert.match(await page.locator('dialog').innerText(), /SVG/);
  await key('Escape');
  assert.deepEqual(page.problems, []);
  await page.close();
});

test('single keys can be switched off, and typing never means a shortcut', options, async () => {
  const page = await opened();
  await page.keyboard.press('?');
  await page.getByText('Single keys are on').click();
  await page.keyboard.press('Escape');
  await page.keyboard.press('l');
  assert.match(page.url(), /view=matrix/);
  await page.keyboard.press('?');
  await page.getByText('Single keys are on').click();
  await page.keyboard.press('Escape');
  await page.keyboard.press('l');
  assert.match(page.url(), /view=lines/);
  await page.close();
});

test('every view is saved as SVG, PNG, CSV and JSON', options, async () => {
  const cases: [string, RegExp, string][] = [
    ['#view=matrix&head=2', /^,A,brown/, 'weights'],
    ['#view=lines&head=2', /^,A,brown/, 'weights'],
    ['#view=heads', /^map,head/, 'weights'],
    ['#view=text&example=3', /^sentence,/, 'wonderful'],
    ['#view=picture&example=4', /^,"row 1, column 1"/, 'weights'],
    ['#view=beam', /^id,parent/, 'kept'],
    ['#view=training', /^run,step/, 'points'],
    ['#view=comparison', /^variant,/, 'columns'],
  ];
  for (const [hash, csvStart, jsonWord] of cases) {
    const page = await opened(hash);
    await page.waitForTimeout(100);
    await page.keyboard.press('e');
    const files: Record<string, Buffer> = {};
    for (const kind of ['SVG', 'PNG', 'CSV', 'JSON']) {
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('button', { name: `Download as ${kind}` }).click(),
      ]);
      files[kind] = await readFile(await download.path());
    }
    const svg = files.SVG!.toString();
    const valid = await page.evaluate(
      (text) => new DOMParser().parseFromString(text, 'image/svg+xml').querySelector('parsererror') === null,
      svg,
    );
    assert.ok(valid && svg.length > 500, hash);
    assert.equal(files.PNG!.subarray(1, 4).toString(), 'PNG', hash);
    assert.ok(files.PNG!.length > 1000, hash);
    assert.match(files.CSV!.toString(), csvStart, hash);
    assert.ok(JSON.stringify(JSON.parse(files.JSON!.toString())).includes(jsonWord), hash);
    await page.getByRole('button', { name: 'Copy as CSV' }).click();
    await page.getByText('CSV copied.').waitFor();
    assert.match(await page.evaluate(() => navigator.clipboard.readText()), csvStart, hash);
    assert.deepEqual(page.problems, [], hash);
    await page.close();
  }
});

test('the saved numbers are the weights', options, async () => {
  const page = await opened('#view=matrix&head=2');
  await page.keyboard.press('e');
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Download as CSV' }).click(),
  ]);
  const rows = (await readFile(await download.path(), 'utf8'))
    .trim()
    .split('\r\n')
    .map((row) => row.split(','));
  const matrix = matrixOf(smallDocument().examples[0]!.maps.at(-1)!, 1);
  assert.equal(rows.length, matrix.rows + 1);
  for (let row = 0; row < matrix.rows; ++row)
    for (let col = 0; col < matrix.cols; ++col)
      assert.equal(Number(rows[row + 1]![col + 1]), weightAt(matrix, row, col));
  await page.close();
});

test('the text alternative has the strongest keys of every query', options, async () => {
  const page = await opened('#view=matrix&head=4');
  await page.getByText('Read as text').click();
  await page.locator('.as-text tbody tr').first().waitFor();
  assert.equal(await page.locator('.as-text tbody tr').count(), 10);
  assert.match(await page.locator('.as-text tbody tr').first().innerText(), /Ein\s+A 0\.\d{4}, brown 0\.\d{4}/);
  await page.close();
});

test('the table is sorted by a click on a column', options, async () => {
  const page = await opened('#view=comparison');
  const first = () => page.locator('tbody tr').first().innerText();
  await page.getByRole('button', { name: 'exact match' }).click();
  assert.match(await first(), /additive/);
  await page.getByRole('button', { name: 'exact match' }).click();
  assert.match(await first(), /local_p/);
  assert.equal(await page.locator('[aria-sort=ascending]').count(), 1);
  await page.close();
});

test('nothing is wider than a phone, in any view', options, async () => {
  const page = await browser.page();
  await page.setViewportSize({ width: 360, height: 720 });
  for (const hash of [
    '#view=matrix',
    '#view=lines&example=2',
    '#view=heads',
    '#view=text&example=3',
    '#view=picture&example=4',
    '#view=beam',
    '#view=training',
    '#view=comparison',
    '#view=matrix&example=1&example2=2',
  ]) {
    await page.goto(address + hash);
    await page.reload();
    await page.waitForSelector('.panel');
    const width = await page.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(width <= 360, `${hash}: ${width}`);
  }
  await page.close();
});

test('a document can be opened as a file, dropped, and a broken one is refused with its reasons', options, async () => {
  const page = await browser.page();
  await page.goto(pathToFileURL(pageFile).href);
  await page.getByText('Nothing to show yet').waitFor();
  const open = async (name: string, content: string) => {
    const file = path.join(browser.folder, name);
    await writeFile(file, content);
    const [chooser] = await Promise.all([
      page.waitForEvent('filechooser'),
      page.getByRole('button', { name: 'Open a document' }).click(),
    ]);
    await chooser.setFiles(file);
  };
  const broken = smallDocument();
  broken.examples[0]!.maps[0]!.rows = 3;
  await open('broken.json', JSON.stringify(broken));
  await page.getByText('maps[0].rows: expected 10').waitFor();
  assert.match(await page.locator('[role=alert]').innerText(), /broken.json cannot be shown/);
  await open('good.json', JSON.stringify(smallDocument()));
  await page.waitForSelector('.panel');
  assert.equal(await page.locator('[role=alert]').count(), 0);
  await open('log.jsonl', '{"event":"step","step":1,"loss":2}\n{"event":"step","step":2,"loss":1.5}\n');
  await page.getByText('loss while training').first().waitFor();
  const dropped = JSON.stringify({ ...smallDocument(), title: 'dropped' });
  await page.evaluate((text) => {
    const transfer = new DataTransfer();
    transfer.items.add(new File([text], 'a.json'));
    dispatchEvent(new DragEvent('drop', { dataTransfer: transfer }));
  }, dropped);
  await page.getByText('dropped', { exact: true }).waitFor();
  assert.deepEqual(page.problems, []);
  await page.close();
});

test('a broken document inside the page is reported, not drawn', options, async () => {
  const broken = smallDocument();
  broken.examples[0]!.model = 9;
  const page = await browser.page();
  await page.goto(await browser.fileWith(broken, 'broken.html'));
  await page.getByText('examples[0].model: expected a whole number from 0 to 2, got 9').waitFor();
  await page.close();
});

test('weights that turn out to be damaged are reported where they should be', options, async () => {
  const damaged = smallDocument();
  const weights = damaged.examples[0]!.maps.at(-1)!.weights;
  weights.data = '!' + weights.data.slice(1);
  const page = await browser.page();
  await page.goto(await browser.fileWith(damaged, 'damaged.html'));
  await page.getByText('This cannot be drawn: the weights of decoder.1.cross are not base64').waitFor();
  await page.keyboard.press('{');
  await page.waitForSelector('.stage canvas');
  await page.close();
});

test('tokens that look like HTML are text', options, async () => {
  const nasty = smallDocument();
  const bad = '</script><img src=x onerror="window.hacked=1">';
  nasty.title = bad;
  nasty.examples[0]!.input = bad;
  nasty.examples[0]!.output = bad;
  nasty.examples[0]!.sequences.source!.tokens[0] = bad;
  const page = await browser.page();
  await page.goto((await browser.fileWith(nasty, 'nasty.html')) + '#view=matrix&cell=1,1');
  await page.waitForSelector('.panel');
  await page.getByText('Read as text').click();
  await page.locator('.as-text tbody tr').first().waitFor();
  assert.equal(await page.evaluate(() => (window as unknown as { hacked?: number }).hacked), undefined);
  assert.match(await page.locator('.facts').innerText(), /<\/script><img/);
  assert.deepEqual(page.problems, []);
  await page.close();
});

test('long tokens of families, marks and other scripts are shown at once', options, async () => {
  const page = await browser.page();
  page.setDefaultTimeout(20000);
  await page.setViewportSize({ width: 800, height: 600 });
  const file = await browser.fileWith(oddTokensDocument(), 'odd_tokens.html');
  for (const map of ['decoder.1.cross', 'decoder.1.self'])
    for (const view of ['matrix', 'lines', 'heads']) {
      await page.goto(`${file}#view=${view}&map=${map}`);
      await page.reload();
      await page.waitForSelector('.panel');
      await page.keyboard.press('ArrowDown');
      assert.equal(await page.evaluate(() => 6 * 7), 42, `${view}, ${map}: the page answers`);
    }
  assert.deepEqual(page.problems, []);
  await page.close();
});

test('negative weights, empty maps and odd sizes are shown', options, async () => {
  const document = smallDocument();
  const example = document.examples[0]!;
  example.sequences.none = { label: 'nothing', tokens: [] };
  example.sequences.one = { label: 'one', tokens: ['a'] };
  const odd = (name: string, queries: string, keys: string, weights: number[]) => ({
    name,
    label: name,
    queries,
    keys,
    heads: 1,
    rows: example.sequences[queries]!.tokens.length,
    cols: example.sequences[keys]!.tokens.length,
    weights: f32(weights),
  });
  example.maps = [
    odd('empty', 'none', 'source', []),
    odd(
      'narrow',
      'source',
      'one',
      example.sequences.source!.tokens.map((_, i) => i / 5 - 1),
    ),
    odd('nothing', 'one', 'one', [0]),
  ];
  const page = await browser.page();
  const file = await browser.fileWith(document, 'odd.html');
  for (const view of ['matrix', 'lines', 'heads'])
    for (const { name } of example.maps) {
      await page.goto(`${file}#view=${view}&map=${name}`);
      await page.reload();
      await page.waitForSelector('.panel');
      await page.keyboard.press('e');
      await page.keyboard.press('Escape');
    }
  assert.deepEqual(page.problems, []);
  await page.close();
});
