import type { Manifest } from '../../api/manifest.ts';
import { resolveTarget } from '../../apply/target.ts';
import { readCoordinates } from '../../manifest/identity.ts';
import type { OperationWork } from '../steps/v2-operation.ts';
import type { PlannedManifest } from './plan.ts';

/** Live objects that are read at once: few enough that none is long outdated when its turn comes. */
const depth = 8;

/**
 * Reads the live objects of manifests to be applied while earlier ones are written: concurrently, within one priority, since a write of a
 * lower priority may change them.
 *
 * @param getPlanned returns the current plan: manifests that are planned again are read again
 * @returns a function that reads the live object of the manifest at that place; it may have been read already
 */
export function createReadAhead(
  getPlanned: () => readonly PlannedManifest[],
  work: OperationWork,
): (index: number) => Promise<Manifest | undefined> {
  const readings = new Map<PlannedManifest, Promise<Manifest | undefined>>();
  const read = (index: number): Promise<Manifest | undefined> => {
    const planned = getPlanned()[index] as PlannedManifest;
    const reading = readings.get(planned) ?? readLive(planned.manifest, work);
    readings.set(planned, reading);
    // A failure counts only when its turn comes; the next try then reads again.
    reading.catch(() => readings.delete(planned));
    return reading;
  };
  return (index) => {
    for (const ahead of listNext(getPlanned(), index)) void read(ahead);
    return read(index);
  };
}

/** The places, from this one on, whose live objects may be read now. */
function listNext(planned: readonly PlannedManifest[], first: number): number[] {
  const window = planned.slice(first, first + depth);
  const seen = new Set<string>();
  const places: number[] = [];
  for (const [offset, { manifest, kind, strategy }] of window.entries()) {
    const key = JSON.stringify(readCoordinates(manifest));
    if (kind.deployPriority !== planned[first]?.kind.deployPriority) break;
    // An object that is written a second time has changed by then.
    if (strategy.method === 'apply' && !seen.has(key)) places.push(first + offset);
    seen.add(key);
  }
  return places;
}

async function readLive(manifest: Manifest, { client, run }: OperationWork): Promise<Manifest | undefined> {
  const { signal } = run;
  const namespace = await client.getDefaultNamespace({ signal });
  const { ref } = await resolveTarget(client, manifest, { signal, namespace });
  return client.get(ref, { signal });
}
