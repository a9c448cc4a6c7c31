import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test, vi } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { asJsonObject, getPath, isJsonObject, type JsonObject, type JsonValue } from '#core/json.ts';
import type { Provider } from '#provider-kit/provider.ts';
import { createNamespace, describeWithCluster } from '#test/support/cluster/cluster.ts';
import { readFixture } from '#test/support/run/fixture.ts';
import { createLive, findLive, listNames } from '../../live.ts';
import { emptyRecord, listHistory, runOperation } from '../../operations/task-run.ts';
import { getOperation, openProvider } from '../../provider-setup.ts';

const fixtures = path.resolve(import.meta.dirname, '../../../../../fixtures/kubernetes-v1');

/** Members that the API server and controllers make up, or that tell of a namespace. */
const madeUp = new Set([
  ...['namespace', 'uid', 'resourceVersion', 'creationTimestamp', 'managedFields', 'generation'],
  ...['ownerReferences', 'status', 'clusterIP', 'clusterIPs', 'nodeName'],
]);
const ownAnnotation = /^(busdriver\.io|deployment\.kubernetes\.io)\//;
/** The volume that each pod gets, and the digits of a job. */
const chance = [/(?<=^kube-api-access-)\w{5}$/, /(?<=^kub-test-)[0-9a-f]{12}$/];

const plurals: { readonly [kind: string]: string } = { Ingress: 'ingresses' };
const toPlural = (kind: string): string => plurals[kind] ?? `${kind.toLowerCase()}s`;

/** An operation; a copy has the server group of `detailed` before. */
type Posted = readonly [operation: string, description: JsonObject];

const { base, detailed, posted } = readFixture<{
  readonly base: JsonObject;
  readonly detailed: JsonObject;
  /** By the file of what it makes, its operation with the description, which may be `(detailed)`. */
  readonly posted: { readonly [fixture: string]: { readonly [operation: string]: JsonObject | string } };
}>('kubernetes-v1/posted.yaml');

const cases = Object.entries(posted).flatMap(([fixture, operations]) =>
  Object.entries(operations).map(
    ([operation, description]): readonly [fixture: string, ...posted: Posted] => [
      fixture,
      operation,
      typeof description === 'string' ? detailed : description,
    ],
  ),
);

describeWithCluster('what operations of V1 accounts make, beside what was written by hand:', (control) => {
  test.each(cases)('%s.yaml', async (fixture, ...posted) => {
    await using made = await createNamespace('made');
    await using golden = await createNamespace('golden');
    await using provider = openV1(control.kubeconfig, made.name);
    if (fixture === 'clone') await run(provider, made.name, ['createServerGroup', detailed]);
    await run(provider, made.name, posted);
    const objects = await readGolden(fixture);
    for (const object of objects) await createLive(golden.name, toPlural(String(object['kind'])), object);
    // Controllers change both alike, but not at the same moment: a ReplicaSet takes members of the Deployment that has it.
    for (const object of objects)
      await vi.waitFor(async () => expectAlike(made.name, golden.name, object), { timeout: 20_000 });
  });
});

