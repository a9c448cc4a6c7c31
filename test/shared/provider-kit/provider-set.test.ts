import { expect, it } from 'vitest';
import type { Account } from '#accounts/model/account.ts';
import type { CloudProvider } from '#provider-kit/cloud-provider.ts';
import type { LiveReads } from '#provider-kit/live-reads.ts';
import { ProviderSet } from '#provider-kit/provider-set.ts';
import type { Operation } from '#tasks/operation.ts';

/** An operation that says whose it is. */
function createOperation(name: string, operationClass: string): Operation {
  const prepared = { account: '', applications: [], phase: 'P', run: async () => undefined };
  return { name, prepare: () => ({ ...prepared, operationClass }) };
}

/** A cloud provider whose operations cannot be loaded the first few times. */
function createCloud(account: string, operations: readonly Operation[], failures = 0) {
  const loads = { count: 0 };
  const cloud: CloudProvider = {
    name: 'example',
    accounts: account === '' ? [] : [{ name: account, cloudProvider: 'example' } as Account],
    operations: {
      alias: `example-${account}`,
      async load() {
        loads.count += 1;
        if (loads.count <= failures) throw new Error('a module is away');
        return operations;
      },
    },
  };
  return { cloud, loads };
}

function openSet(...clouds: readonly CloudProvider[]): ProviderSet {
  return new ProviderSet([
    { name: 'example', clouds, rejectedAccounts: [], async [Symbol.asyncDispose]() {} },
  ]);
}

const createMachine = createOperation('createMachine', 'CreateMachine');

it('loads the operations of a cloud provider once, and of no other', async () => {
  const { cloud, loads } = createCloud('a', [createMachine]);
  const set = openSet(cloud);

  expect(await set.findOperation('made-up', 'createMachine', {})).toBeUndefined();
  expect(await set.listOperationNames('made-up')).toEqual([]);
  expect(loads.count).toBe(0);
  expect(await set.findOperation('example', 'createMachine', { account: 'a' })).toBe(createMachine);
  expect(await set.findOperation('example', 'other', {})).toBeUndefined();
  expect(await set.listOperationNames('example')).toEqual(['createMachine']);
  expect(loads.count).toBe(1);
});

it('tries again what could not be loaded', async () => {
  const set = openSet(createCloud('a', [createMachine], 1).cloud);
  await expect(set.findOperation('example', 'createMachine', {})).rejects.toThrow('a module is away');
  expect(await set.findOperation('example', 'createMachine', {})).toBe(createMachine);
});

it('finds the operation of the account that a description names, of several cloud providers with one id', async () => {
  const stopMachine = createOperation('stopMachine', 'StopMachine');
  const older = createOperation('createMachine', 'CreateMachineOfOld');
  const set = openSet(
    createCloud('new', [createMachine]).cloud,
    createCloud('old', [older, stopMachine]).cloud,
    createCloud('', [createOperation('unused', 'Unused')]).cloud,
  );

  expect(await set.findOperation('example', 'createMachine', { account: 'new' })).toBe(createMachine);
  expect(await set.findOperation('example', 'createMachine', { credentials: 'old' })).toBe(older);
  expect(await set.findOperation('example', 'createMachine', { account: ['old'] })).toBe(createMachine);
  expect(await set.findOperation('example', 'stopMachine', { account: 'new' })).toBeUndefined();
  expect(await set.findOperation('example', 'stopMachine', { account: 'unknown' })).toBe(stopMachine);
  expect(await set.findOperation('example-old', 'createMachine', { account: 'new' })).toBe(older);
  expect(await set.listOperationNames('example')).toEqual(['createMachine', 'stopMachine']);
  expect(await set.listOperationNames('example', { account: 'new' })).toEqual(['createMachine']);
  expect(['example-old', 'example', 'made-up'].map((id) => set.takesOperations(id))).toEqual([
    true,
    true,
    false,
  ]);
});

it('reads from the platform of an account what that has', async () => {
  const jobs = { getJob: async () => ({}) } as unknown as NonNullable<LiveReads['jobs']>;
  const { cloud } = createCloud('a', []);
  const set = openSet({ ...cloud, loadLiveReads: async () => ({ jobs }) });

  expect(await set.getLiveReader('a', 'jobs')).toBe(jobs);
  await expect(set.getLiveReader('a', 'manifests')).rejects.toThrow("Account 'a' has no manifests");
  await expect(set.getLiveReader('b', 'jobs')).rejects.toThrow("Account 'b' not found");
});
