import { once } from '#core/once.ts';
import type { HostServices } from '#provider-kit/host-services.ts';
import type { SecretReader } from '#settings/secret-reference.ts';
import type { SecretReaderOptions } from '../aws/identity/secret-reader.ts';
import { toOuterEnvironment } from '../config.ts';
import type { LookupStore } from '../ports/lookup.ts';
import { openBase } from './base.ts';
import type { LookupParts } from './lookup-store.ts';
import type { Services } from './services.ts';

/** What the services of a host are made of. */
export interface HostOptions extends Omit<SecretReaderOptions, 'aws' | 'store' | 'parseYaml'> {
  /** Opens what processes share, with the first lookup. Left out, this process looks up everything itself. */
  readonly openLookups?: () => Promise<LookupParts>;
}

/** What an installation offers to its plug-ins. */
export function openHostServices(services: Services): ReturnType<typeof createHostServices> {
  return services.get(createInstallation);
}

function createInstallation(services: Services) {
  const environment = toOuterEnvironment(services.environment);
  const { clock, randomness, config } = openBase(services);
  const openLookups = async () => (await import('./lookup-store.ts')).openLookupParts(services);
  return createHostServices({ clock, randomness, placement: config.placement, environment, openLookups });
}

/** AWS and secrets for plug-ins. What reaches AWS is loaded with the first account that needs it: others do not pay for it at their start. */
export function createHostServices({ openLookups, ...options }: HostOptions) {
  const openAws = once(async () => (await import('../aws/identity/aws-access.ts')).createAws(options));
  const getSecrets = once(async (): Promise<SecretReader> => {
    const { createSecretReader } = await import('../aws/identity/secret-reader.ts');
    // Functions that only read the settings need no store.
    const store: LookupStore | undefined = openLookups && {
      find: async (key) => (await openLookups()).store.find(key),
      replace: async (key, change) => (await openLookups()).store.replace(key, change),
    };
    // Few secrets are YAML.
    const parseYaml = async (text: string) => (await import('./secret-yaml.ts')).parseSecretYaml(text);
    return createSecretReader({ ...options, store, parseYaml, aws: await openAws() });
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
