import { defineConfig } from 'vitest/config';

/** The laboratory for as long as `npm run soak` is told. */
export default defineConfig({
  test: {
    include: ['test/lab/soak.lab.ts'],
    globalSetup: ['./test/support/global-cluster.ts'],
    hookTimeout: 180_000,
  },
});