describeWithCluster('histories of V1 accounts', (control) => {
  test('of server groups that a Deployment makes', async () => {
    await using ns = await createNamespace();
    await using provider = openV1(control.kubeconfig, ns.name);
    const scaled = {
      capacity: { min: 1, max: 3, desired: 0 },
      scalingPolicy: { cpuUtilization: { target: 50 } },
    };
    const create = ['createServerGroup', { ...base, ...scaled, deployment: { enabled: true } }] as const;
    const made = (name: string, building: string, ancestor: readonly string[] = []) => [
      'Initializing creation of replica set.',
      'Looking up provided namespace...',
      'Looking up next sequence index for cluster kub-test...',
      ...ancestor,
      `Replica set name chosen to be ${name}.`,
      'Setting target size to 0...',
      'Building replica set...',
      `Deployed replica set ${name}`,
      building,
      'Configured deployment kub-test',
      'Attaching a horizontal pod autoscaler...',
    ];
    const found = ['Found ancestor server group, parsing details (name: kub-test-v000)'];
    expect(await run(provider, ns.name, create)).toEqual(made('kub-test-v000', 'Building deployment...'));
    await waitForRevision(ns.name, 'kub-test-v000');
    expect(await run(provider, ns.name, create)).toEqual(
      made('kub-test-v001', 'Updating deployment...', found),
    );
    await waitForRevision(ns.name, 'kub-test-v001');
    const target = { serverGroupName: 'kub-test-v001' };
    expect(
      await run(provider, ns.name, ['resizeServerGroup', { ...target, capacity: { desired: 0 } }]),
    ).toEqual([
      'Initializing resize of server group kub-test-v001...',
      'Looking up provided namespace...',
      'Setting size to 0...',
      'Resizing deployment...',
      'Completed resize operation.',
    ]);
    const destroy = (serverGroupName: string) =>
      run(provider, ns.name, ['destroyServerGroup', { serverGroupName }]);
    const look = [
      'Initializing destroy of server group.',
      'Looking up provided namespace...',
      'Checking if deployment kub-test needs to be destroyed...',
    ];
    const destroyed = (name: string) => [
      'Destroying server group...',
      "Underlying kind is 'ReplicaSet'...",
      `Successfully destroyed server group ${name}.`,
    ];
    expect(await destroy('kub-test-v000')).toEqual([...look, ...destroyed('kub-test-v000')]);
    expect(await destroy('kub-test-v001')).toEqual([
      ...look,
      'Destroying deployment kub-test...',
      'Successfully destroyed deployment kub-test...',
      'Destroying autoscaler...',
      ...destroyed('kub-test-v001'),
    ]);
  });

  test('of a server group without pods', async () => {
    await using ns = await createNamespace();
    await using provider = openV1(control.kubeconfig, ns.name);
    await run(provider, ns.name, ['createServerGroup', { ...base, kind: 'ReplicaSet' }]);
    const target = { serverGroupName: 'kub-test-v000' };
    for (const verb of ['enable', 'disable'])
      expect(await run(provider, ns.name, [`${verb}ServerGroup`, target])).toEqual([
        `Initializing ${verb} operation for kub-test-v000...`,
        'Looking up provided namespace...',
        'Finding requisite server group...',
        'Getting list of attached services...',
        'Resetting server group service template labels and selectors...',
        `No pods to ${verb}. Operation finshed successfully.`,
      ]);
    expect(
      await run(provider, ns.name, ['resizeServerGroup', { ...target, capacity: { desired: 1 } }]),
    ).toEqual([
      'Initializing resize of server group kub-test-v000...',
      'Looking up provided namespace...',
      'Setting size to 1...',
      'Resizing replica set...',
      'Completed resize operation.',
    ]);
  });
});

/** Expects that what was made in one namespace is as an object in the other one. */
async function expectAlike(made: string, golden: string, object: JsonObject): Promise<void> {
  const plural = toPlural(String(object['kind']));
  const name = String(getPath(object, 'metadata', 'name'));
  const names = await listNames(made, plural);
  const found = names.find((each) => toComparable(each) === toComparable(name)) ?? `${name} of ${names}`;
  const live = await findLive(made, `${plural}/${found}`);
  const written = await findLive(golden, `${plural}/${name}`);
  expect(toComparable(live ?? null)).toEqual(toComparable(written ?? null));
}

/** A provider with one V1 account, `old`, with two registries, in one namespace. */
function openV1(kubeconfigFile: string, namespace: string): Provider & AsyncDisposable {
  const dockerRegistries = [{ accountName: 'quay' }, { accountName: 'hub' }];
  const account = { name: 'old', providerVersion: 'v1', kubeconfigFile, dockerRegistries };
  return openProvider([{ ...account, namespaces: [namespace] }]);
}

/** Runs an operation in a namespace, and answers its history. */
async function run(provider: Provider, namespace: string, [name, fields]: Posted): Promise<string[]> {
  const record = emptyRecord();
  const source = asJsonObject(fields['source']);
  const description = {
    account: 'old',
    namespace,
    ...fields,
    ...(source && { source: { ...source, namespace } }),
  };
  await runOperation(getOperation(provider, name), description, { record });
  return listHistory(record);
}

async function readGolden(name: string): Promise<JsonObject[]> {
  const text = await readFile(path.join(fixtures, `${name}.yaml`), 'utf8');
  return parseAllDocuments(text, { merge: true }).map((document) => document.toJS() as JsonObject);
}

/** Waits until a Deployment has taken a ReplicaSet for its own. */
async function waitForRevision(namespace: string, name: string): Promise<void> {
  const read = async (path: string) =>
    getPath(await findLive(namespace, path), 'metadata', 'annotations', 'deployment.kubernetes.io/revision');
  // The controller marks the ReplicaSet first, and its Deployment in a call of its own.
  const compare = async () => {
    const revision = await read(`replicasets/${name}`);
    return revision !== undefined && revision === (await read('deployments/kub-test'));
  };
  await expect.poll(compare).toBe(true);
}

/** An object as it would be in any namespace, at any time. */
function toComparable(value: JsonValue): JsonValue {
  if (typeof value === 'string') return chance.reduce((text, part) => text.replace(part, 'CHANCE'), value);
  if (Array.isArray(value)) return value.map(toComparable);
  if (!isJsonObject(value)) return value;
  const members = Object.entries(value)
    .filter(([key]) => !madeUp.has(key) && !ownAnnotation.test(key))
    .map(([key, member]): [string, JsonValue] => [key, toComparable(member)])
    // Annotations of ours alone are none.
    .filter(([key, member]) => key !== 'annotations' || Object.keys(asJsonObject(member) ?? {}).length > 0);
  return Object.fromEntries(members);
}
