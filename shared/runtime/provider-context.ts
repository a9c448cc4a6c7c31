import { asJsonObject, type JsonObject } from '../core/json.ts';
import { ProviderSet } from '../core/provider-set.ts';
import { plugins } from '../providers/index.ts';
import { readEnvironment } from './config.ts';
import { loadSettings } from './settings.ts';
import { openTaskContext, type TaskContext } from './task-context.ts';

/** What functions that deal with accounts, operations and clusters work with. */
export interface ProviderContext extends TaskContext {
  readonly providers: ProviderSet;
  /** The merged Spinnaker configuration. */
  readonly settings: JsonObject;
}

let opening: Promise<ProviderContext> | undefined;

/** The context of this process with its providers opened, made on first use and shared from then on. */
export function openProviderContext(): Promise<ProviderContext> {
  opening ??= createProviderContext(openTaskContext()).catch((error: unknown) => {
    opening = undefined;
    throw error;
  });
  return opening;
}

async function createProviderContext(tasks: TaskContext): Promise<ProviderContext> {
  const { config, clock, randomness, log } = tasks;
  const { settings } = await loadSettings({
    files: config.configFiles,
    profiles: config.profiles,
    environment: readEnvironment(),
    kubeconfig: config.kubeconfig,
  });
  const options = { settings, clock, randomness, log, placement: config.placement };
  const providers = new ProviderSet(plugins.map((plugin) => plugin.open(options)));
  for (const { name, reason } of providers.rejectedAccounts)
    log.warn('account left out', { account: name, reason });
  return { ...tasks, providers, settings: asJsonObject(settings) ?? {} };
}
