import { parseRevision } from '#caching/store/revision.ts';
import type { ChangeSender, WireChange, WireChanges } from '#caching/store/wire-changes.ts';
import { encodeFacts } from '../rows/facts-codec.ts';
import { type CacheWriter, type ObjectChange, toLastChanges } from './object-change.ts';

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

/** Changes in the form in which they are sent. */
function toWireChanges(changes: readonly ObjectChange[]): WireChanges {
  const parsed = changes.map((change) => ({ change, revision: parseRevision(change.revision) }));
  const epoch = parsed.reduce((most, { revision }) => Math.max(most, revision.epoch), 0);
  return {
    epoch,
    changes: parsed.map(({ change, revision }) => toWireChange(change, { ...revision, batchEpoch: epoch })),
  };
}

function toWireChange(
  { kind, location, name, seenAt, facts }: ObjectChange,
  { epoch, batchEpoch, position }: { epoch: number; batchEpoch: number; position: string },
): WireChange {
  const seenVersion = parseRevision(seenAt).position;
  return {
    ...{ kind, location, name },
    ...(epoch !== batchEpoch && { epoch }),
    version: position,
    ...(seenVersion !== position && { seenVersion }),
    ...(facts && { facts: encodeFacts(facts) }),
  };
}
