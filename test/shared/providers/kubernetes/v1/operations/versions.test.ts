import { describe, expect, test } from 'vitest';
import { toSet } from '#test/support/providers/provider-set.ts';
import { openProvider } from '../../provider-setup.ts';

const v1 = { name: 'old', providerVersion: 'v1', dockerRegistries: [{ accountName: 'hub' }] };

async function prepare(accounts: Parameters<typeof openProvider>[0], name: string, account: string | null) {
  await using provider = openProvider(accounts);
  const description = { account, serverGroupName: 'kub-v000' };
  const operation = await toSet(provider).findOperation('kubernetes', name, description);
  if (operation === undefined) return 'unknown';
  try {
    return operation.prepare(description).operationClass;
  } catch (error) {
    return (error as Error).message;
  }
}

describe('an operation of V1 and V2 accounts', () => {
  test.each([
    [
      'resizeServerGroup',
      'new',
      "'kub-v000' is not an object's name of the form 'kind name', as in 'deployment web'",
    ],
    ['resizeServerGroup', 'old', 'resizeKubernetesAtomicOperationDescription.capacity.empty'],
    ['resizeServerGroup', 'none', "resizeServerGroup: there is no Kubernetes account 'none'; there are: new"],
    ['destroyServerGroup', 'old', 'DestroyKubernetesAtomicOperation'],
    ['destroyServerGroup', 'new', 'unknown'],
    ['destroyServerGroup', 'none', 'destroyKubernetesAtomicOperationDescription.account.notFound'],
    ['destroyServerGroup', null, 'destroyKubernetesAtomicOperationDescription.account.empty'],
    ['deployManifest', 'old', 'unknown'],
  ])('%s is that of the account %s', async (name, account, told) => {
    expect(await prepare([v1, { name: 'new' }], name, account)).toContain(told);
  });

  test('is unknown where no account has it', async () => {
    expect(await prepare([{ name: 'new' }], 'createServerGroup', 'new')).toBe('unknown');
  });
});
