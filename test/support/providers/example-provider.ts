import type { CacheStore } from '#caching/store/cache-store.ts';
import { toRevision } from '#caching/store/revision.ts';
import { InvalidInputError } from '#core/errors.ts';
import { asJsonArray, asString, getPath, type JsonObject } from '#core/json.ts';
import type { Provider, ProviderOptions, ProviderPlugin } from '#provider-kit/provider.ts';
import type { PreparedOperation } from '#tasks/operation.ts';
import type { ViewReader } from '#views/views.ts';

/** What stands in for the API of a cloud: names of machines by account, all of the application `shop`. */
export const cloud = new Map<string, Set<string>>();

/** A provider as small as one can be: machines, in `example.accounts`. A plug-in needs nothing of another one. */
export const examplePlugin: ProviderPlugin = {
  name: 'example',
  open: openExample,
  toPublicSettings: (_, { accounts }) => ({ example: { accounts: accounts.map(({ name }) => ({ name })) } }),
};

function openExample({ settings, clock, agentIntervalMs = 30_000 }: ProviderOptions): Provider {
  const entries = asJsonArray(getPath(settings, 'example', 'accounts')).map((entry, index) => ({
    name: asString(getPath(entry, 'name')),
    path: `example.accounts[${index}]`,
  }));
  const names = entries.flatMap(({ name }) => name ?? []);
  const wrong = entries.filter(({ name }) => name === undefined);
  return {
    name: 'example',
    accounts: names.map((name) => ({
      ...{ name, cloudProvider: 'example', environment: name, accountType: name },
      ...{ requiredGroupMembership: [], details: {} },
    })),
    rejectedAccounts: wrong.map(({ path }) => ({ name: path, reason: `${path}.name: expected a name` })),
    loadOperations: async () => [
      { name: 'createMachine', prepare: (description) => prepareMachine(description, names) },
    ],
    loadCachingAgents: async () =>
      names.map((account) => ({
        ...{ account, name: 'ExampleCachingAgent', provider: 'example', mode: 'interval' },
        ...{ intervalMs: agentIntervalMs, timeoutMs: 60_000 },
        async run({ cache }) {
          const items = await cacheMachines(cache, account);
          return { outcome: 'done', state: '', items, changes: items, asOfMs: clock.now() };
        },
      })),
    openViews: async (cache, mayRead) => openViews(cache, names.filter(mayRead)),
    async [Symbol.asyncDispose]() {},
  };
}

function prepareMachine(description: JsonObject, accounts: readonly string[]): PreparedOperation {
  const account = asString(description['account']) ?? '';
  const machine = asString(description['machine']);
  if (!accounts.includes(account)) throw new InvalidInputError('account: expected the name of an account');
  if (machine === undefined) throw new InvalidInputError('machine: expected a name');
  return {
    ...{ account, operationClass: 'CreateMachineOperation', phase: 'CREATE_MACHINE' },
    applications: ['shop'],
    async run(run) {
      await run.step('create', async () => {
        cloud.set(account, new Set(cloud.get(account)).add(machine));
        return machine;
      });
      return { machine };
    },
  };
}

async function cacheMachines(cache: CacheStore, account: string): Promise<number> {
  const machines = [...(cloud.get(account) ?? [])];
  const revision = toRevision(1, String(machines.length));
  const changes = machines.map((key) => ({ key, revision, seenAt: revision, value: key }));
  await cache.mergeRows({ application: 'shop', account }, [{ view: 'machines', row: 'all', changes }]);
  return machines.length;
}

/** Views of nothing but instances. */
function openViews(cache: CacheStore, accounts: readonly string[]): ViewReader {
  const list = async () => ({ value: [], accounts });
  const none = async () => undefined;
  const map = async () => ({ value: {}, accounts });
  return {
    ...{ listApplications: list, findApplication: none, listClusterNames: map, listClusters: list },
    ...{ findCluster: none, listServerGroups: list, listServerGroupsByKeys: list, findServerGroup: none },
    ...{ findTargetServerGroup: none, listServerGroupManagers: list, listLoadBalancers: list, search: list },
    ...{ findLoadBalancer: none, listSecurityGroups: map, findSecurityGroup: none, findManifest: none },
    ...{ listRawResources: list, listProjectClusters: list, listNamespaces: async () => new Map() },
    async findInstance({ account, name }) {
      const row = await cache.getRow({ application: 'shop', account, view: 'machines', row: 'all' });
      const found = accounts.includes(account) && row?.read().get(name);
      return found ? { value: { account, name, healthState: 'Up' }, accounts: [account] } : undefined;
    },
  };
}
