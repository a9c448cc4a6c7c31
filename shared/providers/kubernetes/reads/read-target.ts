import { InvalidInputError, NotFoundError, VisibleError } from '#core/errors.ts';
import type { ObjectRequest } from '#provider-kit/live-reads.ts';
import type { KubernetesAccount } from '../account/account.ts';
import { type AccountBounds, checkNamespace, describeClosedNamespace } from '../account/account-bounds.ts';
import { boundToAccount } from '../account/bounded-client.ts';
import type { KubernetesSession } from '../account/session.ts';
import type { KubernetesClient } from '../api/client.ts';
import { toLiveReadError } from '../api/errors.ts';
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
export async function openNamespace(session: KubernetesSession, place: ReadPlace): Promise<KubernetesClient> {
  const account = getReadAccount(session, place.account);
  checkLocation(place);
  checkReadNamespace(account, place);
  return getReadClient(session, account);
}

/** A namespace of an account. */
type ReadPlace = Pick<ObjectRequest, 'account' | 'location'>;

/** @throws NotFoundError for a location that can be no namespace */
export function checkLocation({ account, location }: ReadPlace): void {
  if (location === '' || !isLocation(location))
    throw new NotFoundError(`There is no such namespace (account: ${account}, location: ${location})`);
}

/** @throws NotFoundError for a namespace that an account may not use */
export function checkReadNamespace(bounds: AccountBounds, { account, location }: ReadPlace): void {
  const codes = checkNamespace(bounds, location);
  if (codes.length === 0) return;
  const problem = describeClosedNamespace(location, codes);
  throw new NotFoundError(`Nothing found (account: ${account}, location: ${location}): ${problem}`);
}

/** Reads or cancels a job; a failure names it. @throws NotFoundError of `act`; FailedOperationError */
export async function explainJob<T>(
  verb: 'read' | 'cancel',
  { account, location, name }: ObjectRequest,
  act: () => Promise<T>,
): Promise<T> {
  try {
    return await act();
  } catch (error) {
    if (error instanceof NotFoundError || !(error instanceof VisibleError)) throw error;
    const what = `(account: ${account}, location: ${location}, name: ${name})`;
    throw toLiveReadError(error, `Failed to ${verb} job: ${what}`);
  }
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
