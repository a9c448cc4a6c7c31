import type { ChangeSender } from '#caching/store/wire-changes.ts';
import { toLastChanges } from './last-changes.ts';
import type { CacheWriter } from './object-change.ts';
import { toWireChanges } from './wire-changes.ts';

/** Sends changes of an account's objects to the process that has the store: objects as facts, and nothing else of their manifests. */
export function createRemoteWriter(account: string, sender: ChangeSender): CacheWriter {
  return {
    // The process with the store reads it.
    expect: async () => undefined,
    async write(changes, { ensureHeld } = {}) {
      if (changes.length === 0) return { changes: 0, waiting: [], dropped: [], proof: undefined };
      const last = [...toLastChanges(changes)];
      const outcome = await sender.write(account, toWireChanges(last), ensureHeld);
      return { ...outcome, proof: outcome.proof };
    },
    prune: (applications) => sender.prune(account, applications),
  };
}
