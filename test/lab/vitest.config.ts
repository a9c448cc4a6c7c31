import { defineConfig } from 'vitest/config';

/** `npm run soak`: the laboratory and the storm, one after the other, for as long as they are told. */
export default defineConfig({
  test: {
    include: ['test/lab/soak.lab.ts', 'test/acceptance/cache-equality.test.ts'],
    fileParallelism: false,
    globalSetup: ['./test/support/global-cluster.ts'],
    hookTimeout: 180_000,
  },
});
