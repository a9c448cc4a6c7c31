import { describe, expect, it } from 'vitest';
import { systemClock, systemRandomness } from '#platform/services/system.ts';
import { declarations } from '#providers/declarations.ts';
import { plugins } from '#providers/index.ts';
import { getCode, getLine, loadSourceFiles } from './source-files.ts';

/** Names of providers, and words that only one of them knows: EKS is Kubernetes to Busdriver. `artifacts` is Spinnaker's common word. */
const words =
  /kubernetes|fiat|front50|dockerRegistry|docker-registry|\beks|Eks|namespace|kubeconfig|kube-system|resourceVersion/gi;

/** Where one may be named all the same: the words, by prefixes of paths. */
const exceptions: { readonly [prefix: string]: string } = {
  // The lists of providers.
  'shared/providers/plugins.ts': 'kubernetes fiat front50 dockerregistry docker-registry',
  'shared/providers/declared.ts': 'kubernetes dockerregistry docker-registry',
  // The first of them.
  'shared/providers/index.ts': 'kubernetes',
  'shared/providers/declarations.ts': 'kubernetes',
  // It says whose accounts the API of go-clouddriver has.
  'shared/providers/account-form.ts': 'kubernetes',
  // Spinnaker has these paths and answers.
  'shared/upstream/upstream-rules.ts': 'namespace',
  'functions/routes.ts': 'kubernetes namespace',
  'functions/api/admin/': 'namespace',
  'shared/contract/': 'kubernetes front50 fiat dockerregistry namespace kubeconfig',
  // Armory's agent has such paths.
  'functions/operator-routes.ts': 'kubernetes namespace',
  'functions/operators/': 'namespace',
  // Agents are in clusters: what they send has Kubernetes' words.
  'functions/agents/': 'namespace',
  'shared/agents/': 'namespace',
  // `npm start` takes kubeconfigs.
  'shared/platform/config.ts': 'kubeconfig',
  'shared/accounts/http/account-absence.ts': 'kubeconfig',
  'shared/provider-kit/services/provider-source.ts': 'kubeconfig',
  'shared/settings/live/settings': 'kubeconfig',
  // Its message names what most installations have.
  'shared/views/http/view-handler.ts': 'namespace',
  'shared/settings/remote-text.ts': 'kubeconfig',
  // CloudWatch's word.
  'shared/core/metrics.ts': 'namespace',
  'shared/platform/services/metric-writer.ts': 'namespace',
  // Keys of stored items.
  'shared/caching/aws/': 'namespace',
  // Clouddriver calls applications and projects so in answers.
  'shared/views/search.ts': 'front50',
  // Its error says which setting is missing.
  'functions/api/projects/list-project-clusters.ts': 'front50',
  // Orca's name of a member of results.
  'shared/tasks/http/status-page.ts': 'namespace',
  // It says what Busdriver is.
  'functions/api/docs/get-start-page.ts': 'kubernetes',
  // Settings that leave open who may call are refused before any plug-in is opened.
  'shared/settings/live/': 'fiat',
  // Spinnaker's dashboards ask for a metric of this name.
  'shared/core/meter.ts': 'kubernetes',
  // Operators say by a setting of this name who may manage accounts without it.
  'shared/settings/account-storage.ts': 'fiat',
};

const files = loadSourceFiles().filter(
  ({ path }) => /^(functions|shared)\//.test(path) && !/^shared\/providers\/[^/]+\//.test(path),
);

const allowed = Object.entries(exceptions).flatMap(([prefix, found]) =>
  found.split(' ').map((word) => ({ prefix, word })),
);

const named = files.flatMap((file) => {
  const code = getCode(file);
  return [...code.matchAll(words)].map(({ 0: word, index }) => {
    const exception = allowed.find(
      (each) => file.path.startsWith(each.prefix) && each.word === word.toLowerCase(),
    );
    return { place: `${file.path}:${getLine(code, index)}`, word, exception };
  });
});

describe('a provider', () => {
  it('is named in its own folder alone: what only it knows belongs into shared/providers/<provider>/', () => {
    const wrong = named.filter(({ exception }) => exception === undefined);
    expect(wrong.map(({ place, word }) => `${place} names '${word}'`)).toEqual([]);
  });

  it('has no exception that nobody needs', () => {
    const needed = new Set(named.map(({ exception }) => exception));
    expect(allowed.filter((each) => !needed.has(each))).toEqual([]);
  });

  it('says in its declaration that it has operations', async () => {
    const declared = declarations.filter(({ hasOperations }) => hasOperations).map(({ name }) => name);
    expect(declared).toEqual(await listOperationProviders());
  });
});

describe('what caches any platform', () => {
  it('has words for what only Kubernetes has in the keys of its tables alone: location, position, identity', () => {
    const platform = /namespace|resourceVersion|kube-?system|kubeconfig/gi;
    const wrong = files.flatMap((file) => {
      if (!/^shared\/caching\/(?!aws\/store\/)/.test(file.path)) return [];
      const code = getCode(file);
      return [...code.matchAll(platform)].map(
        ({ 0: word, index }) => `${file.path}:${getLine(code, index)} ${word}`,
      );
    });
    expect(wrong).toEqual([]);
  });
});

/** Ids of the plug-ins that have operations, even without an account. */
async function listOperationProviders(): Promise<string[]> {
  const log = { debug() {}, info() {}, warn() {}, error() {} };
  const given = { settings: {}, clock: systemClock, randomness: systemRandomness, log };
  const names: string[] = [];
  for (const plugin of plugins) {
    await using provider = plugin.open({ ...given, placement: 'deployed' });
    if (provider.clouds?.some(({ operations }) => operations !== undefined)) names.push(plugin.name);
  }
  return names;
}
