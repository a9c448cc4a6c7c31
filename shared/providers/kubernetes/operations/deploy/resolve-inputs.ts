import type { Randomness } from '#core/clock.ts';
import { FailedOperationError } from '#core/errors.ts';
import type { Manifest } from '../../api/manifest.ts';
import {
  type Coordinates,
  findReplicas,
  readGenerateName,
  readName,
  readNamespace,
} from '../../manifest/identity.ts';
import { chooseVersion, findLatestVersion, formatVersionedName } from '../../manifest/version.ts';
import { awaitInOrder } from '../steps/failure.ts';
import { getLoadBalancer } from '../steps/target.ts';
import type { OperationWork } from '../steps/v2-operation.ts';
import { findResource } from './places.ts';
import type { PlanInputs, ResolvedInputs } from './plan.ts';

/** Characters that Kubernetes itself appends to a `generateName`: no vowels, no look-alikes. */
const suffixAlphabet = 'bcdfghjklmnpqrstvwxz2456789';
const suffixLength = 5;
/** Kubernetes truncates the given part so that the whole name has at most 63 characters. */
const generateNameMax = 63 - suffixLength;
/** Each try fails with a probability of one in 14 million per object of that prefix. */
const nameTriesMax = 8;

/**
 * Reads what the inputs of one deploy need, concurrently: the live objects of a kind in a namespace once, a load balancer once.
 *
 * @param allInputs of the manifests in order, with nothing bound yet
 * @returns a function that resolves the inputs of the manifest at that place, with its artifacts bound
 */
export async function openInputResolver(
  allInputs: readonly PlanInputs[],
  work: OperationWork,
): Promise<(inputs: PlanInputs, index: number) => ResolvedInputs> {
  const list = shareByKey((manifest: Manifest) => listLive(manifest, work), getListKey);
  const readLoadBalancer = shareByKey((each: Coordinates) => getLoadBalancer(each, work), JSON.stringify);
  const readings = allInputs.map(async (inputs) => {
    const { manifest, versioned, useSourceCapacity, nameless, loadBalancers } = inputs;
    const [live, name, services] = await Promise.all([
      versioned ? list(manifest) : [],
      nameless ? chooseName(manifest, work) : undefined,
      Promise.all(loadBalancers.map(readLoadBalancer)),
    ]);
    const replicas = useSourceCapacity ? await findSourceReplicas(inputs, live, work) : undefined;
    const resolved = {
      ...(replicas !== undefined && { replicas }),
      ...(name !== undefined && { name }),
      ...(services.length > 0 && { loadBalancers: services }),
    };
    return { live, resolved };
  });
  // Independent of the artifacts to be bound.
  const facts = await awaitInOrder(readings);
  return ({ manifest, versioned }, index) => {
    const { live = [], resolved = {} } = facts[index] ?? {};
    return versioned ? { ...resolved, version: chooseVersion(manifest, live) } : resolved;
  };
}

/** A function that is called once for each key; later calls share its promise. */
function shareByKey<T, R>(read: (of: T) => Promise<R>, getKey: (of: T) => string): (of: T) => Promise<R> {
  const shared = new Map<string, Promise<R>>();
  return (of) => {
    const key = getKey(of);
    const reading = shared.get(key) ?? read(of);
    shared.set(key, reading);
    return reading;
  };
}

function getListKey(manifest: Manifest): string {
  return JSON.stringify([manifest.apiVersion, manifest.kind, readNamespace(manifest)]);
}

/** The objects of a manifest's kind in its namespace; only their metadata, which shows their versions. */
async function listLive(manifest: Manifest, { client, run: { signal } }: OperationWork): Promise<Manifest[]> {
  const resource = await findResource(client, manifest, { signal });
  if (resource === undefined) return [];
  const namespace = readNamespace(manifest) || (await client.getDefaultNamespace({ signal }));
  return client.list({ resource, namespace, metadataOnly: true }, { signal });
}

/** The replicas of the running object of the manifest's name; for versions, of the latest one. */
async function findSourceReplicas(
  { manifest, versioned }: PlanInputs,
  live: readonly Manifest[],
  { client, run: { signal } }: OperationWork,
): Promise<number | undefined> {
  const bare = readName(manifest);
  const version = versioned ? findLatestVersion(live, bare) : undefined;
  if (versioned && version === undefined) return undefined;
  const resource = await findResource(client, manifest, { signal });
  if (resource === undefined) return undefined;
  const name = formatVersionedName(bare, version);
  const source = await client.get({ resource, namespace: readNamespace(manifest), name }, { signal });
  return source === undefined ? undefined : findReplicas(source);
}

/** A name for an object with a `generateName`, as the API server would generate it, and currently unused. */
async function chooseName(
  manifest: Manifest,
  { client, session, run: { signal } }: OperationWork,
): Promise<string> {
  const base = (readGenerateName(manifest) ?? '').slice(0, generateNameMax);
  const resource = await findResource(client, manifest, { signal });
  for (let tries = 1; tries <= nameTriesMax; tries += 1) {
    const name = base + createSuffix(session.randomness);
    const ref = resource && { resource, namespace: readNamespace(manifest), name };
    if (ref === undefined || (await client.get(ref, { signal })) === undefined) return name;
  }
  throw new FailedOperationError(`No free name beginning with ${base} was found in ${nameTriesMax} tries`);
}

function createSuffix(randomness: Randomness): string {
  const pick = (): string => suffixAlphabet.charAt(Math.floor(randomness.fraction() * suffixAlphabet.length));
  return Array.from({ length: suffixLength }, pick).join('');
}
