import type { AccountWarning, RejectedAccount } from '#accounts/model/account.ts';
import type { Config } from '#platform/config.ts';
import { type BaseServices, openBase } from '#platform/services/base.ts';
import type { Services } from '#platform/services/services.ts';
import { plugins } from '#providers/index.ts';
import { LiveAccounts } from '#settings/live/live-accounts.ts';
import {
  LiveProviders,
  type LiveProvidersOptions,
  type OpenedProviders,
} from '#settings/live/live-providers.ts';
import { createSettingsSource, findKnowledge, type Knowledge } from './provider-source.ts';

/** What functions use that deal with accounts and clusters. It does not change when the settings do. */
export interface ProviderServices extends BaseServices, OpenedProviders {}

/**
 * Milliseconds between two readings of the settings. Secrets cost little, files nothing. Account facts, one read of a small item, are read
 * as often as is useful for what is published each minute.
 */
const intervalsMs = { secrets: 120_000, files: 10_000, facts: 20_000 };

/** Milliseconds after which no function uses older account facts to grant rights, where an API may create accounts. */
export const quickFactsAgeMs = 2_000;

/** Both times where an API may create accounts: facts of a new one are published with it. */
const quickFacts = { intervalMs: 1_000, staleAgeMs: quickFactsAgeMs };

/** Milliseconds after which account facts are checked before they are used: a revoked permission must not live on. */
const staleFactsMs = 60_000;

/** The providers in force, for one request or message. @throws UnavailableError with the reason when the settings allow none */
export async function openProviders(services: Services): Promise<ProviderServices> {
  return { ...openBase(services), ...(await openLiveProviders(services).get()) };
}

/**
 * Newer ones, for a caller that misses something in these: reads the settings at once, though at most every ten seconds. Undefined when
 * they are the same.
 *
 * @throws UnavailableError when the current settings allow no providers.
 */
export async function findNewerProviders({
  all,
  providers,
}: Pick<ProviderServices, 'all' | 'providers'>): Promise<ProviderServices | undefined> {
  const newest = await openNewestProviders(all);
  return newest.providers === providers ? undefined : newest;
}

/** The providers of settings read at once, though at most every ten seconds. @throws UnavailableError without usable settings */
export async function openNewestProviders(services: Services): Promise<ProviderServices> {
  await openLiveProviders(services).refresh();
  return openProviders(services);
}

/** Problems of the accounts of the settings in force. */
export interface AccountProblems {
  /** Accounts that are left out, and why. */
  readonly rejectedAccounts: readonly RejectedAccount[];
  /** Settings that may not be as intended. */
  readonly accountWarnings: readonly AccountWarning[];
}

/** Problems of the accounts of the settings in force. @throws UnavailableError with the reason when the settings allow no providers. */
export async function listAccountProblems(services: Services): Promise<AccountProblems> {
  return (await openLiveProviders(services).get()).providers;
}

/** Whether the settings that were last read are in force. */
export function areSettingsUsable(services: Services): boolean {
  return openLiveProviders(services).problem === undefined;
}

function openLiveProviders(services: Services): LiveProviders {
  return services.get(createLiveProviders);
}

function createLiveProviders(services: Services): LiveProviders {
  const { config, clock, randomness, log } = openBase(services);
  const knowledge = findKnowledge(config);
  const options = {
    source: createSettingsSource(services, knowledge),
    placement: config.placement,
    ...(knowledge.hasClusters && config.accountsTable !== '' && { stored: createLiveAccounts(services) }),
    clock,
    randomness,
    log,
  };
  const live = new LiveProviders({ ...options, ...getReadingTimes(config, knowledge) });
  services.closeLater(() => live[Symbol.asyncDispose]());
  return live;
}

/** For functions that call clusters, and those that publish facts, which read the store itself. */
function createLiveAccounts(services: Services): LiveAccounts {
  return new LiveAccounts({
    open: async () => (await import('#accounts/services/account-store.ts')).openAccountStore(services),
    clock: openBase(services).clock,
    types: plugins.filter(({ storedAccounts }) => storedAccounts).map(({ name }) => name),
  });
}

function getReadingTimes(
  { placement }: Config,
  { hasClusters, hasArtifacts }: Knowledge,
): Pick<LiveProvidersOptions, 'intervalMs' | 'staleAgeMs' | 'quick'> {
  if (!hasClusters && !hasArtifacts) {
    return { intervalMs: intervalsMs.facts, staleAgeMs: staleFactsMs, quick: quickFacts };
  }
  return { intervalMs: placement === 'local' ? intervalsMs.files : intervalsMs.secrets };
}
