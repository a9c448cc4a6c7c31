import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { getPath, type JsonObject } from '#core/json.ts';
import { createNamespace, describeWithCluster, requestApi } from '#test/support/cluster/cluster.ts';

const docs = path.join(import.meta.dirname, '../../../docs');
const text = await readFile(path.join(docs, 'examples/bearer-proxy.yaml'), 'utf8');
const objects: readonly JsonObject[] = parseAllDocuments(text).map((document) => document.toJS());

/** Where the API server takes each kind of the example. */
const collections: { readonly [kind: string]: readonly [api: string, plural: string] } = {
  ConfigMap: ['/api/v1', 'configmaps'],
  Deployment: ['/apis/apps/v1', 'deployments'],
  Service: ['/api/v1', 'services'],
  NetworkPolicy: ['/apis/networking.k8s.io/v1', 'networkpolicies'],
};

function find(kind: string): JsonObject {
  const found = objects.find((object) => object['kind'] === kind);
  if (found === undefined) throw new Error(`the example has no ${kind}`);
  return found;
}

describeWithCluster('docs/examples/bearer-proxy.yaml', () => {
  test('is taken by an API server, each field of it', async () => {
    await using ns = await createNamespace('proxy');
    for (const object of objects) {
      const [api, plural] = collections[String(object['kind'])] ?? [];
      const target = `${api}/namespaces/${ns.name}/${plural}?dryRun=All&fieldValidation=Strict`;

      await expect(requestApi('POST', target, object)).resolves.toMatchObject({ kind: object['kind'] });
    }
  });
});

test('docs/examples/bearer-proxy.yaml reads the secret that docs/deploy.md has one make', async () => {
  const page = await readFile(path.join(docs, 'deploy.md'), 'utf8');
  const made = /create secret generic (\S+) --from-file (\S+)=\/dev\/stdin/.exec(page);
  const [, name, key] = made ?? [];
  const pod = getPath(find('Deployment'), 'spec', 'template', 'spec');
  const configuration = String(getPath(find('ConfigMap'), 'data', 'default.conf'));

  expect(getPath(pod, 'volumes')).toContainEqual(
    expect.objectContaining({ name: 'caller', secret: expect.objectContaining({ secretName: name }) }),
  );
  expect(configuration).toContain(`include /etc/nginx/caller/${key};`);
  expect(getPath(pod, 'containers')).toEqual([
    expect.objectContaining({
      volumeMounts: expect.arrayContaining([
        expect.objectContaining({ name: 'caller', mountPath: '/etc/nginx/caller' }),
      ]),
    }),
  ]);
});
