// A browser and a server that plays heed serve, for the tests of one file.
import { after, before } from 'node:test';
import { Browser, chromiumPath } from './browser.ts';
import { MockServer } from './mock_server.ts';

export const options = { skip: chromiumPath ? false : 'no Chromium: apt-get install chromium', timeout: 120000 };
export const server = new MockServer();
export let browser: Browser;
export let address: string;

before(async () => {
  if (!chromiumPath) return;
  address = await server.start();
  browser = await Browser.start();
});
after(async () => {
  await browser?.stop();
  if (chromiumPath) await server.stop();
});
