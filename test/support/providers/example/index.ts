import * as kit from 'busdriver/provider-kit';

/** In the place of a cloud's API: names of machines by region. */
export const cloud = {
  machines: new Map([['north', new Set<string>()]]).set('south', new Set()),
  async call(method: string, region: string, machine = ''): Promise<string[]> {
    const found = this.machines.get(region);
    if (found === undefined) throw new kit.FailedOperationError(`${region} does not answer`);
    if (method === 'PUT') found.add(machine);
    if (method === 'DELETE') found.delete(machine);
    return [...found];
  },
};

/** What Busdriver knows without loading the provider. */
export const declaration: kit.ProviderPackage['declaration'] = {
  ...{ kit: 1, name: 'example', hasOperations: true },
  awsResources: [
    {
      ...{ option: 'machineArn', service: 'ec2', path: 'instance/', prefix: '' },
      actions: ['ec2:StopInstances'],
      events: [{ source: 'aws.ec2', detailType: 'EC2 Instance State-change Notification', detail: {} }],
    },
  ],
};

/** A cloud of machines in regions. */
export const plugin: kit.ProviderPackage['plugin'] = {
  name: 'example',
  open(options) {
    const regions = new Map<string, string[]>();
    const rejectedAccounts: kit.RejectedAccount[] = [];
    const entries = kit.asJsonArray(kit.getPath(options.settings, 'example', 'accounts'));
    for (const [index, entry] of entries.entries()) {
      const [name, path] = [kit.asString(kit.getPath(entry, 'name')), `example.accounts[${index}]`];
      if (name) regions.set(name, kit.asJsonArray(kit.getPath(entry, 'regions')).map(String));
      else rejectedAccounts.push({ name: path, reason: `${path}.name: expected a name` });
    }
    const clouds = [openCloud(regions, options)];
    return { name: 'example', rejectedAccounts, clouds, async [Symbol.asyncDispose]() {} };
  },
  toPublicSettings: (_, { accounts }) => ({
    example: { accounts: accounts.map(({ name, details }) => ({ name, ...details })) },
  }),
};

function openCloud(regions: ReadonlyMap<string, string[]>, options: kit.ProviderContext): kit.CloudProvider {
  const openAgent = (account: string, cache: kit.CacheStore) => {
    const plan = async () => ({ scopes: regions.get(account) ?? [] });
    const list = async (region: string) => ({ objects: (await cloud.call('GET', region)).map(toMachine) });
    const platform = { kind: 'machine', scopeName: 'region', concurrency: 2, plan, list };
    const parts = { ...options, account, model, cache };
    return { ...parts, platform, writer: kit.createCacheWriter(parts) };
  };
  const findUpdate = (account: string, scope: string) => {
    if (!regions.get(account)?.includes(scope)) return undefined;
    return async (run: Pick<kit.CachingRun, 'cache' | 'signal'>) => {
      const changes = await kit.updateScope(openAgent(account, run.cache), { scope, memory: null }, run);
      return { changes, events: [] };
    };
  };
  const createAgent = (account: string): kit.CachingAgent => ({
    ...{ account, name: 'MachineCachingAgent', provider: 'example', mode: 'interval', timeoutMs: 60_000 },
    intervalMs: options.agentIntervalMs ?? 30_000,
    run: (run) => kit.runListAgent(openAgent(account, run.cache), run),
    findUpdate: ({ source, region }) => (source === 'aws.ec2' ? findUpdate(account, region) : undefined),
  });
  const operations = [define('createMachine', 'PUT', regions), define('deleteMachine', 'DELETE', regions)];
  const toSubnets = (account: string) => regions.get(account)?.map((region) => ({ account, region })) ?? [];
  return {
    name: 'example',
    accounts: [...regions].map(([name, regions]) => ({
      ...{ name, cloudProvider: 'example', environment: name, accountType: name },
      ...{ requiredGroupMembership: [], details: { regions } },
    })),
    operations: { load: async () => operations },
    caching: {
      loadAgents: async () => [...regions.keys()].map(createAgent),
      findRefresh(type, { account, region }) {
        const run = type === 'Machine' ? findUpdate(String(account), String(region)) : undefined;
        return run && { id: `${account}:${region}`, run };
      },
    },
    inventories: {
      async subnets({ mayRead }) {
        const accounts = [...regions.keys()].filter(mayRead);
        return { value: accounts.flatMap(toSubnets), accounts };
      },
    },
    openViews: async (cache, mayRead) => ({
      async findInstance({ account, location, name }) {
        const [found] = await cache.getObjects([{ account, kind: 'machine', location, name }]);
        const facts = mayRead(account) && found && model.decode(found.readBody());
        return facts ? { value: { account, name, ...facts }, accounts: [account] } : undefined;
      },
    }),
  };
}

function define(name: string, method: string, regions: ReadonlyMap<string, string[]>): kit.Operation {
  return {
    name,
    prepare({ account, region, machine }) {
      if (!regions.get(`${account}`)?.includes(`${region}`))
        throw new kit.InvalidInputError(`${name}.region: expected a region of the account`);
      if (!machine) throw new kit.InvalidInputError(`${name}.machine: expected a name`);
      return {
        ...{ account: `${account}`, applications: [], operationClass: name, phase: name },
        async run(run) {
          run.report(`${name} ${machine}`);
          await run.step('call', () => cloud.call(method, `${region}`, `${machine}`));
          return { machine, region };
        },
      };
    },
  };
}

const toMachine = (name: string) => ({ name, facts: { healthState: 'Up' } });
const model = kit.createJsonModel<{ readonly healthState: string }>(1);
