// heed serve itself, as the environment's HEED names the program, with models that heed demo trains once and keeps.
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';

const program = process.env.HEED ? path.resolve(process.env.HEED) : '';

// Why there is no server to test, or nothing.
export const missing = !program
  ? 'no heed: build it (make build), or name the program by HEED=..'
  : !existsSync(program)
    ? `no heed: there is no ${program}, which HEED names`
    : '';

// A model that reads dates, after that many updates. 300 are 12 seconds, and enough to read most of them.
export function trainedModel(steps: number): string {
  const folder = path.resolve(`dist/models/dates-${steps}`);
  const done = spawnSync(program, ['demo', '--folder', folder, '--steps', String(steps)], {
    input: '5 March 2024\n',
    encoding: 'utf8',
  });
  if (done.status !== 0) throw new Error(`heed demo: ${done.stderr || done.error}`);
  return folder;
}

export class RealServer {
  private process: ChildProcess | null = null;
  private said = '';

  // Returns the address of the page.
  async start(...parameters: string[]): Promise<string> {
    const child = (this.process = spawn(program, ['serve', '--port', '0', ...parameters], {
      stdio: ['ignore', 'pipe', 'pipe'],
    }));
    child.stderr!.on('data', (data: Buffer) => (this.said += data.toString()));
    for await (const line of createInterface({ input: child.stdout! })) {
      const found = /\bon (http:\/\/\S+)/.exec(line);
      if (found) return found[1]!;
    }
    throw new Error(`heed serve ended: ${this.said}`);
  }

  // Asks it to finish; returns its exit code.
  async stop(): Promise<number | null> {
    const child = this.process;
    if (!child || child.exitCode !== null) return child?.exitCode ?? null;
    const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
    child.kill('SIGTERM');
    return ended;
  }
}
