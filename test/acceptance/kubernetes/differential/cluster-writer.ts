import { spawn } from 'node:child_process';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { getErrorMessage, VisibleError } from '#core/errors.ts';
import { asString, getPath } from '#core/json.ts';
import { systemClock } from '#platform/services/system.ts';
import type { KubernetesClient } from '#providers/kubernetes/api/client.ts';
import type { Manifest } from '#providers/kubernetes/api/manifest.ts';
import { applyManifest } from '#providers/kubernetes/apply/apply.ts';
import { createManifest, replaceManifest } from '#providers/kubernetes/apply/write.ts';
import { getCluster } from '#test/support/cluster/cluster.ts';
import { type Verb, verbs } from './pair.ts';

/** What a write came to: `created`, `configured`, `unchanged`, `serverside-applied`, `replaced` or `failed`. */
export interface Outcome {
  readonly word: string;
  /** Why it failed; of kubectl, what it wrote about all manifests of the call. */
  readonly problem?: string;
}

/** Writes manifests, each with a name of its own, by two processes of the real kubectl: it is slow. */
export async function writeByKubectl(
  manifests: readonly Manifest[],
  verb: Verb,
): Promise<Map<string, Outcome>> {
  const middle = Math.ceil(manifests.length / 2);
  const halves = [manifests.slice(0, middle), manifests.slice(middle)];
  const outcomes = await Promise.all(halves.map((half) => writeByOneKubectl(half, verb)));
  return new Map(outcomes.flatMap((each) => [...each]));
}

async function writeByOneKubectl(manifests: readonly Manifest[], verb: Verb): Promise<Map<string, Outcome>> {
  const input = manifests.map((manifest) => JSON.stringify(manifest)).join('\n');
  const { stdout, stderr } = await tryKubectl([...verbs[verb], '--filename', '-'], input);
  const outcomes = new Map<string, Outcome>();
  for (const manifest of manifests) outcomes.set(getName(manifest), { word: 'failed', problem: stderr });
  for (const line of stdout.trim().split('\n')) {
    const [, name, word] = /^[^/]+\/(\S+) (\S+)$/.exec(line) ?? [];
    if (name !== undefined && word !== undefined) outcomes.set(name, { word });
  }
  return outcomes;
}

export async function writeByBusdriver(
  client: KubernetesClient,
  manifest: Manifest,
  verb: Verb,
): Promise<Outcome> {
  try {
    return { word: await writeOne(client, manifest, verb) };
  } catch (error) {
    if (!(error instanceof VisibleError)) throw error;
    return { word: 'failed', problem: getErrorMessage(error) };
  }
}

async function writeOne(client: KubernetesClient, manifest: Manifest, verb: Verb): Promise<string> {
  if (verb === 'apply') return (await applyManifest(client, manifest, { clock: systemClock })).outcome;
  if (verb === 'create') await createManifest(client, manifest);
  else if (verb === 'replace') await replaceManifest(client, manifest, { clock: systemClock });
  else
    await applyManifest(client, manifest, {
      clock: systemClock,
      serverSide: verb === 'serverSide' ? true : 'force-conflicts',
    });
  return {
    create: 'created',
    replace: 'replaced',
    serverSide: 'serverside-applied',
    forceConflicts: 'serverside-applied',
  }[verb];
}

/** The live objects of manifests, by name, with their managed fields; those that exist. */
export async function readLiveObjects(manifests: readonly Manifest[]): Promise<Map<string, Manifest>> {
  const args = ['get', '--ignore-not-found', '--show-managed-fields', '--output', 'json'];
  const { stdout, stderr } = await tryKubectl([...args, '--filename', '-'], formatIdentities(manifests));
  if (stderr !== '') throw new Error(stderr);
  const list: { items: Manifest[] } = JSON.parse(stdout);
  return new Map(list.items.map((object) => [getName(object), object]));
}

export async function removeObjects(objects: readonly Manifest[]): Promise<void> {
  const freed = objects.filter((object) => getPath(object, 'metadata', 'finalizers') !== undefined);
  const patch = ['patch', '--type', 'merge', '--patch', '{"metadata":{"finalizers":null}}'];
  await tryKubectl([...patch, '--filename', '-'], formatIdentities(freed));
  await tryKubectl(['delete', '--wait=false', '--filename', '-'], formatIdentities(objects));
}

function formatIdentities(manifests: readonly Manifest[]): string {
  const identities = manifests.map(({ apiVersion, kind, metadata }) => {
    const namespace = getPath(metadata, 'namespace');
    return {
      apiVersion,
      kind,
      metadata: { name: getPath(metadata, 'name'), ...(namespace && { namespace }) },
    };
  });
  return identities.map((identity) => JSON.stringify(identity)).join('\n');
}

export async function tryKubectl(
  args: readonly string[],
  stdin: string,
): Promise<{ stdout: string; stderr: string }> {
  const { kubectl, kubeconfig, dir } = getCluster();
  const cache = path.join(dir, 'kubectl-cache');
  const child = spawn(kubectl, ['--kubeconfig', kubeconfig, '--cache-dir', cache, ...args]);
  child.stdin.on('error', () => undefined).end(stdin);
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { stdout, stderr };
}

export function getName(manifest: Manifest): string {
  return asString(getPath(manifest, 'metadata', 'name')) ?? '';
}
