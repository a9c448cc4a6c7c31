import { readAgentHealths } from '#agents/services/agent-health.ts';
import { waitAtMost } from '#core/deadline.ts';
import { addCachedDetails, type DetailsMemory } from '#views/cached-details.ts';
import { createViews, type ReadServices } from '#views/services/views.ts';
import { toSummary } from '../account-health-view.ts';
import { type CredentialsView, parseCredentialsSettings, toCredentialsView } from '../credentials-view.ts';
import type { Account } from '../model/account.ts';
import type { AccountHealth } from '../model/account-health.ts';
import { joinRegions } from '../model/regional-health.ts';
import { openHealthStore } from '../services/health-store.ts';

/** Milliseconds for which the health of accounts is reused: they are polled. */
const healthForMs = 5_000;

/** Milliseconds after which accounts are shown without it: they are polled, and must not wait for an unavailable store. */
const healthWaitMs = 2_000;

/** Accounts with the fields of their providers, what the cache has of them, and their health. */
export async function listExpandedAccounts(
  services: ReadServices,
  accounts: readonly Account[],
): Promise<readonly CredentialsView[]> {
  const options = { ...parseCredentialsSettings(services.settings), expand: true };
  // The details of all accounts are shown: Gate asks for all of them, for no user in particular.
  const views = await createViews({ ...services, mayRead: () => true });
  const [shown, healths, agentHealths] = await Promise.all([
    addCachedDetails(accounts, { ...views, memory: services.all.get(createMemory) }),
    readHealths(services),
    readAgentHealths(services.all, accounts).catch((error: unknown) => tellFailure(services, error)),
  ]);
  return shown.map((account) => ({
    ...toCredentialsView(account, options),
    ...(healths && {
      health: agentHealths?.get(account.name) ?? toSummary(healths.get(account.name), services.clock),
    }),
  }));
}

/** The health of all accounts; undefined where it cannot be read in time. Never throws. */
async function readHealths(services: ReadServices): Promise<HealthMemory['healths']> {
  const { all, clock, log } = services;
  const memory = all.get(createHealthMemory);
  if (memory.healths !== undefined && Math.abs(clock.now() - memory.atMs) < healthForMs)
    return memory.healths;
  memory.reading ??= openHealthStore(all)
    .list()
    .then((healths) => Object.assign(memory, { healths: joinRegions(healths), atMs: clock.now() }))
    .catch((error: unknown) => tellFailure({ log }, error))
    .finally(() => {
      memory.reading = undefined;
    });
  await waitAtMost(clock, healthWaitMs, memory.reading);
  return memory.healths;
}

function tellFailure({ log }: Pick<ReadServices, 'log'>, error: unknown): undefined {
  log.warn('how accounts are cannot be told', { error });
}

/** The health of accounts as last read, and when: wall time in ms. */
interface HealthMemory {
  healths: ReadonlyMap<string, AccountHealth> | undefined;
  atMs: number;
  reading: Promise<unknown> | undefined;
}

function createHealthMemory(): HealthMemory {
  return { healths: undefined, atMs: 0, reading: undefined };
}

/** The same for one account. @throws NotFoundError */
export async function getExpandedAccount(
  services: ReadServices,
  name: string,
): Promise<Partial<CredentialsView>> {
  const [shown = {}] = await listExpandedAccounts(services, [services.providers.getAccount(name)]);
  return shown;
}

function createMemory(): DetailsMemory {
  return new Map();
}
