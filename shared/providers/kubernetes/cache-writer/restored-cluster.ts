import { parseRevision, type Revision } from '#caching/store/revision.ts';
import type { ObjectChange } from './object-change.ts';

/** That a cluster went back in time, as an agent noticed it: its etcd was restored, or lost writes. */
export interface Restoration {
  /** When it was noticed, wall time in milliseconds. */
  readonly atMs: number;
  /** What proves it, in words for people. */
  readonly proof: string;
}

/** For so long introspection tells of it, milliseconds. */
const toldForMs = 24 * 3600_000;

/**
 * A list proves nothing for so long after a restoration was noticed, milliseconds. Of a server whose resource versions follow
 * no rule each list would be proof, and each costs a list of everything.
 */
const doubtMs = 10 * 60_000;

/**
 * Tells, in words, what a listed object proves. In a cluster that goes forward a list shows of each object the latest revision up to
 * its own: what is cached at a later revision than the object was listed with is then later than the list, too. Where it is not, the
 * cluster that once had this revision has forgotten it, even if its numbers have caught up since.
 *
 * @param cached the revision of the object that is cached, not of a deletion: what is not kept any more is deleted at revisions of
 *   lists, and may be kept again.
 * @param listed the object, `seenAt` being the revision of the list
 * @returns undefined where it proves nothing
 */
export function findProof(cached: Revision, listed: ObjectChange): string | undefined {
  const { kind, namespace, name, revision, seenAt, facts } = listed;
  if (facts === undefined || cached <= revision || cached > seenAt) return undefined;
  const [own, before, list] = [revision, cached, seenAt].map((each) => parseRevision(each).resourceVersion);
  const where = namespace === '' ? '' : ` in ${namespace}`;
  return `${kind} ${name}${where} has resource version ${own} in a list of ${list}, and had ${before} before`;
}

/** Whether a proof that a list gave counts. */
export function isBelievable(last: Restoration | undefined, nowMs: number): boolean {
  return last === undefined || nowMs - last.atMs >= doubtMs;
}

/** What introspection shows of it; undefined when that was long ago. */
export function describeRestoration(last: Restoration | undefined, nowMs: number): string | undefined {
  if (last === undefined || nowMs - last.atMs >= toldForMs) return undefined;
  return `${new Date(last.atMs).toISOString()}: ${last.proof}`;
}
