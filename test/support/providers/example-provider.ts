import { runListAgent, updateScope } from '#caching/engine/list-run.ts';
import type { CachingAgent, CachingRun } from '#caching/scheduling/caching-agent.ts';
import type { CacheStore } from '#caching/store/cache-store.ts';
import { createCacheWriter } from '#caching/writer/cache-writer.ts';
import { createJsonModel } from '#caching/writer/json-model.ts';
import { FailedOperationError, InvalidInputError } from '#core/errors.ts';
import { asJsonArray, asString, getPath, type JsonObject } from '#core/json.ts';
import type { Provider, ProviderContext, ProviderPlugin } from '#provider-kit/provider.ts';
import type { PreparedOperation } from '#tasks/operation.ts';
import type { CachedReads } from '#views/views.ts';

/** What stands in for the API of a cloud: machines by account and region (`one/north`). Another region cannot be read. */
export const cloud = new Map<string, Set<string>>();

/** Machines, by name, that are not made until their promise is kept. */
export const heldMachines = new Map<string, Promise<void>>();

const regions = ['north', 'south'];

const model = createJsonModel<{ readonly healthState: string }>(1);

/** A provider as small as one can be: machines, in `example.accounts`. A plug-in needs nothing of another one. */
export const examplePlugin: ProviderPlugin = {
  name: 'example',
  open: openExample,
  toPublicSettings: (_, { accounts }) => ({ example: { accounts: accounts.map(({ name }) => ({ name })) } }),
};

function openExample({ settings, clock, randomness, agentIntervalMs = 30_000 }: ProviderContext): Provider {
  const entries = asJsonArray(getPath(settings, 'example', 'accounts')).map((entry, index) => ({
    name: asString(getPath(entry, 'name')),
    path: `example.accounts[${index}]`,
  }));
  const names = entries.flatMap(({ name }) => name ?? []);
  const wrong = entries.filter(({ name }) => name === undefined);
  const prepare = (description: JsonObject) => prepareMachine(description, names);
  return {
    name: 'example',
    rejectedAccounts: wrong.map(({ path }) => ({ name: path, reason: `${path}.name: expected a name` })),
    clouds: [
      {
        name: 'example',
        accounts: names.map((name) => ({
          ...{ name, cloudProvider: 'example', environment: name, accountType: name },
          ...{ requiredGroupMembership: [], details: {} },
        })),
        operations: { load: async () => [{ name: 'createMachine', prepare }] },
        caching: { loadAgents: async () => names.map(createAgent), findRefresh },
        openViews: async (cache, mayRead) => openViews(cache, names.filter(mayRead)),
        inventories: {
          async subnets({ mayRead }) {
            const accounts = names.filter(mayRead);
            const toSubnets = (account: string) => regions.map((region) => ({ account, region }));
            return { value: accounts.flatMap(toSubnets), accounts };
          },
        },
      },
    ],
    async [Symbol.asyncDispose]() {},
  };

  function createAgent(account: string): CachingAgent {
    return {
      ...{ account, name: 'ExampleCachingAgent', provider: 'example', mode: 'interval' },
      ...{ intervalMs: agentIntervalMs, timeoutMs: 60_000 },
      run: async (run) => runListAgent(createParts(account, run.cache), run),
    };
  }

  function createParts(account: string, cache: CacheStore) {
    const parts = { account, model, clock, randomness, cache };
    const list = async (region: string) => ({ objects: listMachines(account, region) });
    const plan = async () => ({ scopes: regions });
    const platform = { kind: 'machine', scopeName: 'region', concurrency: 2, plan, list };
    return { ...parts, platform, writer: createCacheWriter(parts) };
  }

  function findRefresh(type: string, key: JsonObject) {
    const [account = '', scope = ''] = [asString(key['account']), asString(key['region'])];
    if (type.toLowerCase() !== 'machine' || !names.includes(account)) return undefined;
    const run = async ({ cache, signal }: Pick<CachingRun, 'cache' | 'signal'>) =>
      updateScope(createParts(account, cache), { scope, memory: null }, { cache, signal });
    return { id: `${account}:${scope}`, run };
  }
}

function listMachines(account: string, region: string) {
  const machines = cloud.get(`${account}/${region}`);
  if (machines === undefined) throw new FailedOperationError(`${region} does not answer`);
  return [...machines].map((name) => ({ name, facts: { healthState: 'Up' } }));
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
        await heldMachines.get(machine);
        cloud.set(`${account}/north`, new Set(cloud.get(`${account}/north`)).add(machine));
        return machine;
      });
      return { machine };
    },
  };
}

function openViews(cache: CacheStore, accounts: readonly string[]): CachedReads {
  return {
    async findInstance({ account, location, name }) {
      const [found] = await cache.getObjects([{ account, kind: 'machine', location, name }]);
      const facts = accounts.includes(account) && found && model.decode(found.readBody());
      return facts ? { value: { account, name, ...facts }, accounts: [account] } : undefined;
    },
  };
}
