import { expect, it } from 'vitest';
import type { Provider } from '#provider-kit/provider.ts';
import { ProviderSet } from '#provider-kit/provider-set.ts';
import type { Operation } from '#tasks/operation.ts';

const createMachine: Operation = {
  name: 'createMachine',
  prepare: () => ({
    ...{ account: 'a', applications: [], operationClass: 'C', phase: 'P' },
    run: async () => undefined,
  }),
};

/** A provider whose operations cannot be loaded the first few times. */
function createProvider(failures: number): {
  readonly provider: Provider;
  readonly loads: { count: number };
} {
  const loads = { count: 0 };
  const provider: Provider = {
    ...{ name: 'example', accounts: [], rejectedAccounts: [] },
    async loadOperations() {
      loads.count += 1;
      if (loads.count <= failures) throw new Error('a module is away');
      return [createMachine];
    },
    async [Symbol.asyncDispose]() {},
  };
  return { provider, loads };
}

it('loads the operations of a provider once, and of no other', async () => {
  const { provider, loads } = createProvider(0);
  const set = new ProviderSet([provider]);

  expect(await set.findOperation('made-up', 'createMachine')).toBeUndefined();
  expect(await set.listOperationNames('made-up')).toEqual([]);
  expect(loads.count).toBe(0);
  expect(await set.findOperation('example', 'createMachine')).toBe(createMachine);
  expect(await set.findOperation('example', 'other')).toBeUndefined();
  expect(await set.listOperationNames('example')).toEqual(['createMachine']);
  expect(loads.count).toBe(1);
});

it('tries again what could not be loaded', async () => {
  const set = new ProviderSet([createProvider(1).provider]);
  await expect(set.findOperation('example', 'createMachine')).rejects.toThrow('a module is away');
  expect(await set.findOperation('example', 'createMachine')).toBe(createMachine);
});

it('has operations under an alias of a provider, which need not be all of them', async () => {
  const { provider, loads } = createProvider(0);
  const older: Operation = { ...createMachine, name: 'createMachineOfOld' };
  const operationAliases = new Map([['exampleV1', async () => [older]]]);
  const set = new ProviderSet([createProvider(0).provider, { ...provider, operationAliases }]);

  expect(await set.findOperation('exampleV1', 'createMachineOfOld')).toBe(older);
  expect(await set.findOperation('exampleV1', 'createMachine')).toBeUndefined();
  expect(['exampleV1', 'example', 'made-up'].map((name) => set.takesOperations(name))).toEqual([
    true,
    true,
    false,
  ]);
  expect(set.findProvider('exampleV1')).toBeUndefined();
  expect(loads.count).toBe(0);
});
