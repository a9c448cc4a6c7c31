import { describe, expect, it } from 'vitest';
import { systemClock, systemRandomness } from '#platform/services/system.ts';
import { plugins } from '#providers/index.ts';
import { operationProviders } from '#providers/operation-providers.ts';
import { getCode, getLine, loadSourceFiles } from './source-files.ts';

/** What names a provider, or what only one of them knows: EKS is Kubernetes to Busdriver. `artifacts` is Spinnaker's common word. */
const words = /kubernetes|fiat|front50|dockerRegistry|docker-registry|\beks|Eks/gi;

/** Who may name one all the same, and why: prefixes of paths, and words. */
const exceptions = [
  [
    'shared/providers/index.ts shared/providers/operation-providers.ts',
    'kubernetes fiat front50 dockerregistry docker-registry',
    'they are the lists of providers',
  ],
  ['shared/providers/account-form.ts', 'kubernetes', 'it says whose accounts the API of go-clouddriver has'],
  [
    'functions/routes.ts shared/contract/',
    'kubernetes front50 fiat dockerregistry',
    'Spinnaker has these paths and answers',
  ],
  ['functions/operator-routes.ts', 'kubernetes', "Armory's agent has such a path"],
  [
    'shared/platform/ports/eks.ts shared/platform/ports/lookup.ts shared/provider-kit/host-services.ts',
    'eks',
    'EKS is a service of AWS that any plug-in may ask for',
  ],
  [
    'shared/platform/aws/identity/ shared/platform/services/',
    'eks',
    'this is how that service is asked, and opened for plug-ins',
  ],
  ['shared/views/search.ts', 'front50', 'Clouddriver calls applications and projects so in answers'],
  [
    'functions/api/projects/list-project-clusters.ts',
    'front50',
    'its error tells operators which setting is missing',
  ],
  ['functions/api/docs/get-start-page.ts', 'kubernetes', 'it tells people what Busdriver is'],
  [
    'shared/settings/live/',
    'fiat',
    'settings that leave open who may call are refused before any plug-in is opened',
  ],
  [
    'shared/settings/account-storage.ts',
    'fiat',
    'operators say by a setting of this name who may manage accounts without it',
  ],
].map(([paths = '', named = '']) => ({ files: paths.split(' '), words: named.split(' ') }));

const files = loadSourceFiles().filter(
  ({ path }) => /^(functions|shared)\//.test(path) && !/^shared\/providers\/[^/]+\//.test(path),
);

describe('a provider', () => {
  it('is named in its own folder alone', () => {
    expect(files.flatMap((file) => findNames(file.path, getCode(file)))).toEqual([]);
  });

  it('has no exception that nobody needs', () => {
    const needless = exceptions.flatMap(({ files: prefixes, words: allowed }) =>
      prefixes.filter((prefix) => !isNeeded(prefix, allowed)),
    );
    expect(needless).toEqual([]);
  });

  it('stands in operation-providers.ts if it has operations', async () => {
    expect([...operationProviders].sort()).toEqual((await listOperationProviders()).sort());
  });
});

function findNames(path: string, code: string): string[] {
  return [...code.matchAll(words)]
    .map((match) => ({ word: match[0], line: getLine(code, match.index) }))
    .filter(({ word }) => !isExcepted(path, word))
    .map(
      ({ word, line }) =>
        `${path}:${line} names '${word}': what only one provider knows belongs into shared/providers/<provider>/`,
    );
}

function isExcepted(path: string, word: string): boolean {
  return exceptions.some(
    (exception) =>
      exception.files.some((prefix) => path.startsWith(prefix)) &&
      exception.words.includes(word.toLowerCase()),
  );
}

/** Whether a file of the exception has one of its words. */
function isNeeded(prefix: string, allowed: readonly string[]): boolean {
  const named = files
    .filter(({ path }) => path.startsWith(prefix))
    .flatMap((file) => getCode(file).match(words) ?? []);
  return named.some((word) => allowed.includes(word.toLowerCase()));
}

/** Ids of the plug-ins that have operations, even without an account. */
async function listOperationProviders(): Promise<string[]> {
  const log = { debug() {}, info() {}, warn() {}, error() {} };
  const given = { settings: {}, clock: systemClock, randomness: systemRandomness, log };
  const names: string[] = [];
  for (const plugin of plugins) {
    await using provider = plugin.open({ ...given, placement: 'deployed' });
    if (provider.loadOperations !== undefined) names.push(plugin.name);
  }
  return names;
}
