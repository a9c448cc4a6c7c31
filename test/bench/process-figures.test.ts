import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { parseProcessorMs, readProcessFigures } from './process-figures.ts';

it('reads what a process that runs uses', async () => {
  const before = await readProcessFigures(process.pid);
  const untilMs = performance.now() + 200;
  while (performance.now() < untilMs) Math.sqrt(untilMs);
  const after = await readProcessFigures(process.pid);
  expect(before.memoryMiB).toBeGreaterThan(10);
  expect(after.processorMs).toBeGreaterThan(before.processorMs);
});

it('is not led astray by the name of a process', () => {
  const stat = '42 (a) b (c) S 1 42 42 0 -1 4194560 100 0 0 0 7 5 0 0 20 0 11 0 100 1000 200';
  expect(parseProcessorMs(stat)).toBe(120);
});

it('says of a process that has ended that it has', async () => {
  const { pid } = spawnSync(process.execPath, ['--version']);
  await expect(readProcessFigures(pid)).rejects.toThrow(`process ${pid} has ended`);
});
