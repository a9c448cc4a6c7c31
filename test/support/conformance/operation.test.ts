import { randomUUID } from 'node:crypto';
import { describe } from 'vitest';
import { FailedOperationError, InvalidInputError } from '#core/errors.ts';
import { asString } from '#core/json.ts';
import type { Provider } from '#provider-kit/provider.ts';
import type { Operation, OperationRun } from '#tasks/operation.ts';
import { setUpEnvironment, testOperation } from './operation.ts';
import type { CallWatch, OperationCloud, OperationSpec, WorkerOptions } from './operation-spec.ts';
import { specAccounts } from './operation-spec.ts';

/** Names of the server groups in each region of an imaginary cloud, which is no Kubernetes. */
const regions = new Map<string, string[]>();

type Region = { readonly name: string };

const cloud: OperationCloud<Region, readonly string[]> = {
  provider: 'imaginary',
  credentials: new Map([['key', 'planted-key-of-the-account']]),
  async createPlace() {
    const name = `region-${randomUUID()}`;
    regions.set(name, []);
    return { name, [Symbol.asyncDispose]: async () => void regions.delete(name) };
  },
  async arrange({ name }, serverGroups) {
    regions.set(name, [...serverGroups]);
  },
  async openWorker(options) {
    return { provider: createProvider(options), [Symbol.asyncDispose]: async () => undefined };
  },
  isWithin: ({ path }, place) => path.startsWith(`/${place}/`),
  normalize: (value) => value,
};

function createProvider({ place, watch }: WorkerOptions): Provider {
  const accounts = Object.values(specAccounts).map((name) => ({
    ...{ name, cloudProvider: 'imaginary', environment: name, accountType: name },
    ...{ requiredGroupMembership: [], details: {} },
  }));
  return {
    ...{ name: 'imaginary', rejectedAccounts: [] },
    clouds: [
      { name: 'imaginary', accounts, operations: { load: async () => [createOperation(place, watch)] } },
    ],
    [Symbol.asyncDispose]: async () => undefined,
  };
}

function createOperation(place: string, watch: CallWatch): Operation {
  return {
    name: 'createServerGroup',
    prepare({ account, region, password }) {
      if (!asString(region))
        throw new InvalidInputError('createServerGroup: region: expected a name, got none');
      if (account === specAccounts.elsewhere)
        throw new InvalidInputError(`createServerGroup: the account may not use the region ${place}`);
      return {
        account: asString(account) ?? '',
        applications: [],
        operationClass: 'CreateServerGroupOperation',
        phase: 'CREATE_SERVER_GROUP',
        run: (run) => createServerGroup(run, { place, watch, password: asString(password) ?? '' }),
      };
    },
  };
}

/** Creates a server group under the next free name. */
async function createServerGroup(
  run: OperationRun,
  {
    place,
    watch,
    password,
  }: { readonly place: string; readonly watch: CallWatch; readonly password: string },
): Promise<object> {
  const serverGroups = regions.get(place) ?? [];
  const path = `/${place}/serverGroups`;
  const list = { method: 'GET', path, isWrite: false };
  const create = { method: 'POST', path, isWrite: true };
  const name = await run.decide('name', async () => {
    watch.before(list, undefined);
    const count = serverGroups.length;
    if (!watch.after({ ...list, isDone: true })) await forever;
    return `web-v00${count}`;
  });
  run.report(`Creating ${name}`);
  if (watch.before(create, { name, password }) !== undefined)
    throw new FailedOperationError(`Creating ${name} was refused`);
  const isDone = !serverGroups.includes(name);
  if (isDone) serverGroups.push(name);
  if (!watch.after({ ...create, isDone, ...(isDone && { once: `POST ${name}` }) })) await forever;
  return { serverGroupNames: [name] };
}

/** What a dead worker waits for. */
const forever = new Promise<never>(() => undefined);

const createServerGroupSpec: OperationSpec<Region, readonly string[]> = {
  world: () => ['web-v000'],
  context: ({ place, plant }) => ({ region: place, password: plant('password') }),
  invalid: [
    {
      change: { region: null },
      error: 'createServerGroup: region: expected a name, got none',
      names: 'region',
    },
  ],
  outside: 'createServerGroup: the account may not use the region PLACE',
  calls: { GET: 1, POST: 1 },
  history: ['Creating web-v001'],
  result: { serverGroupNames: ['web-v001'] },
  secrets: ['password'],
  look: async ({ name }) => [...(regions.get(name) ?? [])],
  effect: () => ['web-v000', 'web-v001'],
};

describe('an operation of a provider that is not Kubernetes', () => {
  testOperation('createServerGroup', createServerGroupSpec, setUpEnvironment(cloud));
});
