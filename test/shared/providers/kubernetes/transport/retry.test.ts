import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseRetryAfter, planRetry } from '#providers/kubernetes/transport/retry.ts';

const error = new Error('busy');
const state = { tries: 1, remainingMs: 30_000, repeatable: true, persists: false, randomFraction: 0.5 };

test.each([
  ['something permanent', { transient: false, harmless: true }, undefined],
  ['a broken read', { transient: true, harmless: false }, 100],
  ['a broken create', { transient: true, harmless: false, repeatable: false }, undefined],
  ['a create that was never sent', { transient: true, harmless: true, repeatable: false }, 100],
  ['the third try', { transient: true, harmless: true, tries: 3 }, 400],
  ['the fourth try', { transient: true, harmless: true, tries: 4 }, undefined],
  ['the fourth try of who persists', { transient: true, harmless: false, persists: true, tries: 4 }, 800],
  ['the tenth try of who persists', { transient: true, harmless: false, persists: true, tries: 10 }, 2_500],
  ['no time left', { transient: true, harmless: true, remainingMs: 100 }, undefined],
  ['a wish of 2 s', { transient: true, harmless: true, retryAfterMs: 2_000 }, 2_100],
  ['a wish of a day', { transient: true, harmless: true, retryAfterMs: 86_400_000 }, 10_100],
])('%s', (_what, situation, pauseMs) => {
  expect(planRetry({ error, ...situation }, { ...state, ...situation })).toBe(pauseMs);
});

test('all tries of a request together wait less than 1.4 s unless the server asks for more', () => {
  const fraction = fc.double({ min: 0, max: 0.999, noNaN: true });
  fc.assert(
    fc.property(fc.array(fraction, { minLength: 3, maxLength: 3 }), (fractions) => {
      const pauses = fractions.map((randomFraction, index) =>
        planRetry({ error, transient: true, harmless: true }, { ...state, tries: index + 1, randomFraction }),
      );
      expect(pauses.reduce<number>((sum, pause) => sum + (pause ?? Number.NaN), 0)).toBeLessThan(1_400);
    }),
  );
});

test.each([
  ['7', 7_000],
  [' 0 ', 0],
  [undefined, undefined],
  ['Wed, 21 Oct 2026 07:28:00 GMT', undefined],
  ['-1', undefined],
])('Retry-After: %s', (header, ms) => {
  expect(parseRetryAfter(header)).toBe(ms);
});
