// Where the document comes from: inside the page, else from the server that sent the page, else from the reader.
import { InvalidDocument } from './document/validate.ts';
import { Client, type ListedModel } from './live/client.ts';
import { LivePanel } from './live/live_panel.ts';
import { adviceFor, ServerError } from './live/server_error.ts';
import { SessionToken } from './live/session_token.ts';
import { TrainingWatch } from './live/training_watch.ts';
import { askForToken } from './page/dialogs.ts';
import { readLink } from './page/link.ts';
import { embeddedDocument } from './page/open.ts';
import { Page } from './page/page.ts';

// Only heed serve answers such a question; what another server sends is no error of this page.
async function ask(client: Client, page: Page): Promise<ListedModel[] | null> {
  try {
    return await client.models();
  } catch (error) {
    if (!(error instanceof ServerError)) throw error;
    if (error.status === 401 || error.status === 429 || error.status >= 500)
      page.problem('The server cannot be used yet', [`${error.message} ${adviceFor(error)}`], () => location.reload());
    else page.empty();
    return null;
  }
}

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
  const client = new Client(new SessionToken(askForToken));
  const models = await ask(client, page);
  if (!models) return;
  const live = new LivePanel(client, models, {
    shown: (document, asked) => page.show(document, asked),
    asked: (asked) => page.remember(asked),
  });
  page.startLive(live, question);
  const curves = () => page.view === 'training';
  const watch = new TrainingWatch(client, curves, (runs) => page.showTraining(runs));
  page.viewed(() => watch.changed());
  await watch.start();
}

void start();
