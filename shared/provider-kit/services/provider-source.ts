import { parseAccountFacts, pickDefinitions } from '#accounts/account-facts.ts';
import type { AccountWarning } from '#accounts/model/account.ts';
import { AccountBreakers } from '#accounts/model/account-breaker.ts';
import type { AccountDefinition, StoredAccount } from '#accounts/model/account-store.ts';
import { findIntervalMs } from '#caching/scheduling/caching-agent-interval.ts';
import type { CacheStore } from '#caching/store/cache-store.ts';
import { type Config, type Environment, toOuterEnvironment } from '#platform/config.ts';
import { type BaseServices, openBase } from '#platform/services/base.ts';
import { openHostServices } from '#platform/services/host-services.ts';
import { findLogField } from '#platform/services/logger.ts';
import { openMeter } from '#platform/services/meter.ts';
import type { Services } from '#platform/services/services.ts';
import { plugins } from '#providers/index.ts';
import { listReportedChecks } from '#settings/live/authorization-settings.ts';
import type { CredentialSource, ReadCredentials } from '#settings/live/credential-source.ts';
import { listIdlePermissions } from '#settings/live/idle-permissions.ts';
import type { ParsedSettings, SettingsSource } from '#settings/live/live-providers.ts';
import { mergeDocuments } from '#settings/spring-config.ts';
import { hasUpstream, upstreamPath } from '#settings/upstream-settings.ts';
import type { ProviderContext, ProviderPlugin } from '../provider.ts';
import { ProviderSet } from '../provider-set.ts';
import { SharedClients } from '../shared-clients.ts';

/** What an installation, or one of its functions, was given of the settings. */
export interface Knowledge {
  /** Whether credentials of clusters and of artifacts are separate, and functions have them only where they need them. */
  readonly isDivided: boolean;
  readonly hasClusters: boolean;
  readonly hasArtifacts: boolean;
}

/** Files, and a kubeconfig on a user's own machine, hold everything; deployed functions know what their variables name. */
export function findKnowledge({ placement, configFiles, kubeconfig, ...secrets }: Config): Knowledge {
  const isDivided = placement === 'deployed' && configFiles.length === 0 && kubeconfig === undefined;
  return {
    isDivided,
    hasClusters: !isDivided || secrets.configSecretArn !== undefined,
    hasArtifacts: !isDivided || secrets.artifactsSecretArn !== undefined,
  };
}

/** The texts read of the settings. */
export interface ReadTexts {
  readonly credentials?: ReadCredentials;
  /** Account facts, where there are no credentials of clusters. */
  readonly facts?: string;
}

/**
 * Reads the files and secrets that the environment names, and account facts for the rest. AWS clients are made once: they remember
 * credentials. Code that reads YAML and secrets is loaded late: functions with only facts never need it.
 */
export function createSettingsSource(services: Services, knowledge: Knowledge): SettingsSource<ReadTexts> {
  const base = openBase(services);
  const { config } = base;
  const { isDivided, hasClusters, hasArtifacts } = knowledge;
  const environment = toOuterEnvironment(services.environment);
  const host = openHostServices(services);
  const cache = { open: () => openWorkCache(services) };
  const clients = new SharedClients();
  let yaml: CredentialSource | undefined;
  const readCredentials = async (): Promise<ReadCredentials> => {
    if (yaml === undefined) {
      const { CredentialSource } = await import('#settings/live/credential-source.ts');
      yaml ??= new CredentialSource({ config, secrets: host.secrets, environment, isDivided });
    }
    return yaml.read();
  };
  return {
    async read() {
      const [credentials, facts] = await Promise.all([
        hasClusters || hasArtifacts ? readCredentials() : undefined,
        hasClusters ? undefined : readFacts(services),
      ]);
      return { ...(credentials && { credentials }), ...(facts !== undefined && { facts }) };
    },
    parse({ credentials, facts }) {
      const parts: ParsedSettings[] = facts === undefined ? [] : [parseAccountFacts(facts)];
      if (credentials && yaml) parts.push(yaml.parse(credentials));
      return {
        settings: mergeDocuments(parts.map(({ settings }) => settings)),
        // Of two the second is what this function itself found; the publisher reports the first.
        rejectedAccounts: parts.at(-1)?.rejectedAccounts ?? [],
        refusedAccounts: parts.at(-1)?.refusedAccounts ?? [],
        warnings: parts.at(-1)?.warnings ?? [],
      };
    },
    open: (parsed, storedAccounts) =>
      openProviderSet(parsed, {
        ...base,
        services: host,
        cache,
        environment,
        knowledge,
        clients,
        ...(hasClusters && {
          breakers: services.get(createBreakers),
          openDiscoveryStore: async () => (await import('./discovery-store.ts')).openDiscoveryStore(services),
        }),
        storedAccounts,
      }),
  };
}

