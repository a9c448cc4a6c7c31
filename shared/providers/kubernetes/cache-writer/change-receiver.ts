import type { ChangeReceiver, ReceivingAccount } from '#caching/store/wire-changes.ts';
import { NotFoundError } from '#core/errors.ts';
import type { KubernetesSession } from '../account/session.ts';
import { createCacheWriter } from './cache-writer.ts';
import type { CacheWriter } from './object-change.ts';
import { fromWireChanges } from './received-changes.ts';

/** Creates the receiver of changes that agents send for a session's accounts. */
export function createChangeReceiver(session: KubernetesSession): ChangeReceiver {
  const { clock, randomness } = session;
  const getAccount = (name: string) => {
    const account = session.findAccount(name);
    if (account === undefined) throw new NotFoundError(`Account named '${name}' not found.`);
    return account;
  };
  const open = ({ account, cache }: ReceivingAccount): CacheWriter =>
    createCacheWriter({ cache, account: getAccount(account), clock, randomness });
  return {
    write: async (place, changes) => open(place).write(fromWireChanges(changes, getAccount(place.account))),
    prune: async (place, applications) => open(place).prune(applications),
  };
}
