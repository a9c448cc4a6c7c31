import type { CacheStore } from '#caching/store/cache-store.ts';
import type { Clock } from '#core/clock.ts';
import type { ConcurrencyLimit } from '#core/concurrency.ts';
import { InvalidInputError } from '#core/errors.ts';
import { asJsonObject, type JsonObject } from '#core/json.ts';
import type { Logger } from '#core/logger.ts';
import { systemClock, systemRandomness } from '#platform/services/system.ts';
import { findAccountName } from '#provider-kit/operation-definition.ts';
import type { Provider } from '#provider-kit/provider.ts';
import { kubernetesPlugin } from '#providers/kubernetes/index.ts';
import type { Operation } from '#tasks/operation.ts';
import { toSet } from '#test/support/providers/provider-set.ts';

/** Takes every line and shows none. */
const silentLog: Logger = { debug() {}, info() {}, warn() {}, error() {} };

/** What a provider is opened with besides its accounts. */
export interface ProviderSetup {
  /** Members of the configuration beside the accounts. */
  readonly settings?: JsonObject;
  /** In place of those parts of the machine's clock. */
  readonly clock?: Partial<Clock>;
  readonly log?: Logger;
  /** Default: `local`. */
  readonly placement?: 'local' | 'deployed';
  /** Where what operations write is brought at once. Default: nowhere. */
  readonly cache?: CacheStore;
  /** What lists go through. Default: there is no limit. */
  readonly limitLists?: ConcurrencyLimit;
}

/** The Kubernetes provider with these accounts. */
export function openProvider(accounts: readonly JsonObject[], setup: ProviderSetup = {}): Provider {
  const { settings = {}, clock, log = silentLog, placement = 'local', cache, limitLists } = setup;
  const provider = kubernetesPlugin.open({
    settings: {
      ...settings,
      kubernetes: { ...asJsonObject(settings['kubernetes']), accounts: [...accounts] },
    },
    clock: { ...systemClock, ...clock },
    randomness: systemRandomness,
    log,
    placement,
    environment: {},
    cache: { ...(cache && { open: async () => cache }), ...(limitLists && { limitLists }) },
  });
  load(provider);
  return provider;
}

/** What the providers of tests can do, for the accounts of each cloud provider: `known` when it is loaded. */
const operations = new WeakMap<Provider, { known: readonly OfAccounts[]; readonly loaded: Promise<void> }>();

interface OfAccounts {
  readonly accounts: readonly string[];
  readonly operations: readonly Operation[];
}

function load(provider: Provider): void {
  const loading = toSet(provider).clouds.map(async ({ accounts, operations }) => ({
    accounts: accounts.map(({ name }) => name),
    operations: (await operations?.load()) ?? [],
  }));
  const entry = {
    known: [] as readonly OfAccounts[],
    loaded: Promise.all(loading).then((known) => {
      entry.known = known;
    }),
  };
  operations.set(provider, entry);
}

/** Waits until the operations of a provider may be prepared. */
export async function loadOperations(provider: Provider): Promise<void> {
  await operations.get(provider)?.loaded;
}

/** What an operation says about a description; nothing when it accepts it. */
export function listErrors(provider: Provider, name: string, description: JsonObject): readonly string[] {
  try {
    getOperation(provider, name).prepare(description);
    return [];
  } catch (error) {
    if (error instanceof InvalidInputError) return error.errors;
    throw error;
  }
}

/** An operation that may be prepared once `loaded` has come, for which `runOperation` waits. */
export interface LateOperation extends Operation {
  readonly loaded?: Promise<void>;
}

/** The provider's operation of that name. */
export function getOperation(provider: Provider, name: string): LateOperation {
  const entry = operations.get(provider);
  return {
    name,
    ...(entry && { loaded: entry.loaded }),
    prepare(description) {
      const { known = [] } = entry ?? {};
      const owner = known.find(({ accounts }) => accounts.includes(findAccountName(description)));
      const all = owner?.operations ?? known.flatMap((each) => each.operations);
      const operation = all.find((each) => each.name === name);
      if (operation === undefined) throw new Error(`the provider has no operation ${name}`);
      return operation.prepare(description);
    },
  };
}
