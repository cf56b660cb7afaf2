// Builds dist/page.html: one file with everything inside. `node build.mjs [FILE]` writes it elsewhere.
import { createHash } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const here = path.dirname(fileURLToPath(import.meta.url));
const output = path.resolve(process.argv[2] ?? path.join(here, 'dist', 'page.html'));
const largest = 400 * 1000;

async function bundled(entry) {
  const result = await build({
    absWorkingDir: here,
    entryPoints: [entry],
    bundle: true,
    minify: true,
    write: false,
    charset: 'utf8',
    target: ['chrome123', 'firefox121', 'safari17.5'],
    legalComments: 'none',
    tsconfigRaw: {}, // the same bytes wherever the sources lie
    logLevel: 'warning',
  });
  return result.outputFiles[0].text.trim();
}

// A function, because a replacement text may hold "$&".
const put = (text, mark, value) => {
  const pieces = text.split(mark);
  if (pieces.length !== 2) throw new Error(`page.html: expected ${mark} once, found it ${pieces.length - 1} times`);
  return pieces.join(value);
};

// Inside a script element nothing may look like its end.
const script = (await bundled('src/main.ts')).replaceAll('</script', '<\\/script');
const style = await bundled('src/style.css');
let page = await readFile(path.join(here, 'page.html'), 'utf8');
page = put(page, 'HEED_SCRIPT_HASH', `sha256-${createHash('sha256').update(script, 'utf8').digest('base64')}`);
page = put(page, 'HEED_STYLE', style);
page = put(page, 'HEED_SCRIPT', script);
if (page.split('HEED_ATTENTION_DOCUMENT').length !== 2)
  throw new Error('the mark HEED_ATTENTION_DOCUMENT must be in the page exactly once');

const size = Buffer.byteLength(page);
if (size > largest) throw new Error(`the page has ${size} bytes; at most ${largest} are allowed`);
await mkdir(path.dirname(output), { recursive: true });
await writeFile(output, page);
console.log(`${path.relative(process.cwd(), output)}: ${(size / 1000).toFixed(1)} kB`);
