import { parseRevision, type Revision } from '../store/revision.ts';
import type { CacheModel } from './cache-model.ts';
import type { ObjectChange } from './object-change.ts';

/** A platform that went back in time, as a caching agent noticed: its store was restored, or lost writes. */
export interface Restoration {
  /** When it was noticed, wall time in milliseconds. */
  readonly atMs: number;
  /** A readable proof. */
  readonly proof: string;
}

/** How long introspection shows it, milliseconds. */
const toldForMs = 24 * 3600_000;

/**
 * Time after a noticed restoration in which lists prove nothing, milliseconds. If a server's positions follow no rule, each list
 * would be a proof, and each costs a list of everything.
 */
const doubtMs = 10 * 60_000;

/**
 * Readable text of what listed objects prove, by the first that proves anything. From a healthy platform a list shows each object's latest revision up to the list's own: a
 * cached revision later than the listed one is then later than the list, too. If it is not, the platform has forgotten the cached revision,
 * even if its numbers have caught up since.
 *
 * @param listed the objects, `seenAt` being the revision of the list
 * @param findCached the cached object's revision, not a deletion's: objects that are not kept any more are deleted at revisions of lists, and
 *   may be kept again.
 * @returns undefined if they prove nothing
 */
export function findProof(
  listed: readonly ObjectChange[],
  findCached: (change: ObjectChange) => Revision | undefined,
  { positionName }: Pick<CacheModel<unknown>, 'positionName'>,
): string | undefined {
  for (const change of listed) {
    const { kind, location, name, revision, seenAt, facts } = change;
    const cached = findCached(change);
    if (facts === undefined || cached === undefined || cached <= revision || cached > seenAt) continue;
    const [own, before, list] = [revision, cached, seenAt].map((each) => parseRevision(each).position);
    const where = location === '' ? '' : ` in ${location}`;
    return `${kind} ${name}${where} has ${positionName} ${own} in a list of ${list}, and had ${before} before`;
  }
  return undefined;
}

/** Whether a list's proof counts. */
export function isBelievable(last: Restoration | undefined, nowMs: number): boolean {
  return last === undefined || nowMs - last.atMs >= doubtMs;
}

/** What introspection shows of it; undefined if it was long ago. */
export function describeRestoration(last: Restoration | undefined, nowMs: number): string | undefined {
  if (last === undefined || nowMs - last.atMs >= toldForMs) return undefined;
  return `${new Date(last.atMs).toISOString()}: ${last.proof}`;
}
