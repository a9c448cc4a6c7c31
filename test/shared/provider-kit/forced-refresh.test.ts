import { expect, test } from 'vitest';
import type { CacheStore } from '#caching/store/cache-store.ts';
import { FailedOperationError } from '#core/errors.ts';
import { forceRefresh } from '#provider-kit/forced-refresh.ts';
import { createTurnedClock } from '#test/support/run/test-clock.ts';

const clock = createTurnedClock();
const found = { cachedIdentifiersByType: { ServerGroup: ['one:shop-v001'] } };

/** Asks for a server group, the only object that its provider finds. @param read how that reads it */
function refresh(type: string, read: (signal: AbortSignal) => Promise<void>) {
  const aws = {
    name: 'aws',
    caching: {
      loadAgents: async () => [],
      findRefresh: (asked: string, { name }: { readonly name?: unknown }) =>
        asked === 'ServerGroup'
          ? { id: `one:${name}`, run: ({ signal }: { readonly signal: AbortSignal }) => read(signal) }
          : undefined,
    },
  };
  // Nothing here reads the store.
  const parts = { clock, cache: {} as CacheStore, signal: new AbortController().signal };
  return forceRefresh(
    [{ name: 'kubernetes' }, aws],
    { provider: 'AWS', type, key: { name: 'shop-v001' } },
    parts,
  );
}

test('an object that is read in time is named', async () => {
  expect(await refresh('ServerGroup', async () => undefined)).toEqual({ isPending: false, ...found });
});

test('one that takes more than five seconds is given up, and is pending', async () => {
  const given = Promise.withResolvers<void>();
  const asked = refresh('ServerGroup', (signal) => {
    signal.addEventListener('abort', () => given.resolve());
    return new Promise(() => undefined);
  });
  clock.advance(5_000);
  expect(await asked).toEqual({ isPending: true, ...found });
  await given.promise;
});

test('what cannot be read fails, and what the provider does not know is done', async () => {
  const refuse = () => Promise.reject(new FailedOperationError('us-east-1 does not answer'));
  await expect(refresh('ServerGroup', refuse)).rejects.toThrow('us-east-1 does not answer');
  expect(await refresh('Manifest', refuse)).toEqual({ isPending: false, cachedIdentifiersByType: {} });
});
