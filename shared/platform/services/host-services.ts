import type { Clock, Randomness } from '#core/clock.ts';
import type { HostServices } from '#provider-kit/host-services.ts';
import type { SecretReader } from '#settings/secret-reference.ts';
import { toOuterEnvironment } from '../config.ts';
import type { LookupStore } from '../ports/lookup.ts';
import { openBase } from './base.ts';
import type { LookupParts } from './lookup-store.ts';
import type { Services } from './services.ts';

/** How processes share what they look up in AWS. */
export interface LookupSharing {
  readonly randomness: Pick<Randomness, 'fraction'>;
  /** Opens the store with the first lookup: functions that only read the settings need none. */
  readonly openLookups: () => Promise<LookupParts>;
}

/** Where this process runs. */
export interface AwsPlace {
  readonly placement: 'local' | 'deployed';
  /** Variables that may name AWS endpoints. */
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** An unknown place: the settings may hold no secret. */
const unknownPlace: AwsPlace = { placement: 'deployed', environment: {} };

/** What an installation offers to its plug-ins. */
export function openHostServices(services: Services) {
  return services.get(createInstallation);
}

function createInstallation(services: Services) {
  const { clock, randomness, config } = openBase(services);
  const openLookups = async () => (await import('./lookup-store.ts')).openLookupParts(services);
  const environment = toOuterEnvironment(services.environment);
  return createHostServices(clock, { randomness, openLookups }, { ...config, environment });
}

/**
 * AWS and secrets for plug-ins. What reaches AWS is loaded with the first account that needs it: others do not pay for it at their start.
 *
 * @param sharing left out, this process looks up everything itself.
 */
export function createHostServices(clock: Clock, sharing?: LookupSharing, place: AwsPlace = unknownPlace) {
  const { openLookups, randomness = { fraction: () => 0.5 } }: Partial<LookupSharing> = sharing ?? {};
  const openAws = once(async () => {
    const { createAws } = await import('../aws/identity/aws-access.ts');
    return createAws({ clock, environment: place.environment });
  });
  const getSecrets = once(async (): Promise<SecretReader> => {
    const { createSecretReader } = await import('../aws/identity/secret-reader.ts');
    const store = openLookups && {
      find: async (...look: Parameters<LookupStore['find']>) => (await openLookups()).store.find(...look),
      replace: async (...change: Parameters<LookupStore['replace']>) =>
        (await openLookups()).store.replace(...change),
    };
    return createSecretReader({ ...place, clock, randomness, store, parseYaml, aws: await openAws() });
  });
  return {
    openAws,
    ...(openLookups && { openLookups }),
    secrets: {
      read: async (reference) => (await getSecrets()).read(reference),
      follow: async (reference, known) => (await getSecrets()).follow(reference, known),
      readRoles: async (reference) => (await getSecrets()).readRoles(reference),
    },
  } satisfies HostServices;
}

/** Loaded late: few secrets are YAML. */
async function parseYaml(text: string): Promise<unknown> {
  const { parseSecretYaml } = await import('./secret-yaml.ts');
  return parseSecretYaml(text);
}

/** The first result of `make`. */
function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
