import { join } from 'node:path';
import { expect, it } from 'vitest';
import {
  type Answer,
  answerJson,
  answerStatus,
  startScriptedServer,
} from '#test/shared/providers/kubernetes/client/scripted-server.ts';
import { makeTempDir } from '#test/support/run/temp-dir.ts';
import { startSystem } from '#test/support/system/system.ts';

const widget = {
  apiVersion: 'example.com/v1',
  kind: 'Widget',
  metadata: { name: 'one', namespace: 'shop', uid: 'u1', resourceVersion: '1' },
};
const resources = [
  { resource: 'widgets', responseKind: { kind: 'Widget' }, scope: 'Namespaced', verbs: ['get'] },
];
const discovery = {
  kind: 'APIGroupDiscoveryList',
  items: [{ metadata: { name: 'example.com' }, versions: [{ version: 'v1', resources }] }],
};

/** A cluster with one object of a custom kind. @param tellsKinds false for one that answers no discovery */
function answerAsCluster(tellsKinds: boolean): Answer {
  return (response, request) => {
    const answer =
      request.path === '/apis'
        ? tellsKinds
          ? answerJson(200, discovery)
          : answerStatus(403, 'Forbidden')
        : request.path === '/apis/example.com/v1/namespaces/shop/widgets/one'
          ? answerJson(200, widget)
          : answerJson(200, { kind: 'List', metadata: { resourceVersion: '1' }, items: [] });
    answer(response, request);
  };
}

it('a process that begins knows the kinds that the last one was told, without asking the cluster', async () => {
  await using dir = await makeTempDir();
  await using server = await startScriptedServer();
  const accounts = [{ name: 'near', kubeconfigContents: server.getKubeconfig() }];
  const dataDir = join(dir.path, 'data');
  async function readInNewProcess(): Promise<number> {
    await using system = await startSystem({ settings: { kubernetes: { accounts } }, dataDir });
    return (await system.fetch('/manifests/near/shop/widget.example.com%20one')).status;
  }
  server.script(answerAsCluster(false));
  expect(await readInNewProcess()).not.toBe(200);
  server.script(answerAsCluster(true));
  expect(await readInNewProcess()).toBe(200);
  server.script(answerAsCluster(false));
  expect(await readInNewProcess()).toBe(200);
});
