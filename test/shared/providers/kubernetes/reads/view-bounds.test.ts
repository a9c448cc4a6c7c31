import { describe, expect, test } from 'vitest';
import type { JsonObject } from '#core/json.ts';
import { setNamespace } from '#providers/kubernetes/manifest/expand.ts';
import { newAccount } from '#test/contracts/cache-bench.ts';
import { useLocalTables } from '#test/support/engines/local-tables.ts';
import { createManifest } from '../manifests.ts';
import { createPod, createReplicaSet } from '../views/sample-manifests.ts';
import { location, openCachedAccounts } from './cached-accounts.ts';

const open = useLocalTables();

describe('bounds', () => {
  const [store, vault] = [location, 'vault'];

  /** An account whose cache was filled when it was bound to nothing, as it is seen with other settings. */
  async function openBounded(settings: JsonObject) {
    const account = newAccount();
    const accounts = await openCachedAccounts(open, [{ name: account }]);
    const application = `shop of ${account}`;
    const annotations = { 'moniker.spinnaker.io/application': application };
    for (const namespace of [store, vault]) {
      const cluster = { ...annotations, 'moniker.spinnaker.io/cluster': `deployment ${namespace}-app` };
      const objects = [
        createReplicaSet(`${namespace}-1`, { annotations: cluster }),
        createPod(`${namespace}-1-a`, { owner: `${namespace}-1` }),
        createManifest('v1', 'Service', {
          name: `${namespace}-svc`,
          annotations,
          more: { spec: { selector: { app: 'web' } } },
        }),
        createManifest('networking.k8s.io/v1', 'NetworkPolicy', { name: `${namespace}-deny`, annotations }),
      ];
      await accounts.write(
        account,
        objects.map((object) => setNamespace(object, namespace)),
      );
    }
    const only = `only in ${account}`;
    await accounts.write(account, [
      setNamespace(
        createReplicaSet('lonely-1', { annotations: { 'moniker.spinnaker.io/application': only } }),
        vault,
      ),
      createManifest('v1', 'Namespace', { name: vault }),
      createManifest('v1', 'Namespace', { name: store }),
      createManifest('v1', 'PersistentVolume', { name: 'disk', annotations }),
    ]);
    const reader = await accounts.reopen([{ name: account, ...settings }]);
    return { account, application, only, reader };
  }

  /** Everything that the views show of the account. */
  async function showAll(opened: Awaited<ReturnType<typeof openBounded>>): Promise<string> {
    const { account, application, only, reader } = opened;
    const key = (name: string) => ({ account, location: vault, name });
    const types = [
      ...['serverGroups', 'instances', 'loadBalancers', 'securityGroups', 'clusters', 'applications'],
    ];
    const views = await Promise.all([
      reader.listApplications(),
      reader.findApplication(application),
      reader.findApplication(only),
      reader.listClusterNames(application),
      reader.listClusters(application, account),
      reader.findCluster({ application, account, cluster: `deployment ${vault}-app` }, { expand: true }),
      reader.listServerGroups({ applications: [application, only], expand: true }),
      reader.listServerGroupsByKeys([key(`replicaSet ${vault}-1`)]),
      reader.findServerGroup(key(`replicaSet ${vault}-1`)),
      reader.listServerGroupManagers(application),
      reader.listLoadBalancers(application),
      reader.findLoadBalancer(key(`service ${vault}-svc`)),
      reader.listSecurityGroups({}),
      reader.listSecurityGroups({ account, location: vault }),
      reader.findSecurityGroup(key(`networkPolicy ${vault}-deny`)),
      reader.findInstance(key(`pod ${vault}-1-a`)),
      reader.listRawResources(application),
      reader.search({ query: 'a', types }),
      reader.search({ query: vault, types: [...types, 'unclassified', 'configs', 'namespace'] }),
    ]);
    // What was asked for may be told again.
    return JSON.stringify(views.map((view) => view?.value)).replaceAll(`"${vault}":{}`, '');
  }

  test('what is in namespaces that are not the account’s any more shows nowhere', async () => {
    expect(await showAll(await openBounded({}))).toContain(vault);
    for (const settings of [{ namespaces: [store] }, { omitNamespaces: [vault] }]) {
      const opened = await openBounded(settings);
      const shown = await showAll(opened);
      expect(shown).not.toContain(vault);
      expect(shown).not.toContain(opened.only);
      expect(shown).toContain(`${store}-1`);
      expect((await opened.reader.listApplications()).value).toEqual([
        { application: opened.application, account: opened.account, clusters: [`deployment ${store}-app`] },
      ]);
    }
  });

  test('kinds that live in no namespace show where the account may use them', async () => {
    const request = { query: 'disk', types: ['configs'] };
    const find = async (settings: JsonObject) =>
      (await (await openBounded(settings)).reader.search(request)).value.length;
    expect(await find({ namespaces: [store] })).toBe(1);
    expect(await find({ clusterScopedKinds: false })).toBe(0);
  });

  test('the namespaces are told, although the kind may not be used', async () => {
    const { reader, account } = await openBounded({ omitNamespaces: [vault], clusterScopedKinds: false });
    expect(await reader.listAccountDetails([account])).toEqual(new Map([[account, { namespaces: [store] }]]));
  });
});
