import path from 'node:path';
import { expect, vi } from 'vitest';
import { asJsonArray, asString, getPath, type JsonObject } from '#core/json.ts';
import type { Manifest } from '#providers/kubernetes/api/manifest.ts';
import { readKind, readName, readOwners } from '#providers/kubernetes/manifest/identity.ts';
import { kubectl, requestApi } from '#test/support/cluster/cluster.ts';
import { createDefinition } from '../manifests.ts';

const fixture = path.join(import.meta.dirname, '../../../../fixtures/kubernetes/views/shop.yaml');
const plurals =
  'deployments,replicasets,statefulsets,daemonsets,jobs,cronjobs,pods,services,ingresses,networkpolicies,configmaps,secrets';
const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const definition = 'viewbackups.stable.example.com';

/** How each pod ends up, by the beginning of its name. */
const settled = [
  ...['agent- Running true', 'api-v000- Running true', 'api-v001- Running false', 'db- Running true'],
  ...['db- Running true', 'debug Pending false', 'legacy-prod-eu- Running true', 'smoke- Succeeded false'],
  ...['web- Running true,true', 'web- Running true,true'],
];

/** Makes the application of `test/fixtures/kubernetes/views/shop.yaml` in a namespace and waits until its pods are as meant. */
export async function createShop(namespace: string): Promise<void> {
  // There is one in the cluster: another suite may have it, which deletes it at its end.
  const define = () =>
    requestApi('POST', definitions, createDefinition('viewbackups', 'ViewBackup', 'Namespaced'));
  await vi.waitFor(define, { timeout: 120_000, interval: 500 });
  await kubectl(['--namespace', namespace, 'apply', '--filename', fixture]);
  await kubectl(['wait', '--for=condition=Established', `crd/${definition}`]);
  await requestApi('POST', `/apis/stable.example.com/v1/namespaces/${namespace}/viewbackups`, {
    apiVersion: 'stable.example.com/v1',
    kind: 'ViewBackup',
    metadata: { name: 'weekly', annotations: { 'moniker.spinnaker.io/application': 'shop' } },
  });
  // Not `expect.poll`: that may not be called in hooks.
  const check = async () => expect(await listPodStates(namespace)).toEqual(settled);
  await vi.waitFor(check, { timeout: 30_000, interval: 100 });
}

/** Removes what stands outside the namespace. */
export async function deleteShopDefinition(): Promise<void> {
  await requestApi('DELETE', `${definitions}/${definition}`);
}

/** The live objects, with fixed texts in place of all that differs from run to run. */
export async function listShop(namespace: string): Promise<Manifest[]> {
  const objects = await listOwnObjects(namespace);
  const fixed = JSON.parse(fixTexts(namespace, objects)(JSON.stringify(objects))) as Manifest[];
  for (const { metadata } of fixed) {
    Object.assign(metadata as JsonObject, {
      creationTimestamp: '2026-11-21T09:00:00Z',
      resourceVersion: '1',
    });
  }
  return fixed.sort((one, other) => (toSortKey(one) < toSortKey(other) ? -1 : 1));
}

/** What puts the same fixed texts in place of all that differs from run to run in an answer about these objects. */
export async function createTextFixer(namespace: string): Promise<(text: string) => string> {
  const objects = await listOwnObjects(namespace);
  const fix = fixTexts(namespace, objects);
  // Of 6,000 names that Kubernetes makes up one looks like a version.
  const chance = objects
    .filter(isNamedAtRandom)
    .flatMap((each) => /-v(\d{3,6})$/.exec(readName(each))?.[1] ?? []);
  const withoutChance = (text: string): string =>
    chance.reduce((fixed, sequence) => fixed.replaceAll(`,"sequence":${Number(sequence)}}`, '}'), text);
  const createdTime = Date.parse('2026-11-21T09:00:00Z');
  return (text) => withoutChance(fix(text)).replaceAll(/"createdTime":\d+/g, `"createdTime":${createdTime}`);
}

function fixTexts(namespace: string, objects: readonly Manifest[]): (text: string) => string {
  const replacements = listReplacements(namespace, objects);
  return (text) => {
    let fixed = text;
    for (const [volatile, name] of replacements) fixed = fixed.replaceAll(volatile, name);
    return fixed;
  };
}

/** All that the application made, and nothing that Kubernetes puts into every namespace. */
async function listOwnObjects(namespace: string): Promise<Manifest[]> {
  const found = await listObjects(namespace, `${plurals},${definition}`);
  return found.filter((object) => readName(object) !== 'kube-root-ca.crt');
}

async function listObjects(namespace: string, resources: string): Promise<Manifest[]> {
  const text = await kubectl(['--namespace', namespace, 'get', resources, '--output', 'json']);
  return asJsonArray(getPath(JSON.parse(text), 'items')) as Manifest[];
}

async function listPodStates(namespace: string): Promise<string[]> {
  const pods = await listObjects(namespace, 'pods');
  const states = pods.map((pod) => {
    const start = settled
      .map((state) => state.split(' ')[0] ?? '')
      .find((each) => readName(pod).startsWith(each));
    const ready = asJsonArray(getPath(pod, 'status', 'containerStatuses')).map((each) =>
      getPath(each, 'ready'),
    );
    return `${start} ${asString(getPath(pod, 'status', 'phase'))} ${ready.join()}`.trim();
  });
  return states.sort();
}

/** What to put in place of what: longer texts before those they hold. */
function listReplacements(namespace: string, objects: readonly Manifest[]): [string, string][] {
  const names = objects.filter(isNamedAtRandom).map((object): [string, string] => {
    const owner = readOwners(object)[0]?.name ?? '';
    const siblings = objects.filter((each) => isNamedAtRandom(each) && readOwners(each)[0]?.name === owner);
    return [
      readName(object),
      `${owner}-${'abc'.charAt(siblings.map(readName).sort().indexOf(readName(object)))}`,
    ];
  });
  const labels = ['pod-template-hash', 'controller-revision-hash'].flatMap((label) =>
    objects.map((object): [string, string] => {
      const value = asString(getPath(object, 'metadata', 'labels', label)) ?? '';
      return [value.slice(value.lastIndexOf('-') + 1), 'hash'];
    }),
  );
  const text = (pairs: [string, string][], from: string) =>
    pairs.reduce((changed, [volatile, fixed]) => changed.replaceAll(volatile, fixed), from);
  const hashes = labels.filter(([value]) => value !== '');
  const uids = objects.map((object): [string, string] => {
    const name = text([...names, ...hashes], readName(object));
    return [asString(getPath(object, 'metadata', 'uid')) ?? '', `uid of ${readKind(object)} ${name}`];
  });
  return [...uids, ...names, ...hashes, [namespace, 'store']];
}

/** Pods but those of StatefulSets. */
function isNamedAtRandom(object: Manifest): boolean {
  return (
    readKind(object) === 'pod' &&
    ['replicaSet', 'daemonSet', 'job'].includes(readOwners(object)[0]?.kind ?? '')
  );
}

function toSortKey(object: Manifest): string {
  return `${readKind(object)} ${readName(object)}`;
}
