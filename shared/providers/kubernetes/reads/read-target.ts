import { InvalidInputError, NotFoundError } from '#core/errors.ts';
import type { KubernetesAccount } from '../account/account.ts';
import { checkNamespace, describeClosedNamespace } from '../account/account-bounds.ts';
import { boundToAccount } from '../account/bounded-client.ts';
import type { KubernetesSession } from '../account/session.ts';
import type { KubernetesClient } from '../api/client.ts';
import { findNamespaceProblem } from '../api/names.ts';
import { type FullName, parseFullName } from '../kinds/name.ts';

/** Whether a request's namespace, possibly empty, is a valid name: it becomes part of paths, and Kubernetes refuses others. */
export function isLocation(location: string): boolean {
  return location === '' || findNamespaceProblem(location) === undefined;
}

/** The client that an account is read with: it reaches nothing outside the account's bounds. */
export async function getReadClient(
  session: KubernetesSession,
  account: KubernetesAccount,
): Promise<KubernetesClient> {
  return boundToAccount(await session.getClient(account), account);
}

/**
 * The client that a request reads a namespace with.
 *
 * @throws NotFoundError for an unknown account, and for a namespace that it may not use: for the account nothing exists there.
 */
export async function openNamespace(
  session: KubernetesSession,
  { account: name, location }: { readonly account: string; readonly location: string },
): Promise<KubernetesClient> {
  const account = getReadAccount(session, name);
  if (location === '' || !isLocation(location)) {
    throw new NotFoundError(`There is no such namespace (account: ${name}, location: ${location})`);
  }
  const codes = checkNamespace(account, location);
  if (codes.length === 0) return getReadClient(session, account);
  throw new NotFoundError(
    `Nothing found (account: ${name}, location: ${location}): ${describeClosedNamespace(location, codes)}`,
  );
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
