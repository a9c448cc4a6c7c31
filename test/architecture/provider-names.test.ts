import { describe, expect, it } from 'vitest';
import { plugins } from '../../shared/providers/index.ts';
import { operationProviders } from '../../shared/providers/operation-providers.ts';
import { systemClock, systemRandomness } from '../../shared/runtime/services/system.ts';
import { getCode, getLine, loadSourceFiles } from './source-files.ts';

/** What names a provider, or what only one of them knows: EKS is Kubernetes to Busdriver. `artifacts` is Spinnaker's common word. */
const words = /kubernetes|fiat|front50|dockerRegistry|docker-registry|\beks|Eks/gi;

/** Who may name one all the same, and why. `files` are prefixes of paths. */
const exceptions: readonly {
  readonly files: readonly string[];
  readonly word: string;
  readonly why: string;
}[] = [
  {
    files: ['shared/providers/index.ts', 'shared/providers/operation-providers.ts'],
    word: 'kubernetes fiat front50 dockerregistry docker-registry',
    why: 'they are the lists of providers',
  },
  {
    files: ['shared/providers/account-form.ts'],
    word: 'kubernetes',
    why: 'it says whose accounts the API of go-clouddriver has',
  },
  {
    files: ['functions/routes.ts', 'shared/contract/'],
    word: 'kubernetes front50 fiat dockerregistry',
    why: 'Spinnaker has these paths and answers',
  },
  {
    files: ['functions/operator-routes.ts'],
    word: 'kubernetes',
    why: "Armory's agent has such a path",
  },
  {
    files: ['shared/core/eks.ts', 'shared/core/lookup.ts', 'shared/core/providers/placement-services.ts'],
    word: 'eks',
    why: 'EKS is a service of AWS that any plug-in may ask for',
  },
  {
    files: ['shared/aws/identity/', 'shared/runtime/services/'],
    word: 'eks',
    why: 'this is how that service is asked, and opened for plug-ins',
  },
  {
    files: ['shared/core/providers/search.ts'],
    word: 'front50',
    why: 'Clouddriver calls the platform of applications and projects so in answers',
  },
  {
    files: ['functions/api/projects/list-project-clusters.ts'],
    word: 'front50',
    why: 'its error tells operators which setting is missing',
  },
  {
    files: ['functions/api/docs/get-start-page.ts'],
    word: 'kubernetes',
    why: 'it tells people what Busdriver is',
  },
  {
    files: ['shared/runtime/settings/'],
    word: 'fiat',
    why: 'settings that leave open who may call are refused before any plug-in is opened',
  },
  {
    files: ['shared/core/settings/account-storage.ts'],
    word: 'fiat',
    why: 'operators say by a setting of this name who may manage accounts without it',
  },
];

const files = loadSourceFiles().filter(
  ({ path }) => /^(functions|shared)\//.test(path) && !/^shared\/providers\/[^/]+\//.test(path),
);

describe('a provider', () => {
  it('is named in its own folder alone', () => {
    expect(files.flatMap((file) => findNames(file.path, getCode(file)))).toEqual([]);
  });

  it('finds a planted name', () => {
    expect(findNames('shared/core/json.ts', "\nif (name === 'kubernetes') return;")).toEqual([
      "shared/core/json.ts:2 names 'kubernetes': what only one provider knows belongs into shared/providers/<provider>/",
    ]);
  });

  it('has no exception that nobody needs', () => {
    const needless = exceptions.flatMap((exception) =>
      exception.files.filter((prefix) => !isNeeded(prefix, exception.word)),
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
    .filter(({ word }) => !exceptions.some((exception) => isExcepted({ path, word }, exception)))
    .map(
      ({ word, line }) =>
        `${path}:${line} names '${word}': what only one provider knows belongs into shared/providers/<provider>/`,
    );
}

function isExcepted(
  found: { readonly path: string; readonly word: string },
  { files: prefixes, word: allowed }: { readonly files: readonly string[]; readonly word: string },
): boolean {
  const isThere = prefixes.some((prefix) => found.path.startsWith(prefix));
  return isThere && allowed.split(' ').includes(found.word.toLowerCase());
}

/** Whether a file of the exception has one of its words. */
function isNeeded(prefix: string, allowed: string): boolean {
  const named = files
    .filter(({ path }) => path.startsWith(prefix))
    .flatMap((file) => getCode(file).match(words) ?? []);
  return named.some((word) => allowed.split(' ').includes(word.toLowerCase()));
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
