import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { defineConfig } from 'vitest/config';

const root = path.resolve(import.meta.dirname, '../..');

/** Suites whose short form `npm test` runs: those that choose a size, and those that pass a contract that does. */
const longForms = globSync(['test/**/*.test.ts'], { cwd: root }).filter((file) => {
  const text = readFileSync(path.join(root, file), 'utf8');
  return /\/run\/test-size\.ts'|\/contracts\//.test(text);
});

const longest = { testTimeout: 60_000, hookTimeout: 180_000, expect: { poll: { timeout: 60_000 } } };

/** `npm run soak`: the laboratory, then the long forms of other suites, one after the other. */
export default defineConfig({
  test: {
    globalSetup: ['./test/support/cluster/global-cluster.ts'],
    fileParallelism: false,
    projects: [
      // Vitest runs what is not parallel and has no order after all others.
      {
        extends: true,
        test: {
          ...{ name: 'laboratory', ...longest, include: ['test/lab/soak.lab.ts'] },
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: { name: 'long forms', ...longest, include: longForms, sequence: { groupOrder: 2 } },
      },
    ],
  },
});
