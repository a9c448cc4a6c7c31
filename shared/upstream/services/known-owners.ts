import type { ProviderSet } from '#provider-kit/provider-set.ts';
import { keepsAccount, type UpstreamSettings } from '#settings/upstream-settings.ts';
import type { Owners } from '../owners.ts';

/**
 * The accounts and providers of this side, by its settings and its store. An account that cannot be used here is ours, too: it must not be
 * used elsewhere instead.
 */
export function toOwners(providers: ProviderSet, settings: Pick<UpstreamSettings, 'keep'>): Owners {
  const knowsAccount = (name: string): boolean =>
    providers.findAccount(name) !== undefined ||
    providers.rejectedAccounts.some((each) => each.name === name);
  return {
    knowsAccount,
    ownsAccount: (name) => knowsAccount(name) && !keepsAccount(settings, name),
    ownsProvider: (id) => providers.clouds.some(({ name }) => name === id) || providers.takesOperations(id),
  };
}
