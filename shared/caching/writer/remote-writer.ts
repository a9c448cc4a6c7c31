import { parseRevision } from '../store/revision.ts';
import type { ChangeSender, WireChange, WireChanges } from '../store/wire-changes.ts';
import type { CacheModel } from './cache-model.ts';
import { type CacheWriter, type ObjectChange, toLastChanges } from './object-change.ts';
import type { CacheWriterOptions } from './writer-context.ts';

/** Sends changes of an account's objects to the process that has the store: objects as facts, and nothing else of them. */
export function createRemoteWriter<Facts>(
  { account, model }: Pick<CacheWriterOptions<Facts>, 'account' | 'model'>,
  sender: ChangeSender,
): CacheWriter<Facts> {
  return {
    // The process with the store reads it.
    expect: async () => undefined,
    async write(changes, { ensureHeld } = {}) {
      if (changes.length === 0) return { changes: 0, waiting: [], dropped: [], proof: undefined };
      const last = [...toLastChanges(changes)];
      const outcome = await sender.write(account, toWireChanges(last, model), ensureHeld);
      return { ...outcome, proof: outcome.proof };
    },
    prune: (applications) => sender.prune(account, applications),
  };
}

/** Changes in the form in which they are sent. */
function toWireChanges<Facts>(
  changes: readonly ObjectChange<Facts>[],
  model: CacheModel<Facts>,
): WireChanges {
  const parsed = changes.map((change) => ({ ...change, ...parseRevision(change.revision) }));
  const batchEpoch = parsed.reduce((most, { epoch }) => Math.max(most, epoch), 0);
  const wired = parsed.map(({ kind, location, name, epoch, position, seenAt, facts }): WireChange => {
    const seenVersion = parseRevision(seenAt).position;
    return {
      ...{ kind, location, name },
      ...(epoch !== batchEpoch && { epoch }),
      version: position,
      ...(seenVersion !== position && { seenVersion }),
      ...(facts !== undefined && { facts: model.encode(facts) }),
    };
  });
  return { epoch: batchEpoch, changes: wired };
}
