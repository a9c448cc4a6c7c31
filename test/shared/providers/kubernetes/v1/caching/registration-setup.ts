import type { CachingAgent, CachingResult } from '#caching/scheduling/caching-agent.ts';
import type { CacheStore } from '#caching/store/cache-store.ts';
import type { JsonObject } from '#core/json.ts';
import type { Logger } from '#core/logger.ts';
import { systemRandomness } from '#platform/services/system.ts';
import { ProviderSet } from '#provider-kit/provider-set.ts';
import { dockerRegistryPlugin } from '#providers/docker-registry/index.ts';
import { kubernetesPlugin } from '#providers/kubernetes/index.ts';
import { registrationAgentName } from '#providers/kubernetes/v1/caching/registration-agents.ts';
import { createTestClock, type TestClock } from '#test/support/run/test-clock.ts';

/** A V1 account, `old`, with the registries of the same installation. */
export interface RegistrationBench extends AsyncDisposable {
  readonly agent: CachingAgent;
  readonly clock: TestClock;
  /** Everything that was logged. */
  readonly lines: string[];
  /** Runs the agent once. */
  run(): Promise<CachingResult>;
}

/** What an account of tests is made of. */
export interface RegistrationSetup {
  /** Of the account `old`. Its registry is `hub` unless they say otherwise. */
  readonly fields: JsonObject;
  /** Accounts of `dockerRegistry.accounts`. */
  readonly registries?: readonly JsonObject[];
  readonly cache: CacheStore;
  /** Default: empty. */
  readonly environment?: { readonly [name: string]: string };
}

/** Opens both providers as an installation does. */
export async function openRegistration(setup: RegistrationSetup): Promise<RegistrationBench> {
  const { fields, registries = [], cache, environment = {} } = setup;
  const account = {
    name: 'old',
    providerVersion: 'v1',
    dockerRegistries: [{ accountName: 'hub' }],
    ...fields,
  };
  const clock = createTestClock();
  const lines: string[] = [];
  const options = {
    settings: { kubernetes: { accounts: [account] }, dockerRegistry: { accounts: [...registries] } },
    ...{ clock, randomness: systemRandomness, log: createLog(lines), placement: 'local' as const },
    environment,
    peers: {
      findCatalog: () => undefined,
      findRegistryCredentials: () => set.findRegistryCredentials(),
    },
  };
  const set: ProviderSet = new ProviderSet([
    dockerRegistryPlugin.open(options),
    kubernetesPlugin.open(options),
  ]);
  const agent = (await set.loadCachingAgents()).find(({ name }) => name === registrationAgentName);
  if (agent === undefined) throw new Error(JSON.stringify(set.rejectedAccounts));
  const { signal } = new AbortController();
  const run = () =>
    agent.run({
      ...{ cache, state: undefined, isAlone: true, signal },
      ensureHeld: () => undefined,
      commitState: async () => undefined,
    });
  return { agent, clock, lines, run, [Symbol.asyncDispose]: () => set[Symbol.asyncDispose]() };
}

function createLog(lines: string[]): Logger {
  const take = (message: string, fields: object = {}) =>
    void lines.push(JSON.stringify({ message, ...fields }));
  return { debug: take, info: take, warn: take, error: take };
}
