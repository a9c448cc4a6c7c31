import { randomBytes } from 'node:crypto';
import type { CachingAgent, CachingResult } from '../../../../../../shared/core/agents/caching-agent.ts';
import type { CacheStore } from '../../../../../../shared/core/cache/cache-store.ts';
import { getPath, type JsonObject } from '../../../../../../shared/core/json.ts';
import type { Logger } from '../../../../../../shared/core/logger.ts';
import { ProviderSet } from '../../../../../../shared/core/providers/provider-set.ts';
import { dockerRegistryPlugin } from '../../../../../../shared/providers/docker-registry/index.ts';
import { kubernetesPlugin } from '../../../../../../shared/providers/kubernetes/index.ts';
import { registrationAgentName } from '../../../../../../shared/providers/kubernetes/v1/caching/registration-agents.ts';
import { systemRandomness } from '../../../../../../shared/runtime/services/system.ts';
import { requestApi } from '../../../../../support/cluster.ts';
import { createTestClock, type TestClock } from '../../../../../support/test-clock.ts';
import { findLive } from '../../live.ts';

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
    findRegistryCredentials: () => set.findRegistryCredentials(),
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

/** The name of a namespace that is not there. Disposing removes what was made of it. */
export function nameNamespace(): { readonly name: string } & AsyncDisposable {
  const name = `v1-${randomBytes(5).toString('hex')}`;
  return {
    name,
    async [Symbol.asyncDispose]() {
      await requestApi('DELETE', `/api/v1/namespaces/${name}`).catch(() => undefined);
    },
  };
}

/** What the pull secret of a namespace holds; undefined when there is none. */
export async function findDockercfg(namespace: string, name: string): Promise<unknown> {
  const secret = await findLive(namespace, `secrets/${name}`);
  const data = getPath(secret, 'data', '.dockercfg');
  return typeof data === 'string' ? JSON.parse(Buffer.from(data, 'base64').toString('utf8')) : undefined;
}

/** `user:password`, as pull secrets have it. */
export function toAuth(user: string, password: string): string {
  return Buffer.from(`${user}:${password}`).toString('base64');
}
