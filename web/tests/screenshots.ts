// Pictures of the page to look at: node tests/run.mjs --screenshots FOLDER. With HEED=.. also those of docs/pictures, of
// heed serve itself.
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { Browser } from './browser/browser.ts';
import { MockServer } from './browser/mock_server.ts';
import { missing, RealServer, trainedModel } from './browser/real_server.ts';
import { largeDocument, oddTokensDocument, smallDocument } from './documents.ts';

const folder = process.argv[2] ?? 'dist/screenshots';
await mkdir(folder, { recursive: true });
const browser = await Browser.start();
const small = await browser.fileWith(smallDocument());
const large = await browser.fileWith(largeDocument(4, 8, 512), 'large.html');
const odd = await browser.fileWith(oddTokensDocument(), 'odd.html');
const shots: { name: string; address: string; width?: number; dark?: boolean; hover?: [number, number] }[] = [
  { name: 'matrix', address: small + '#view=matrix&head=2&cell=3,3' },
  { name: 'matrix-dark', address: small + '#view=matrix&head=2&cell=3,3', dark: true },
  { name: 'lines', address: small + '#view=lines&head=2', hover: [60, 110] },
  { name: 'heads', address: small + '#view=heads' },
  { name: 'heads-dark', address: small + '#view=heads', dark: true },
  { name: 'scripts', address: small + '#view=matrix&example=2' },
  { name: 'text', address: small + '#view=text&example=3' },
  { name: 'text-dark', address: small + '#view=text&example=3', dark: true },
  { name: 'picture', address: small + '#view=picture&example=4' },
  { name: 'beam', address: small + '#view=beam' },
  { name: 'training', address: small + '#view=training' },
  { name: 'comparison', address: small + '#view=comparison' },
  { name: 'side', address: small + '#view=matrix&example=1&example2=2&map2=decoder.1.cross' },
  { name: 'phone', address: small + '#view=matrix&head=2&cell=3,3', width: 360 },
  { name: 'phone-dark', address: small + '#view=lines&head=2', width: 360, dark: true },
  { name: 'phone-heads', address: small + '#view=heads', width: 360 },
  { name: 'odd-tokens', address: odd + '#view=matrix&map=decoder.1.cross', width: 800, hover: [200, 150] },
  { name: 'odd-tokens-lines', address: odd + '#view=lines&map=decoder.1.cross', width: 800 },
  { name: 'odd-tokens-turned', address: odd + '#view=matrix&map=decoder.1.self', width: 800 },
  { name: 'large', address: large + '#view=matrix&head=1', hover: [300, 300] },
  { name: 'large-heads', address: large + '#view=heads' },
];
const only = process.argv[3];
for (const shot of shots.filter((one) => !only || only.split(',').includes(one.name))) {
  const page = await browser.page();
  await page.setViewportSize({ width: shot.width ?? 1280, height: 860 });
  await page.emulateMedia({ colorScheme: shot.dark ? 'dark' : 'light' });
  await page.goto(shot.address);
  await page.waitForTimeout(shot.name.startsWith('large') ? 1500 : 250);
  if (shot.hover) await page.hover('.stage-window', { position: { x: shot.hover[0], y: shot.hover[1] } });
  await page.waitForTimeout(100);
  await page.screenshot({ path: path.join(folder, `${shot.name}.png`), fullPage: true });
  if (page.problems.length > 0) console.log(shot.name, page.problems);
  await page.close();
}
if (!only || only.includes('live')) {
  const server = new MockServer();
  const page = await browser.page();
  await page.goto(await server.start());
  await page.waitForSelector('.live');
  await page.screenshot({ path: path.join(folder, 'live-first.png') });
  await page.locator('.live textarea').fill('what a model looks at');
  await page.getByLabel('Beam').fill('3');
  await page.waitForURL(/input=what/);
  await page.screenshot({ path: path.join(folder, 'live.png') });
  await page.getByRole('button', { name: 'Search tree' }).click();
  await page.screenshot({ path: path.join(folder, 'live-beam.png'), fullPage: true });
  await page.getByRole('button', { name: 'Matrix' }).click();
  await page.getByLabel('Compare with').selectOption('reverse');
  await page.locator('[data-panel="1"] .facts').waitFor();
  await page.screenshot({ path: path.join(folder, 'live-compare.png'), fullPage: true });
  await page.getByLabel('Compare with').selectOption('');
  await page.locator('[data-panel="1"]').waitFor({ state: 'detached' });
  await page.setViewportSize({ width: 360, height: 860 });
  await page.locator('.live textarea').fill('too long');
  await page.locator('.live [role=alert]').waitFor();
  await page.screenshot({ path: path.join(folder, 'live-phone.png') });
  await page.keyboard.press('Escape');
  await page.setViewportSize({ width: 1000, height: 860 });
  await page.getByRole('button', { name: 'Keys and help' }).click();
  await page.screenshot({ path: path.join(folder, 'live-help.png') });
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Save what is seen' }).click();
  await page.screenshot({ path: path.join(folder, 'live-save.png') });
  await page.close();
  await server.stop();
}
if (!missing && (!only || only.includes('serve'))) {
  const server = new RealServer();
  const address = await server.start(`dates=${trainedModel(300)}`);
  const question = '#view=matrix&cell=7,11&model=dates&input=mardi+14+juillet+2015';
  for (const [name, width, height] of [
    ['serve', 1200, 480],
    ['serve_phone', 390, 780],
  ] as const) {
    const page = await browser.page();
    await page.setViewportSize({ width, height });
    await page.goto(address + question);
    await page.waitForURL(/input=mardi/);
    await page.locator('[data-explains]').waitFor();
    await page.waitForTimeout(500);
    await page.screenshot({ path: path.join(folder, `${name}.png`) });
    await page.close();
  }
  await server.stop();
}
await browser.stop();
