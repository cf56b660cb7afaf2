// All tests of the page: node tests/run.mjs [--types] [--unit] [--browser] [WORD...], or --screenshots FOLDER [NAME,NAME..].
// With words, only the files whose names have one of them.
// TypeScript is bundled by esbuild first, because Node 18 and 20 do not read it.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildSync } from 'esbuild';

const here = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
process.chdir(here);
const only = process.argv.slice(2);
const words = only.filter((word) => !word.startsWith('--'));
const work = path.join(here, 'dist', 'tests');
rmSync(work, { recursive: true, force: true });
mkdirSync(work, { recursive: true });

const named = (folder) =>
  readdirSync(path.join('tests', folder))
    .filter((name) => name.endsWith('_test.ts') && (words.length === 0 || words.some((word) => name.includes(word))))
    .map((name) => path.join('tests', folder, name));
const bundle = (entryPoints) => {
  buildSync({
    entryPoints,
    outdir: work,
    outbase: 'tests',
    bundle: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
    outExtension: { '.js': '.mjs' },
    logLevel: 'warning',
  });
  return entryPoints.map((file) => path.join(work, path.relative('tests', file).replace(/\.ts$/, '.mjs')));
};
const run = (program, parameters, options = {}) => spawnSync(program, parameters, { stdio: 'inherit', ...options });

if (only[0] === '--screenshots') {
  run(process.execPath, ['build.mjs']);
  const [script] = bundle(['tests/screenshots.ts']);
  process.exit(run(process.execPath, [script, ...only.slice(1)]).status ?? 1);
}

const wants = (part) => only.length === words.length || only.includes(`--${part}`);
let passed = 0;
let failed = 0;
let skipped = 0;
const count = (good, words) => {
  if (good) ++passed;
  else ++failed;
  console.log(`${good ? 'ok    ' : 'FAILED'} ${words}`);
};

if (wants('types')) count(run(path.join('node_modules', '.bin', 'tsc'), ['--noEmit']).status === 0, 'types');
count(run(process.execPath, ['build.mjs']).status === 0, 'build');
for (const folder of ['unit', 'browser'].filter(wants)) {
  // One file after the other: a browser at a time is enough for two cores.
  for (const file of bundle(named(folder))) {
    const result = run(process.execPath, ['--test', '--test-reporter=tap', file], {
      stdio: ['ignore', 'pipe', 'inherit'],
      encoding: 'utf8',
      maxBuffer: 1 << 26,
      timeout: 600000, // a loop without an end fails, instead of going on for ever
    });
    const number = (word) => Number(new RegExp(`^# ${word} (\\d+)`, 'm').exec(result.stdout)?.[1] ?? 0);
    const good = result.status === 0 && number('pass') + number('skipped') > 0;
    passed += number('pass');
    failed += number('fail') + (!good && number('fail') === 0 ? 1 : 0);
    skipped += number('skipped');
    if (!good) console.log(result.stdout);
    for (const [, line] of result.stdout.matchAll(/(measured: .*)$/gm)) console.log(line);
    const name = `${folder}/${path.basename(file, '.mjs')}`;
    const reasons = new Set(Array.from(result.stdout.matchAll(/^ *ok .* # SKIP (.*)$/gm), ([, reason]) => reason));
    for (const reason of reasons) console.log(`LEFT OUT ${name}: ${number('skipped')} tests: ${reason}`);
    if (!good || number('pass') > 0) console.log(`${good ? 'ok    ' : 'FAILED'} ${name}: ${number('pass')} tests`);
  }
}
console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} left out` : ''}`);
process.exit(failed === 0 ? 0 : 1);
