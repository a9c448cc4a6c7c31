import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { describeWithCluster } from '#test/support/cluster/cluster.ts';
import { readManifest } from '#test/support/providers/provider-set.ts';
import { openProvider } from '../provider-setup.ts';

describeWithCluster('an account that names a user', (cluster) => {
  it('is that user to the API server, and the context still names the cluster', async () => {
    const kubeconfig = parse(await readFile(cluster.kubeconfig, 'utf8'));
    const [{ user }] = kubeconfig.users;
    kubeconfig.users.push({ name: 'jane', user: { ...user, as: 'jane' } });
    const kubeconfigContents = JSON.stringify(kubeconfig);
    await using provider = openProvider([
      { name: 'own', kubeconfigContents },
      { name: 'other', kubeconfigContents, user: 'jane' },
    ]);
    const read = (account: string) =>
      readManifest(provider, {
        ...{ account, location: 'default', name: 'service kubernetes' },
        ...{ includeEvents: false, revealSecrets: false },
      });
    expect(await read('own')).toMatchObject({ name: 'service kubernetes' });
    await expect(read('other')).rejects.toThrow('User "jane" cannot get resource "services"');
  });
});
