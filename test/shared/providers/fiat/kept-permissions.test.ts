import { expect, it } from 'vitest';
import { RememberedBytes } from '#core/remembered-bytes.ts';
import { estimateBytes, parsePermission } from '#providers/fiat/answers.ts';
import { KeptPermissions } from '#providers/fiat/kept-permissions.ts';
import { createTestClock } from '../artifacts/options.ts';

/** Somebody with this many applications and two roles. */
function createPermission(applications: number) {
  const names = Array.from({ length: applications }, (_, index) => ({ name: `app${index}` }));
  return parsePermission({ applications: names, roles: [{ name: 'a' }, { name: 'b' }] }, 'somebody');
}

it('keeps no more than there is memory for, and the newest users', () => {
  const bytes = estimateBytes(createPermission(6));
  expect(bytes).toBeGreaterThan(6 * 80);
  const kept = new KeptPermissions({
    clock: createTestClock(),
    usersMax: 100,
    longestMs: 1_000,
    remembered: new RememberedBytes(2.5 * bytes),
  });
  for (const user of ['one', 'two', 'three']) kept.keep(user, createPermission(6));
  expect(['one', 'two', 'three'].filter((user) => kept.find(user, 1_000))).toEqual(['two', 'three']);

  // Who is told of anew does not count twice.
  for (let time = 0; time < 10; time += 1) kept.keep('three', createPermission(6));
  expect(kept.find('two', 1_000)).toBeDefined();

  // What would take most of it drives out nobody.
  kept.keep('huge', createPermission(21));
  expect(['one', 'two', 'three', 'huge'].filter((user) => kept.find(user, 1_000))).toEqual(['two', 'three']);
});
