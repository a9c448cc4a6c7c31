import { InvalidInputError, NotFoundError } from '../../../core/errors.ts';
import type { KubernetesAccount } from '../account.ts';
import { type FullName, parseFullName } from '../kinds/name.ts';
import type { KubernetesSession } from '../session.ts';

/** Whether a name, or an empty namespace, can be that of an object: Kubernetes puts names into paths and refuses others. */
export function isPathSegment(name: string): boolean {
  return name !== '.' && name !== '..' && !/[/%]/.test(name);
}

/** The account that a request reads from. @throws NotFoundError */
export function getReadAccount(session: KubernetesSession, name: string): KubernetesAccount {
  const account = session.findAccount(name);
  if (account !== undefined) return account;
  throw new NotFoundError(`There is no Kubernetes account '${name}'`);
}

/** The full name in a request. @throws NotFoundError: nothing can have a malformed name. */
export function parseReadName(name: string): FullName {
  try {
    return parseFullName(name);
  } catch (error) {
    if (!(error instanceof InvalidInputError)) throw error;
    throw new NotFoundError(error.message, { cause: error });
  }
}
