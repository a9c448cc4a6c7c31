import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { parseExactJson } from '#core/bounded-json.ts';
import { getPath, type JsonObject, type JsonValue } from '#core/json.ts';
import {
  createNamespace,
  describeWithCluster,
  kubectl,
  requestApi,
  type TestNamespace,
} from '#test/support/cluster/cluster.ts';
import { edgeInt64s, int64s } from '#test/support/run/edge-numbers.ts';
import { startSubject } from '#test/support/system/subject.ts';
import type { Subject } from '#test/support/system/system.ts';

const group = 'exact.busdriver.example';
const definition = `numbers.${group}`;
const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

/** Fields of each type that a definition may give a number, and any others. */
const customKind = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: definition },
  spec: {
    group,
    scope: 'Namespaced',
    names: { plural: 'numbers', kind: 'Number' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: {
                type: 'object',
                'x-kubernetes-preserve-unknown-fields': true,
                properties: {
                  whole: { type: 'integer' },
                  long: { type: 'integer', format: 'int64' },
                  any: { type: 'number' },
                },
              },
            },
          },
        },
      },
    ],
  },
};

describeWithCluster('exact numbers', (cluster) => {
  let namespace: TestNamespace;
  let system: Subject;
  let account: string;

  beforeAll(async () => {
    await requestApi('POST', definitions, customKind);
    await kubectl(['wait', '--for=condition=Established', `crd/${definition}`, '--timeout=60s']);
    namespace = await createNamespace('exact');
    system = await startSubject({ kubeconfig: cluster.kubeconfig });
    account = system.accounts[0] ?? '';
  });

  afterAll(async () => {
    await system?.[Symbol.asyncDispose]();
    await namespace?.[Symbol.asyncDispose]();
    await requestApi('DELETE', `${definitions}/${definition}`);
  });

  async function run(name: string, description: JsonObject): Promise<string> {
    const id = await system.postOperations([{ [name]: { account, credentials: account, ...description } }]);
    const { status, history } = await system.waitForTask(id, { timeoutMs: 60_000 });
    expect(status, JSON.stringify(history.at(-1))).toMatchObject({ completed: true, failed: false });
    return (await system.fetch(`/task/${id}`)).text();
  }

  async function deploy(name: string, spec: JsonObject, annotations: JsonObject = {}): Promise<string> {
    const metadata = { name, namespace: namespace.name, annotations };
    const manifest = { apiVersion: `${group}/v1`, kind: 'Number', metadata, spec };
    return run('deployManifest', { moniker: { app: 'exact' }, manifests: [manifest] });
  }

  function patch(name: string, patchBody: JsonValue, mergeStrategy: string): Promise<string> {
    const target = { manifestName: name, location: namespace.name };
    return run('patchManifest', { ...target, patchBody, options: { mergeStrategy } });
  }

  function readRaw(path: string): Promise<string> {
    return kubectl(['get', '--raw', path.replace('{namespace}', namespace.name)]);
  }

  async function readSpec(name: string): Promise<JsonValue | undefined> {
    const text = await readRaw(`/apis/${group}/v1/namespaces/{namespace}/numbers/${name}`);
    return getPath(parseExactJson(text), 'spec');
  }

  async function readShown(fullName: string): Promise<string> {
    const response = await system.fetch(
      `/manifests/${encodeURIComponent(account)}/${namespace.name}/${encodeURIComponent(fullName)}`,
    );
    return response.text();
  }

  const kind = `Number.${group}`;

  it('beyond 2^53 come into the cluster, and out of it, as they are', async () => {
    const spec = { whole: 9007199254740993n, long: -(2n ** 63n), any: 2n ** 63n - 1n, small: 3, part: 0.5 };
    const task = await deploy('first', spec);
    expect(await readSpec('first')).toEqual(spec);
    const shown = '"whole":9007199254740993';
    for (const text of [task, await readShown(`${kind} first`)]) {
      expect(text).toContain(shown);
      expect(text).toContain('-9223372036854775808');
      expect(text).toContain('9223372036854775807');
      expect(text).toContain('"small":3.0');
    }
  });

  it('of a built-in kind, too: a grace period of 2^63 - 1', async () => {
    const long = 2n ** 63n - 1n;
    const template = (seconds: bigint) => ({
      metadata: { labels: { app: 'exact' } },
      spec: {
        terminationGracePeriodSeconds: seconds,
        containers: [{ name: 'main', image: 'registry.test/web' }],
      },
    });
    const toManifest = (seconds: bigint): JsonObject => ({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'web', namespace: namespace.name },
      spec: { replicas: 0, selector: { matchLabels: { app: 'exact' } }, template: template(seconds) },
    });
    const readSeconds = async () =>
      getPath(
        parseExactJson(await readRaw('/apis/apps/v1/namespaces/{namespace}/deployments/web')),
        ...['spec', 'template', 'spec', 'terminationGracePeriodSeconds'],
      );
    for (const seconds of [long, long - 1n]) {
      await run('deployManifest', { moniker: { app: 'exact' }, manifests: [toManifest(seconds)] });
      expect(await readSeconds()).toBe(seconds);
    }
    const body = (seconds: bigint) => ({ spec: { template: template(seconds) } });
    await patch('deployment web', body(long - 2n), 'strategic');
    expect(await readSeconds()).toBe(long - 2n);
    await patch('deployment web', body(long - 3n), 'merge');
    expect(await readSeconds()).toBe(long - 3n);
    const isCached = async () => {
      const response = await system.fetch('/applications/exact/serverGroupManagers');
      const region = namespace.name;
      expect(await response.json()).toContainEqual(
        expect.objectContaining({ region, name: 'deployment web' }),
      );
    };
    await vi.waitFor(isCached, { timeout: 60_000, interval: 250 });
  });

  it('that are changed by one are changed, and unchanged ones change nothing', async () => {
    const read = async () =>
      getPath(parseExactJson(await readRaw(objectPath('twin'))), 'metadata', 'generation');
    for (const [value, generation] of [
      [9007199254740993n, 1],
      [9007199254740992n, 2],
      [9007199254740992n, 2],
      [2n ** 64n - 1n, 3],
      [2n ** 64n - 1n, 3],
    ] as const) {
      await deploy('twin', { value });
      expect([value, await read()]).toEqual([value, generation]);
    }
  });

  it('of more than 64 bits become what the API server makes of them', async () => {
    const spec = { a: 2n ** 63n, b: 2n ** 64n - 1n, c: -(2n ** 63n) - 1n, d: 10n ** 30n };
    await deploy('huge', spec);
    const manifest = {
      apiVersion: `${group}/v1`,
      kind: 'Number',
      metadata: { name: 'huge-kubectl', namespace: namespace.name },
      spec,
    };
    await kubectl(['create', '--filename', '-'], { stdin: JSON.stringify(manifest) });
    expect(await readSpec('huge')).toEqual(await readSpec('huge-kubectl'));
  });

  it.each(['1e400', '9'.repeat(400)])('too large for any double are refused: %s', async (text) => {
    const body = `[{"deployManifest":{"account":"${account}","manifests":[{"spec":{"a":${text}}}]}}]`;
    const response = await system.fetch('/kubernetes/ops', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ errors: ['The body holds a number that is too large'] });
  });

  describe('any integers of 64 bits', () => {
    const ways: readonly (readonly [string, JsonObject])[] = [
      ['apply', {}],
      ['server-side apply', { 'strategy.spinnaker.io/server-side-apply': 'true' }],
      ['replace', { 'strategy.spinnaker.io/replace': 'true' }],
    ];

    it.each(ways)('come through a deploy by %s', async (way, annotations) => {
      const name = way.replaceAll(' ', '-');
      await eachList(async (list) => {
        const spec = { list, map: toMembers(list), whole: list[0] ?? 0n, long: list[1] ?? 0n };
        const task = await deploy(name, spec, annotations);
        const raw = await readRaw(objectPath(name));
        expect(getPath(parseExactJson(raw), 'spec')).toEqual(parseExactJson(JSON.stringify(spec)));
        const shown = parseExactJson(await readShown(`${kind} ${name}`));
        expect(getPath(shown, 'manifest', 'spec')).toEqual(getPath(parseExactJson(raw), 'spec'));
        const results = getPath(parseExactJson(task), 'resultObjects') as JsonObject[];
        const [manifest] = results.flatMap(({ manifests }) => manifests as JsonObject[]);
        expect(getPath(manifest, 'spec')).toEqual(getPath(parseExactJson(raw), 'spec'));
        if (way !== 'apply') return;
        const record = 'kubectl.kubernetes.io/last-applied-configuration';
        const applied = getPath(parseExactJson(raw), 'metadata', 'annotations', record);
        expect(getPath(parseExactJson(String(applied)), 'spec')).toEqual(
          getPath(parseExactJson(raw), 'spec'),
        );
      });
    });

    it.each(['merge', 'json'])('come through a patch of type %s', async (type) => {
      await deploy(`patched-${type}`, { list: [] });
      await eachList(async (list) => {
        const body =
          type === 'merge' ? { spec: { list } } : [{ op: 'replace', path: '/spec/list', value: list }];
        await patch(`${kind} patched-${type}`, body, type);
        expect(await readSpec(`patched-${type}`)).toEqual(parseExactJson(JSON.stringify({ list })));
      });
    });
  });

  function objectPath(name: string): string {
    return `/apis/${group}/v1/namespaces/{namespace}/numbers/${name}`;
  }
});

/** Runs a check with lists of integers: one of all edges, and some others. */
async function eachList(check: (list: bigint[]) => Promise<void>): Promise<void> {
  const lists = fc.array(int64s, { minLength: 2, maxLength: 40 });
  await fc.assert(fc.asyncProperty(lists, check), {
    examples: [[[...edgeInt64s]]],
    numRuns: 4,
    interruptAfterTimeLimit: 60_000,
  });
}

function toMembers(list: readonly bigint[]): JsonObject {
  return Object.fromEntries(list.map((value, index) => [`at${index}`, value]));
}