type OpeningOptions = BaseServices &
  Pick<ProviderContext, 'services' | 'cache' | 'clients' | 'breakers' | 'openDiscoveryStore'> & {
    readonly environment: Environment;
    readonly knowledge: Knowledge;
    readonly storedAccounts: readonly (AccountDefinition & Pick<StoredAccount, 'unreadable'>)[];
  };

function openProviderSet(
  { settings, rejectedAccounts, refusedAccounts = [], warnings = [] }: ParsedSettings,
  opening: OpeningOptions,
): ProviderSet {
  const { knowledge, config, storedAccounts: all, ...given } = opening;
  const storedAccounts = all.filter(({ unreadable }) => unreadable === undefined);
  const unreadable = all.flatMap(({ name, unreadable: reason }) =>
    reason === undefined ? [] : [{ name, reason: `stored account "${name}" cannot be read: ${reason}` }],
  );
  const options = {
    ...given,
    settings,
    placement: config.placement,
    servesAgents: config.servesAgents,
    agentIntervalMs: findIntervalMs(settings) ?? config.agentIntervalMs,
    peers: {
      findCatalog: () => set.findCatalog(),
      findRegistryCredentials: () => set.findRegistryCredentials(),
    },
  };
  const has = ({ settingsSecret }: ProviderPlugin): boolean =>
    settingsSecret === 'artifacts' ? knowledge.hasArtifacts : knowledge.hasClusters;
  // Accounts of all providers share one set of names: one that two providers had would be as open as the more open one.
  const takenNames = new Set<string>();
  // Those of the store come first, whatever their provider.
  const types = new Map(storedAccounts.map(({ name, type }) => [name, type]));
  const providers = plugins.map((plugin) => {
    const provider = plugin.open({
      ...options,
      accounts: {
        stored: pickDefinitions(storedAccounts, plugin.name),
        refused: refusedAccounts,
        takenNames: new Set(
          [...takenNames, ...types.keys()].filter((name) => types.get(name) !== plugin.name),
        ),
      },
      credentials: has(plugin) ? 'given' : 'withheld',
    });
    const accounts = (provider.clouds ?? []).flatMap((cloud) => cloud.accounts);
    for (const { name } of [...accounts, ...provider.rejectedAccounts]) takenNames.add(name);
    return provider;
  });
  const set: ProviderSet = new ProviderSet(
    providers,
    [...rejectedAccounts, ...unreadable],
    [
      ...warnings,
      // Functions with only facts would repeat it.
      ...(knowledge.isDivided && hasUpstream(settings) ? [unservedUpstream] : []),
      ...(knowledge.hasClusters ? [...listIdlePermissions(providers), ...listReportedChecks(settings)] : []),
    ],
  );
  return set;
}

const unservedUpstream: AccountWarning = {
  message: 'settings without effect',
  reason: `${upstreamPath}: functions in AWS do not know all settings; npm start and replicas serve it`,
};

/** One for the installation: accounts are opened again when settings change, and unchanged ones keep what is known. */
function createBreakers(services: Services): AccountBreakers {
  const { clock, log } = openBase(services);
  const openStore = async () =>
    (await import('#accounts/services/health-store.ts')).openHealthStore(services);
  const findTraceparent = () => findLogField('traceparent');
  return new AccountBreakers({ clock, log, openStore, meter: openMeter(services), findTraceparent });
}

/** Loaded late: functions with credentials of clusters need no facts. */
async function readFacts(services: Services): Promise<string> {
  const { readAccountFacts } = await import('#accounts/services/account-facts.ts');
  return readAccountFacts(services);
}

/** Loaded late: most functions that open providers run no operation. */
async function openWorkCache(services: Services): Promise<CacheStore> {
  const { openCache } = await import('#caching/services/cache.ts');
  return openCache(services, 'work').cache;
}
