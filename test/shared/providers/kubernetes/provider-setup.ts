import type { JsonObject } from '../../../../shared/core/json.ts';
import type { Logger } from '../../../../shared/core/logger.ts';
import type { Operation } from '../../../../shared/core/operation.ts';
import type { Provider } from '../../../../shared/core/provider.ts';
import { kubernetesPlugin } from '../../../../shared/providers/kubernetes/index.ts';
import { systemClock, systemRandomness } from '../../../../shared/runtime/system.ts';

/** Takes every line and shows none. */
const silentLog: Logger = { debug() {}, info() {}, warn() {}, error() {} };

/**
 * The Kubernetes provider with accounts of a configuration.
 *
 * @param settings merged over what the accounts say
 */
export function openProvider(accounts: readonly JsonObject[], settings: JsonObject = {}): Provider {
  return kubernetesPlugin.open({
    settings: {
      ...settings,
      kubernetes: { ...(settings['kubernetes'] as JsonObject), accounts: [...accounts] },
    },
    clock: systemClock,
    randomness: systemRandomness,
    log: silentLog,
    placement: 'local',
    environment: {},
  });
}

/** The provider's operation of that name. */
export function getOperation(provider: Provider, name: string): Operation {
  const operation = provider.operations.find((each) => each.name === name);
  if (operation === undefined) throw new Error(`the provider has no operation ${name}`);
  return operation;
}
