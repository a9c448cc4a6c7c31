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

/** What functions that deal with accounts and clusters work with. It stays as it is, whatever becomes of the settings. */
export interface ProviderServices extends BaseServices, OpenedProviders {}

/**
 * Milliseconds between two readings of the settings. A secret's cost little, a file's nothing; account facts, a look at one small
 * item, are read as often as that makes sense of what is published each minute.
 */
const intervalsMs = { secrets: 120_000, files: 10_000, facts: 20_000 };

/** Milliseconds after which no function grants by account facts of before, where accounts may be made by an API. */
export const quickFactsAgeMs = 2_000;

/** Both times where accounts may be made by an API: facts of a new one are published with it. */
const quickFacts = { intervalMs: 1_000, staleAgeMs: quickFactsAgeMs };

/** Milliseconds after which account facts are looked at before they are used: a permission that was taken must not live on. */
const staleFactsMs = 60_000;

/**
 * The providers that are in force. Each request, and each message of a queue, opens its own.
 *
 * @throws UnavailableError with the reason when the settings allow no providers.
 */
export async function openProviders(services: Services): Promise<ProviderServices> {
  return { ...openBase(services), ...(await openLiveProviders(services).get()) };
}

/**
 * Newer ones, for who misses something in these: the settings are read at once, though at most every ten seconds. Undefined when they
 * are the same.
 *
 * @throws UnavailableError when the settings of now allow no providers.
 */
export async function findNewerProviders({
  all,
  providers,
}: Pick<ProviderServices, 'all' | 'providers'>): Promise<ProviderServices | undefined> {
  const newest = await openNewestProviders(all);
  return newest.providers === providers ? undefined : newest;
}

/**
 * The providers of settings that are read at once, though at most every ten seconds.
 *
 * @throws UnavailableError when there are no settings to go on with.
 */
export async function openNewestProviders(services: Services): Promise<ProviderServices> {
  await openLiveProviders(services).refresh();
  return openProviders(services);
}

/** What is to be told of the accounts of the settings in force. */
export interface AccountProblems {
  /** Accounts that are left out, and why. */
  readonly rejectedAccounts: readonly RejectedAccount[];
  /** Settings that may not be as they were meant. */
  readonly accountWarnings: readonly AccountWarning[];
}

/**
 * What is to be told of the accounts of the settings in force.
 *
 * @throws UnavailableError with the reason when the settings allow no providers.
 */
export async function listAccountProblems(services: Services): Promise<AccountProblems> {
  return (await openLiveProviders(services).get()).providers;
}

/** Whether the settings, as they were read last, are in force. */
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

/** Functions that call clusters, and those that publish facts, read the store itself. */
function createLiveAccounts(services: Services): LiveAccounts {
  return new LiveAccounts({
    open: async () => (await import('#accounts/services/account-store.ts')).openAccountStore(services),
    clock: openBase(services).clock,
    types: plugins.filter(({ storesAccounts }) => storesAccounts).map(({ name }) => name),
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
