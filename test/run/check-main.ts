import { spawn } from 'node:child_process';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import '#test/support/run/compile-cache.ts';

/** What `npm run check` runs side by side: none needs a control plane or a build. */
const checks = [
  { name: 'format and lint', command: 'biome', args: ['check', '.'] },
  { name: 'types', command: 'tsc', args: ['--noEmit', '--pretty', 'false'] },
  { name: 'architecture', command: 'vitest', args: ['run', '--project=architecture', '--reporter=dot'] },
] as const;

const root = path.resolve(import.meta.dirname, '../..');

/** Runs one of them, and prints all that it found when it ends. @returns whether it found nothing */
async function run({ name, command, args }: (typeof checks)[number]): Promise<boolean> {
  const startedAtMs = performance.now();
  const program = path.join(root, 'node_modules/.bin', command);
  const child = spawn(program, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
  const [stdout, stderr, code] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    new Promise<number | null>((resolve, reject) => child.once('error', reject).once('close', resolve)),
  ]);
  const seconds = ((performance.now() - startedAtMs) / 1000).toFixed(1);
  const isWell = code === 0;
  process.stdout.write(`${stdout}${stderr}${isWell ? 'ok' : 'FAILED'}: ${name}, ${seconds} s\n`);
  return isWell;
}

const results = await Promise.all(checks.map(run));
process.exitCode = results.every((isWell) => isWell) ? 0 : 1;
