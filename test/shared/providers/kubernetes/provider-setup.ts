import type { CacheStore } from '../../../../shared/core/cache/cache-store.ts';
import type { Clock } from '../../../../shared/core/clock.ts';
import { asJsonObject, type JsonObject } from '../../../../shared/core/json.ts';
import type { Logger } from '../../../../shared/core/logger.ts';
import type { Provider } from '../../../../shared/core/providers/provider.ts';
import type { Operation } from '../../../../shared/core/tasks/operation.ts';
import { kubernetesPlugin } from '../../../../shared/providers/kubernetes/index.ts';
import { systemClock, systemRandomness } from '../../../../shared/runtime/context/system.ts';

/** Takes every line and shows none. */
const silentLog: Logger = { debug() {}, info() {}, warn() {}, error() {} };

/** What a provider is opened with besides its accounts. */
export interface ProviderSetup {
  /** Members of the configuration beside the accounts. */
  readonly settings?: JsonObject;
  /** In place of those parts of the machine's clock. */
  readonly clock?: Partial<Clock>;
  readonly log?: Logger;
  /** Where what operations write is brought at once. Default: nowhere. */
  readonly cache?: CacheStore;
}

/** The Kubernetes provider with these accounts. */
export function openProvider(accounts: readonly JsonObject[], setup: ProviderSetup = {}): Provider {
  const { settings = {}, clock, log = silentLog, cache } = setup;
  return kubernetesPlugin.open({
    settings: {
      ...settings,
      kubernetes: { ...asJsonObject(settings['kubernetes']), accounts: [...accounts] },
    },
    clock: { ...systemClock, ...clock },
    randomness: systemRandomness,
    log,
    placement: 'local',
    environment: {},
    ...(cache && { openCache: async () => cache }),
  });
}

/** The provider's operation of that name. */
export function getOperation(provider: Provider, name: string): Operation {
  const operation = provider.operations.find((each) => each.name === name);
  if (operation === undefined) throw new Error(`the provider has no operation ${name}`);
  return operation;
}
