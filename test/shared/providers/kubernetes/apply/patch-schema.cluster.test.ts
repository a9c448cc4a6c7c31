import { readFile } from 'node:fs/promises';
import { Agent, request } from 'node:https';
import path from 'node:path';
import { json } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { asJsonObject, asString, getPath, isJsonObject, type JsonObject } from '#core/json.ts';
import { type Cluster, startCluster } from '#infra/tools/test-cluster/cluster.ts';
import { findPatchType, getInnerType, getPatchField } from '#providers/kubernetes/apply/patch-schema.ts';
import { describeWithCluster } from '#test/support/cluster/cluster.ts';
import { formatPatchSchema, parsePatchSchema } from './patch-schema-source.ts';

const dataFile = path.resolve(
  import.meta.dirname,
  '../../../../../shared/providers/kubernetes/apply/patch-schema.generated.json',
);

describeWithCluster('the patch schema', () => {
  /** To write the table anew, after a change of the test cluster's Kubernetes version: run this with `--update`. */
  test('is what an API server with all its APIs publishes', async () => {
    await using cluster = await startCluster({
      report: () => undefined,
      args: ['--apiserver-arg=--runtime-config=api/all=true'],
    });
    const get = await createReader(cluster);
    const { gitVersion } = await get('/version');
    const index = asJsonObject((await get('/openapi/v3')).paths) ?? {};
    const targets = Object.entries(index).filter(([name]) => /^apis?\//.test(name));
    const documents = await Promise.all(
      targets.map(([, entry]) => get(asString(getPath(entry, 'serverRelativeURL')) ?? '')),
    );
    const source = formatPatchSchema(parsePatchSchema(documents), String(gitVersion));
    await expect(source).toMatchFileSnapshot(dataFile);
  });
});

describe('findPatchType', () => {
  test('knows built-in kinds by their apiVersion', () => {
    const spec = getInnerType(getPatchField(findPatchType('apps/v1', 'Deployment') ?? {}, 'spec'));
    expect(getPatchField(spec, 'strategy')).toEqual({ retainKeys: true });
    const podSpec = getInnerType(getPatchField(getInnerType(getPatchField(spec, 'template')), 'spec'));
    expect(getPatchField(podSpec, 'containers')).toMatchObject({ strategy: 'merge', mergeKey: 'name' });
    expect(getPatchField(podSpec, 'tolerations')).toEqual({});
  });

  test('knows no custom kinds, nor names every JavaScript object has', () => {
    expect(findPatchType('stable.example.com/v1', 'CronTab')).toBeUndefined();
    expect(findPatchType('apps/v1', 'Rollout')).toBeUndefined();
    expect(findPatchType('constructor', 'name')).toBeUndefined();
    expect(findPatchType('v1', 'toString')).toBeUndefined();
    expect(getPatchField(findPatchType('v1', 'ConfigMap') ?? {}, 'constructor')).toEqual({});
  });
});

/** @returns reads a path of the API server as JSON */
async function createReader({ server, token, caFile }: Cluster) {
  const agent = new Agent({ ca: await readFile(caFile) });
  const headers = { authorization: `Bearer ${token}` };
  return (target: string) =>
    new Promise<JsonObject>((resolve, reject) => {
      const call = request(new URL(target, server), { headers, agent }, async (response) => {
        const answer = await json(response).catch(reject);
        if (response.statusCode === 200 && isJsonObject(answer)) resolve(answer);
        else reject(new Error(`${target}: ${response.statusCode}`));
      });
      call.once('error', reject).end();
    });
}
