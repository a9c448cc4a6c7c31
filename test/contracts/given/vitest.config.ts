import { defineConfig } from 'vitest/config';

/** The contracts on engines of others, which `npm run test:engine` runs. */
export default defineConfig({
  test: {
    include: ['test/contracts/given/*.engine.ts'],
    hookTimeout: 180_000,
    testTimeout: 120_000,
    expect: { poll: { timeout: 20_000 } },
  },
});
