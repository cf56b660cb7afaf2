// Where documents come from: inside the page, a file that the reader opens or drops, or a server (main.ts).
import { documentOfLog } from '../document/log.ts';
import { merged } from '../document/merge.ts';
import type { AttentionDocument } from '../document/types.ts';
import { InvalidDocument, parseDocument } from '../document/validate.ts';

// Programs replace the mark inside that element by a document; without one it is the mark itself, which is no JSON object.
export function embeddedDocument(): AttentionDocument | null {
  const text = document.getElementById('heed-data')?.textContent?.trim() ?? '';
  return text.startsWith('{') ? parseDocument(text) : null;
}

async function read(file: File): Promise<AttentionDocument> {
  const text = await file.text();
  try {
    return file.name.endsWith('.jsonl') ? documentOfLog(text, file.name) : parseDocument(text);
  } catch (error) {
    if (error instanceof InvalidDocument)
      throw new InvalidDocument([`${file.name} cannot be shown:`, ...error.reasons]);
    throw error;
  }
}

export async function openFiles(files: Iterable<File>): Promise<AttentionDocument> {
  return merged(await Promise.all(Array.from(files, read)));
}

export function askForFiles(opened: (files: Iterable<File>) => void): void {
  const input = document.createElement('input');
  input.type = 'file';
  input.multiple = true;
  input.accept = '.json,.jsonl,application/json';
  input.addEventListener('change', () => input.files && opened(input.files));
  input.click();
}

export function acceptDrops(opened: (files: Iterable<File>) => void): void {
  addEventListener('dragover', (event) => {
    event.preventDefault();
    document.body.classList.add('dropping');
  });
  addEventListener('dragleave', (event) => event.relatedTarget === null && document.body.classList.remove('dropping'));
  addEventListener('drop', (event) => {
    event.preventDefault();
    document.body.classList.remove('dropping');
    if (event.dataTransfer?.files.length) opened(event.dataTransfer.files);
  });
}
