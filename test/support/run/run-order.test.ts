import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

const root = path.resolve(import.meta.dirname, '../../..');

describe.each(['vitest.config.ts', 'test/lab/vitest.config.ts'])('%s', (config) => {
  test('names files that there are', () => {
    const text = readFileSync(path.join(root, config), 'utf8');
    const named = [...text.matchAll(/'(test\/[^'*]+\.ts)'/g)].map(([, file = '']) => file);
    expect(named.length).toBeGreaterThan(5);
    expect(named.filter((file) => !existsSync(path.join(root, file)))).toEqual([]);
  });
});
