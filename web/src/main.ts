// Where the document comes from: inside the page, else from the server that sent the page, else from the reader.
import { InvalidDocument } from './document/validate.ts';
import { Client } from './live/client.ts';
import { LivePanel } from './live/live_panel.ts';
import { readLink } from './page/link.ts';
import { embeddedDocument } from './page/open.ts';
import { Page } from './page/page.ts';

async function start(): Promise<void> {
  const { question } = readLink(location.hash);
  const page = new Page(document.getElementById('page')!);
  try {
    const embedded = embeddedDocument();
    if (embedded) return page.show(embedded);
  } catch (error) {
    return page.problem(
      'The document in this page cannot be shown',
      error instanceof InvalidDocument ? error.reasons : [String(error)],
    );
  }
  if (!location.protocol.startsWith('http')) return page.empty();
  const client = new Client();
  try {
    const models = await client.models();
    const live = new LivePanel(client, models, {
      shown: (document) => page.show(document),
      asked: (asked) => page.remember(asked),
    });
    page.startLive(live, question);
  } catch {
    page.empty();
  }
}

void start();
