import { getErrorMessage } from '#core/errors.ts';
import { CredentialsError } from '#tasks/late-credentials.ts';
import type { KubernetesAccount } from '../../account/account.ts';
import type { KubernetesSession } from '../../account/session.ts';
import type { KubernetesClient, ObjectRef } from '../../api/client.ts';
import { isForCredentials } from '../../api/errors.ts';
import type { WrittenObjects } from '../../cache-writer/written-objects.ts';

/** A client whose writes are brought into the cache. */
export interface TrackedClient {
  readonly client: KubernetesClient;
  /** Called with each object that the operation deleted, for the cache. Undefined without a cache. */
  readonly recordDeletion?: (ref: ObjectRef, uid: string) => void;
}

/** The operation whose writes are tracked. */
interface Tracked {
  readonly session: KubernetesSession;
  readonly account: KubernetesAccount;
}

/**
 * Opens an operation's tools, and runs it; its writes are in the cache before this resolves.
 *
 * @throws CredentialsError if the account's credentials are refused or missing; what `open` and `act` throw
 */
export async function runTracked<W extends { readonly client: KubernetesClient }, T>(
  { session, account }: Tracked,
  open: () => Promise<W>,
  act: (work: W & TrackedClient) => Promise<T>,
): Promise<T> {
  try {
    const [work, written] = await Promise.all([open(), trackWrites(session, account)]);
    if (written === undefined) return await act(work);
    const { recordDeletion } = written;
    try {
      return await act({ ...work, client: written.watch(work.client), recordDeletion });
    } finally {
      await written.settle();
    }
  } catch (error) {
    if (!isForCredentials(error)) throw error;
    const workedAtMs = await session.findLastSuccessMs(account);
    throw new CredentialsError(getErrorMessage(error), { cause: error, workedAtMs });
  }
}

/** Undefined without a cache. */
async function trackWrites(
  session: KubernetesSession,
  account: KubernetesAccount,
): Promise<WrittenObjects | undefined> {
  const { clock, log, randomness, settings } = session;
  const { open: openCache, changeSender } = session.cache;
  if (openCache === undefined || !settings.cache.enabled) return undefined;
  // Loaded late: functions that only look at operations write nothing.
  const [{ WrittenObjects }, { openCacheWriter }, { toWriterOptions }, cache] = await Promise.all([
    import('../../cache-writer/written-objects.ts'),
    import('#caching/writer/open-writer.ts'),
    import('../../cache-writer/cache-model.ts'),
    openCache(),
  ]);
  const writer = await openCacheWriter(toWriterOptions({ cache, account, clock, randomness }), changeSender);
  return new WrittenObjects({ account, settings: settings.cache, cache, writer, clock, log }, session.epochs);
}
