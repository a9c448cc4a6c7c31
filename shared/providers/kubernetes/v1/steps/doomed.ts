import { deleteObjects, describeSome, readUid } from '../../operations/steps/deletion.ts';
import { explainFailure } from '../../operations/steps/failure.ts';
import { findLive, getRef, type ServerGroupName, type V1Kind } from './server-group.ts';
import type { V1Work } from './v1-operation.ts';

/** An object to delete: exactly this one, not another that takes its name. */
export type Doomed = { readonly kind: V1Kind; readonly name: string; readonly uid: string };

/** The live object as one to delete; null if there is none. */
export async function findDoomed(kind: V1Kind, where: ServerGroupName, work: V1Work): Promise<Doomed | null> {
  return toDoomed(kind, where.name, readUid(await findLive(kind, where, work)));
}

/** The object with that UID as one to delete; null without one. */
export function toDoomed(kind: V1Kind, name: string, uid: string | undefined): Doomed | null {
  return uid === undefined ? null : { kind, name, uid };
}

/** What deletes one object that a description names. */
interface NamedDeletion extends ServerGroupName {
  readonly kind: V1Kind;
  /** Key of the step that deletes it. */
  readonly step: 'delete' | 'destroy';
  /** The line that is reported before that. Default: none. */
  readonly line?: string;
}

/** Deletes one object; a missing one counts as deleted. @throws what `deleteDoomed` throws. */
export async function deleteNamed(
  { kind, step, line, ...where }: NamedDeletion,
  work: V1Work,
): Promise<void> {
  const { run, session } = work;
  const { doomed, decidedAtMs } = await run.decide('target', async () => ({
    doomed: await findDoomed(kind, where, work),
    decidedAtMs: session.clock.now(),
  }));
  if (line !== undefined) run.report(line);
  const { namespace } = where;
  if (doomed !== null) await run.step(step, () => deleteDoomed([doomed], { namespace, decidedAtMs }, work));
}

/**
 * Deletes objects with their dependents, and waits until they are gone. Ignores those that are already gone.
 *
 * @param decidedAtMs wall time of the decision, milliseconds: the wait counts from there
 * @throws FailedOperationError if one is not gone in time, or with the API server's own words.
 */
export async function deleteDoomed(
  doomed: readonly Doomed[],
  { namespace, decidedAtMs }: { readonly namespace: string; readonly decidedAtMs: number },
  work: V1Work,
): Promise<null> {
  const deletions = doomed.map(({ kind, name, uid }) => ({
    ...{ uid, decidedAtMs, fullName: `${kind} ${name}`, ref: getRef(kind, { namespace, name }) },
  }));
  const names = describeSome(deletions.map(({ fullName }) => fullName));
  await explainFailure(`Deleting ${names} in namespace ${namespace}`, () => deleteObjects(work, deletions));
  return null;
}
