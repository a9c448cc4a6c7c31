import { expect, test } from 'vitest';
import { listApplications } from '../../../shared/core/list-applications.ts';
import type { Provider } from '../../../shared/core/provider.ts';
import type { ApplicationClusters } from '../../../shared/core/views.ts';

const never = new AbortController().signal;

function createProvider(name: string, clusters?: readonly ApplicationClusters[]): Provider {
  return {
    name,
    accounts: [],
    rejectedAccounts: [],
    operations: [],
    ...(clusters && { listApplications: async () => clusters }),
    async [Symbol.asyncDispose]() {},
  };
}

test('merges the applications of all providers, everything sorted, each cluster once', async () => {
  const providers = [
    createProvider('one', [
      { application: 'shop', account: 'prod', clusters: ['deployment web', 'deployment cart'] },
      { application: 'Admin', account: 'prod', clusters: ['job sweep'] },
    ]),
    createProvider('artifacts'),
    createProvider('two', [
      { application: 'shop', account: 'prod', clusters: ['deployment web'] },
      { application: 'shop', account: 'dev', clusters: ['replicaSet web'] },
    ]),
  ];
  const answer = JSON.stringify(await listApplications({ providers }, never));
  expect(answer).toBe(
    JSON.stringify([
      { name: 'Admin', attributes: { name: 'Admin' }, clusterNames: { prod: ['job sweep'] } },
      {
        name: 'shop',
        attributes: { name: 'shop' },
        clusterNames: { dev: ['replicaSet web'], prod: ['deployment cart', 'deployment web'] },
      },
    ]),
  );
});

test('nothing runs anywhere', async () => {
  expect(await listApplications({ providers: [createProvider('one', [])] }, never)).toEqual([]);
});
