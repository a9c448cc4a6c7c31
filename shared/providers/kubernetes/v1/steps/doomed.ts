import { deleteObject, readUid } from '../../operations/steps/deletion.ts';
import { explainFailure } from '../../operations/steps/failure.ts';
import type { V1Kind } from './resources.ts';
import { findLive, getRef, type ServerGroupName } from './server-group.ts';
import type { V1Work } from './v1-operation.ts';

/** An object that is to go: this very one, not another that comes to have its name. */
export type Doomed = { readonly kind: V1Kind; readonly name: string; readonly uid: string };

/** The live object, as one that is to go; null when there is none. */
export async function findDoomed(kind: V1Kind, where: ServerGroupName, work: V1Work): Promise<Doomed | null> {
  return toDoomed(kind, where.name, readUid(await findLive(kind, where, work)));
}

/** An object of that identity, as one that is to go; null without one. */
export function toDoomed(kind: V1Kind, name: string, uid: string | undefined): Doomed | null {
  return uid === undefined ? null : { kind, name, uid };
}

/**
 * Deletes an object with what depends on it, and waits until it is gone. One that is gone already is none of its business.
 *
 * @param decidedAtMs wall time of the decision, milliseconds: the wait is counted from there
 * @throws FailedOperationError when it is not gone in time, or with the API server's own words.
 */
export async function deleteDoomed(
  { kind, name, uid }: Doomed,
  { namespace, decidedAtMs }: { readonly namespace: string; readonly decidedAtMs: number },
  work: V1Work,
): Promise<null> {
  const fullName = `${kind} ${name}`;
  const ref = getRef(kind, { namespace, name });
  await explainFailure(`Deleting ${fullName} in namespace ${namespace}`, () =>
    deleteObject(work, { ref, fullName, uid, decidedAtMs }),
  );
  return null;
}
