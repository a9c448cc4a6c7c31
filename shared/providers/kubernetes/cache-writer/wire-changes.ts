import { parseRevision } from '#caching/store/revision.ts';
import type { WireChange, WireChanges } from '#caching/store/wire-changes.ts';
import { encodeFacts } from '../rows/facts-codec.ts';
import type { ObjectChange } from './object-change.ts';

/** Changes in the form in which they are sent. */
export function toWireChanges(changes: readonly ObjectChange[]): WireChanges {
  const parsed = changes.map((change) => ({ change, revision: parseRevision(change.revision) }));
  const epoch = parsed.reduce((most, { revision }) => Math.max(most, revision.epoch), 0);
  return {
    epoch,
    changes: parsed.map(({ change, revision }) => toWireChange(change, { ...revision, batchEpoch: epoch })),
  };
}

function toWireChange(
  { kind, namespace, name, seenAt, facts }: ObjectChange,
  { epoch, batchEpoch, resourceVersion }: { epoch: number; batchEpoch: number; resourceVersion: string },
): WireChange {
  const seenVersion = parseRevision(seenAt).resourceVersion;
  return {
    ...{ kind, namespace, name },
    ...(epoch !== batchEpoch && { epoch }),
    version: resourceVersion,
    ...(seenVersion !== resourceVersion && { seenVersion }),
    ...(facts && { facts: encodeFacts(facts) }),
  };
}
