import { randomUUID } from 'node:crypto';
import {
  type CallWatch,
  type OperationCloud,
  type OperationSpec,
  setUpEnvironment,
  specAccounts,
  systemClock,
  systemRandomness,
  testOperation,
  testProvider,
} from 'busdriver/provider-kit/testing';
import { describe } from 'vitest';
import { cloud, plugin } from './index.ts';

const accounts = [
  { name: 'one', regions: ['north', 'south'], key: 'planted-key' },
  { name: 'two', regions: [] },
];

testProvider({
  plugin,
  accounts: ['one', 'two'],
  toSettings: () => ({ example: { accounts } }),
  toWrongSettings: () => ({ example: { accounts: [{ key: 'planted' }, ...accounts] } }),
  leavesOut: ['example.accounts[0]'],
  secrets: ['planted-key'],
  operation: { name: 'createMachine', description: { account: 'one', region: 'north', machine: 'm1' } },
  async openWorld() {
    cloud.machines.set('north', new Set(['m1', 'm2']));
    return { settings: { example: { accounts } }, application: 'shop', async [Symbol.asyncDispose]() {} };
  },
});

/** Those that hear of calls, by region: each run of an operation has a region of its own. */
const watches = new Map<string, CallWatch>();
const call = cloud.call.bind(cloud);
cloud.call = async (method, region, machine) => {
  const watch = watches.get(region);
  if (watch === undefined) return call(method, region, machine);
  const request = { method, path: `/${region}/${machine}`, isWrite: method !== 'GET' };
  const refusal = watch.before(request, undefined);
  if (refusal !== undefined) throw new Error(refusal);
  const answer = await call(method, region, machine);
  // A worker that died never hears the answer.
  return watch.after({ ...request, isDone: true }) ? answer : new Promise<never>(() => undefined);
};

const operationCloud: OperationCloud<{ readonly name: string }, readonly string[]> = {
  provider: 'example',
  credentials: new Map(),
  async createPlace() {
    const name = randomUUID();
    return { name, [Symbol.asyncDispose]: async () => void cloud.machines.delete(name) };
  },
  async arrange({ name }, machines) {
    cloud.machines.set(name, new Set(machines));
  },
  async openWorker({ place, watch, log }) {
    watches.set(place, watch);
    const { everywhere, within, elsewhere } = specAccounts;
    const settings = {
      example: {
        accounts: [
          { name: everywhere, regions: [place, 'north'] },
          { name: within, regions: [place] },
          { name: elsewhere, regions: ['north'] },
        ],
      },
    };
    const machine = { clock: systemClock, randomness: systemRandomness };
    const provider = plugin.open({ ...machine, settings, log, placement: 'local' });
    return { provider, [Symbol.asyncDispose]: () => provider[Symbol.asyncDispose]() };
  },
  isWithin: ({ path }, place) => path.startsWith(`/${place}/`),
  normalize: (value) => value,
};

function specify(name: string, method: string, effect: readonly string[]) {
  const spec: OperationSpec<{ readonly name: string }, readonly string[]> = {
    world: () => ['m1'],
    context: ({ place }) => ({ region: place, machine: name === 'createMachine' ? 'm2' : 'm1' }),
    invalid: [{ change: { machine: '' }, error: `${name}.machine: expected a name`, names: 'machine' }],
    outside: `${name}.region: expected a region of the account`,
    outsideNames: 'region',
    calls: { [method]: 1 },
    history: [`${name} ${name === 'createMachine' ? 'm2' : 'm1'}`],
    result: { region: 'PLACE' },
    secrets: [],
    look: async (place) => call('GET', place.name).then((machines) => [...machines]),
    effect: () => [...effect],
  };
  testOperation(name, spec, setUpEnvironment(operationCloud));
}

describe('operations of the example', () => {
  specify('createMachine', 'PUT', ['m1', 'm2']);
  specify('deleteMachine', 'DELETE', []);
});
