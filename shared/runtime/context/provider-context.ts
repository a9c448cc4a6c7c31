import { findIntervalMs } from '../../core/agents/agent-interval.ts';
import type { CacheStore } from '../../core/cache/cache-store.ts';
import { parseAccountFacts } from '../../core/providers/account-facts.ts';
import type { ProviderOptions, ProviderPlugin } from '../../core/providers/provider.ts';
import { ProviderSet } from '../../core/providers/provider-set.ts';
import type { AccountWarning, RejectedAccount } from '../../core/settings/account.ts';
import { mergeDocuments } from '../../core/settings/spring-config.ts';
import { plugins } from '../../providers/index.ts';
import { type Config, type Environment, readOuterEnvironment } from '../config.ts';
import { artifactKeys } from '../settings/divided-settings.ts';
import {
  LiveProviders,
  type OpenedProviders,
  type ParsedSettings,
  type SettingsSource,
} from '../settings/live-providers.ts';
import type { CredentialTexts } from '../settings/settings-source.ts';
import { createAwsPorts } from './aws-ports.ts';
import { type BaseContext, openBaseContext } from './base-context.ts';

/** What functions that deal with accounts and clusters work with. It stays as it is, whatever becomes of the settings. */
export interface ProviderContext extends BaseContext, OpenedProviders {}

/**
 * Milliseconds between two readings of the settings. A secret's cost little, a file's nothing; account facts, a look at one small
 * item, are read as often as that makes sense of what is published each minute.
 */
const intervalsMs = { secrets: 120_000, files: 10_000, facts: 20_000 };

/** Milliseconds after which account facts are looked at before they are used: a permission that was taken must not live on. */
const staleFactsMs = 60_000;

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

/**
 * The context of settings that are read at once, though at most every ten seconds.
 *
 * @throws UnavailableError when there are no settings to go on with.
 */
export async function openNewestProviderContext(): Promise<ProviderContext> {
  await openLiveProviders().refresh();
  return openProviderContext();
}

/** What is to be told of the accounts of the settings in force. */
export interface AccountProblems {
  /** Accounts that are left out, and why. */
  readonly rejectedAccounts: readonly RejectedAccount[];
  /** Settings that may not be as they were meant. */
  readonly accountWarnings: readonly AccountWarning[];
}

/**
 * What is to be told of the accounts of the settings in force.
 *
 * @throws UnavailableError with the reason when the settings allow no providers.
 */
export async function listAccountProblems(): Promise<AccountProblems> {
  return (await openLiveProviders().get()).providers;
}

/** Whether the settings, as this process read them last, are in force. */
export function areSettingsUsable(): boolean {
  return openLiveProviders().problem === undefined;
}

function openLiveProviders(): LiveProviders {
  opened ??= createLiveProviders(openBaseContext());
  return opened;
}

function createLiveProviders(base: BaseContext): LiveProviders {
  const { config, clock, randomness, log } = base;
  const knowledge = findKnowledge(config);
  const options = { source: createSettingsSource(base, knowledge), clock, randomness, log };
  if (!knowledge.hasClusters && !knowledge.hasArtifacts)
    return new LiveProviders({ ...options, intervalMs: intervalsMs.facts, staleAgeMs: staleFactsMs });
  const intervalMs = config.placement === 'local' ? intervalsMs.files : intervalsMs.secrets;
  return new LiveProviders({ ...options, intervalMs });
}

/** What this process was given of the settings. */
interface Knowledge {
  /** Whether credentials of clusters and of artifacts stand apart, and functions have them only where they need them. */
  readonly isDivided: boolean;
  readonly hasClusters: boolean;
  readonly hasArtifacts: boolean;
}

/** Files, and the kubeconfig of somebody's own machine, hold everything; deployed functions know what their variables name. */
function findKnowledge({ placement, configFiles, kubeconfig, ...secrets }: Config): Knowledge {
  const isDivided = placement === 'deployed' && configFiles.length === 0 && kubeconfig === undefined;
  return {
    isDivided,
    hasClusters: !isDivided || secrets.configSecretArn !== undefined,
    hasArtifacts: !isDivided || secrets.artifactsSecretArn !== undefined,
  };
}

/** What a process reads of the settings. */
interface ReadTexts {
  readonly credentials?: CredentialTexts;
  /** Account facts, where it has no credentials of clusters. */
  readonly facts?: string;
}

/**
 * Files and secrets that the environment names, and account facts in place of what it does not. What connects to AWS is made once:
 * it remembers credentials. What reads YAML and secrets is loaded late: functions that live on facts never need it.
 */
function createSettingsSource(base: BaseContext, knowledge: Knowledge): SettingsSource<ReadTexts> {
  const { config, clock } = base;
  const { isDivided, hasClusters, hasArtifacts } = knowledge;
  const environment = readOuterEnvironment();
  const openParts = async () => (await import('./lookup-store.ts')).openLookupParts(base);
  const ports = { ...createAwsPorts(clock, { ...base, openParts }), openCache };
  let yaml: typeof import('../settings/settings-source.ts') | undefined;
  const readCredentials = async (): Promise<CredentialTexts> => {
    yaml ??= await import('../settings/settings-source.ts');
    return yaml.readCredentialTexts(config, ports.secrets);
  };
  return {
    async read() {
      const [credentials, facts] = await Promise.all([
        hasClusters || hasArtifacts ? readCredentials() : undefined,
        hasClusters ? undefined : readFacts(base),
      ]);
      return { ...(credentials && { credentials }), ...(facts !== undefined && { facts }) };
    },
    parse({ credentials, facts }) {
      const parts = facts === undefined ? [] : [parseAccountFacts(facts)];
      const options = { profiles: config.profiles, environment, isDivided };
      if (credentials && yaml) parts.push(yaml.parseCredentialTexts(credentials, options));
      return {
        settings: mergeDocuments(parts.map(({ settings }) => settings)),
        // Of two the latter is what this function itself found; the publisher tells the former.
        rejectedAccounts: parts.at(-1)?.rejectedAccounts ?? [],
      };
    },
    open: (parsed) => openProviders(parsed, { ...base, ...ports, environment, knowledge }),
  };
}

type OpeningOptions = BaseContext &
  Pick<ProviderOptions, 'eks' | 'secrets' | 'openCache'> & {
    readonly environment: Environment;
    readonly knowledge: Knowledge;
  };

function openProviders({ settings, rejectedAccounts }: ParsedSettings, opening: OpeningOptions): ProviderSet {
  const { knowledge, config, ...given } = opening;
  const options = {
    ...given,
    settings,
    placement: config.placement,
    agentIntervalMs: findIntervalMs(settings) ?? config.agentIntervalMs,
    findCatalog: () => set.findCatalog(),
  };
  const has = ({ name }: ProviderPlugin): boolean =>
    artifactKeys.includes(name) ? knowledge.hasArtifacts : knowledge.hasClusters;
  const providers = plugins.map((plugin) =>
    plugin.open({ ...options, credentials: has(plugin) ? 'given' : 'withheld' }),
  );
  const set: ProviderSet = new ProviderSet(providers, rejectedAccounts);
  return set;
}

/** Loaded late: functions that have credentials of clusters need no facts. */
async function readFacts(base: BaseContext): Promise<string> {
  const { readAccountFacts } = await import('./account-facts.ts');
  return readAccountFacts(base);
}

/** Loaded late: most functions that open providers run no operation. */
async function openCache(): Promise<CacheStore> {
  const { openCacheContext } = await import('./cache-context.ts');
  return openCacheContext('work').cache;
}
