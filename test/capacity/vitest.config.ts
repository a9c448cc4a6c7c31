import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: { include: ['test/capacity/*.capacity.ts'], hookTimeout: 180_000, testTimeout: 4 * 3600_000 },
});
