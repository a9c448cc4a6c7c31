import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { chooseSize } from './test-size.ts';

const sizes = { short: 3, long: 300 };

beforeEach(() => void vi.stubEnv('TEST_SIZE', undefined));
afterEach(() => void vi.unstubAllEnvs());

test('the short form is the usual one', () => {
  expect(chooseSize(sizes)).toBe(3);
  vi.stubEnv('TEST_SIZE', 'short');
  expect(chooseSize(sizes)).toBe(3);
});

test('the long form is asked for by the environment', () => {
  vi.stubEnv('TEST_SIZE', 'long');
  expect(chooseSize(sizes)).toBe(300);
});

test('any other size is an error that names the variable', () => {
  vi.stubEnv('TEST_SIZE', 'huge');
  expect(() => chooseSize(sizes)).toThrow("TEST_SIZE: expected 'short' or 'long', not 'huge'");
});
