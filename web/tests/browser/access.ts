// axe-core in a page: what breaks its rules, in words.
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const source = readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface Axe {
  run(): Promise<{ violations: { id: string; help: string; nodes: { html: string; failureSummary: string }[] }[] }>;
}

export async function violations(page: Page): Promise<string[]> {
  await page.evaluate(await source);
  return page.evaluate(async () => {
    const { violations } = await (window as unknown as { axe: Axe }).axe.run();
    return violations.map(
      (one) =>
        `${one.id}: ${one.help}\n  ${one.nodes.map((node) => `${node.html}\n  ${node.failureSummary}`).join('\n  ')}`,
    );
  });
}
