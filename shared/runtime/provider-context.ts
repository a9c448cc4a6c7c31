import { findIntervalMs } from '../core/cache/agent-interval.ts';
import type { CacheStore } from '../core/cache/cache-store.ts';
import { ProviderSet } from '../core/provider-set.ts';
import { plugins } from '../providers/index.ts';
import { createAwsPorts } from './aws-ports.ts';
import { type BaseContext, openBaseContext } from './base-context.ts';
import { readOuterEnvironment } from './config.ts';
import { LiveProviders, type OpenedProviders, type SettingsSource } from './live-providers.ts';
import { parseSettings, readSettingsTexts } from './settings.ts';
import { createSettingsSecret } from './settings-secret.ts';

/** What functions that deal with accounts and clusters work with. It stays as it is, whatever becomes of the settings. */
export interface ProviderContext extends BaseContext, OpenedProviders {}

/** Milliseconds between two readings of the settings. A secret's cost little, a file's nothing. */
const intervalsMs = { deployed: 120_000, local: 10_000 };

let opened: LiveProviders | undefined;

/**
 * The context of this process with the providers that are in force. Each request, and each message of a queue, opens its own.
 *
 * @throws UnavailableError with the reason when the settings allow no providers.
 */
export async function openProviderContext(): Promise<ProviderContext> {
  return { ...openBaseContext(), ...(await openLiveProviders().get()) };
}

/**
 * A context newer than this one, for who misses something in it: the settings are read at once, though at most every ten
 * seconds. Undefined when they are the same.
 *
 * @throws UnavailableError when the settings of now allow no providers.
 */
export async function findNewerContext({ providers }: OpenedProviders): Promise<ProviderContext | undefined> {
  await openLiveProviders().refresh();
  const context = await openProviderContext();
  return context.providers === providers ? undefined : context;
}

function openLiveProviders(): LiveProviders {
  opened ??= createLiveProviders(openBaseContext());
  return opened;
}

function createLiveProviders(base: BaseContext): LiveProviders {
  const { config, clock, randomness, log } = base;
  return new LiveProviders({
    source: createSettingsSource(base),
    clock,
    randomness,
    log,
    intervalMs: intervalsMs[config.placement],
  });
}

/** Files and the secret that the environment names. What connects to AWS is made once: it remembers credentials. */
function createSettingsSource({ config, clock, randomness, log }: BaseContext): SettingsSource {
  const { configFiles: files, configSecretArn, profiles, kubeconfig, placement } = config;
  const environment = readOuterEnvironment();
  const ports = { ...createAwsPorts(clock), openCache };
  return {
    async read() {
      const secret =
        configSecretArn === undefined ? undefined : createSettingsSecret(configSecretArn, ports.secrets);
      return readSettingsTexts({ files, secret, profiles, kubeconfig });
    },
    parse: (texts) => parseSettings(texts, { profiles, environment }).settings,
    open(settings) {
      const findCatalog = () => set.findCatalog();
      const agentIntervalMs = findIntervalMs(settings) ?? config.agentIntervalMs;
      const options = {
        settings,
        clock,
        randomness,
        log,
        environment,
        placement,
        agentIntervalMs,
        findCatalog,
        ...ports,
      };
      const set: ProviderSet = new ProviderSet(plugins.map((plugin) => plugin.open(options)));
      return set;
    },
  };
}

/** Loaded late: most functions that open providers run no operation. */
async function openCache(): Promise<CacheStore> {
  const { openCacheContext } = await import('./cache-context.ts');
  return openCacheContext().cache;
}
