import { getErrorMessage, UnavailableError } from '../core/errors.ts';
import type { JsonObject } from '../core/json.ts';
import { ProviderSet } from '../core/provider-set.ts';
import { plugins } from '../providers/index.ts';
import { createAwsPorts } from './aws-ports.ts';
import { type BaseContext, openBaseContext } from './base-context.ts';
import { readEnvironment } from './config.ts';
import { loadSettings } from './settings.ts';
import { createSettingsSecret } from './settings-secret.ts';

/** What functions that deal with accounts and clusters work with. */
export interface ProviderContext extends BaseContext {
  readonly providers: ProviderSet;
  /** The merged Spinnaker configuration. */
  readonly settings: JsonObject;
}

let opening: Promise<ProviderContext> | undefined;

/** The context of this process with its providers opened, made on first use and shared from then on. */
export function openProviderContext(): Promise<ProviderContext> {
  opening ??= createProviderContext(openBaseContext()).catch((error: unknown) => {
    opening = undefined;
    throw error;
  });
  return opening;
}

async function createProviderContext(base: BaseContext): Promise<ProviderContext> {
  const { config, clock, randomness, log } = base;
  const environment = readEnvironment();
  const ports = createAwsPorts(clock);
  const { configSecretArn } = config;
  const { settings } = await loadSettings({
    files: config.configFiles,
    secret: configSecretArn === undefined ? undefined : createSettingsSecret(configSecretArn, ports.secrets),
    profiles: config.profiles,
    environment,
    kubeconfig: config.kubeconfig,
  }).catch(complain);
  const { placement } = config;
  const options = { settings, clock, randomness, log, environment, placement, ...ports };
  const providers = new ProviderSet(plugins.map((plugin) => plugin.open(options)));
  for (const { name, reason } of providers.rejectedAccounts)
    log.warn('account left out', { account: name, reason });
  return { ...base, providers, settings };
}

/** Settings that are of no use are no fault of the request: the caller should try again once they are mended. */
function complain(error: unknown): never {
  throw new UnavailableError(`The settings cannot be used: ${getErrorMessage(error)}`, { cause: error });
}
