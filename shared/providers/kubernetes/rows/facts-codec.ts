import type { JsonObject } from '#core/json.ts';
import type { SpinnakerKind } from '../kinds/kind.ts';
import { builtInKinds } from '../kinds/table.ts';
import type { TextMap } from '../manifest/annotations.ts';
import type { ContainerFacts, ObjectFacts, OwnerFacts, PortFacts, WorkloadFacts } from './facts.ts';
import type { EncodedFacts, EncodedOwner, EncodedPort, EncodedWorkload } from './facts-schema.ts';
import { decodeMoniker, encodeMoniker } from './moniker-codec.ts';

/**
 * The version of the stored form of facts. Raise it with every change of that form: facts of another version count as absent, and the next
 * list writes them again.
 */
export const factsVersion = 1;

/** Facts as stored with their object. */
interface EncodedObject extends EncodedFacts {
  readonly v: number;
  /** The object itself, of a V1 account. */
  readonly O?: JsonObject;
}

const spinnakerKinds: ReadonlyMap<string, SpinnakerKind> = new Map(
  builtInKinds.map(({ name, spinnakerKind }) => [name, spinnakerKind]),
);

/** The API versions of the most cached kinds. A change here changes the stored form. */
const usualApiVersions: ReadonlyMap<string, string> = new Map([
  ['pod', 'v1'],
  ['service', 'v1'],
  ['deployment', 'apps/v1'],
  ['replicaSet', 'apps/v1'],
  ['statefulSet', 'apps/v1'],
  ['daemonSet', 'apps/v1'],
  ['job', 'batch/v1'],
  ['cronJob', 'batch/v1'],
  ['ingress', 'networking.k8s.io/v1'],
  ['networkPolicy', 'networking.k8s.io/v1'],
]);

/** The facts as compact JSON text. */
export function encodeFacts(facts: ObjectFacts): string {
  const { object } = facts;
  const encoded: EncodedObject = { v: factsVersion, ...toEncodedFacts(facts), ...(object && { O: object }) };
  return JSON.stringify(encoded);
}

/** The facts in a text of {@link encodeFacts}; undefined if it has another version. */
export function decodeFacts(text: string): ObjectFacts | undefined {
  const encoded = JSON.parse(text) as EncodedObject;
  if (encoded.v !== factsVersion) return undefined;
  const facts = fromEncodedFacts(encoded);
  return encoded.O === undefined ? facts : { ...facts, object: encoded.O };
}

/** Facts in their short form, for JSON; without the object itself. */
export function toEncodedFacts(facts: ObjectFacts): EncodedFacts {
  const { kind, spinnakerKind, namespace, name, createdTime, labels, owners, workload, pod } = facts;
  const moniker = encodeMoniker(facts.moniker, name);
  const { service, ingress, networkPolicy } = facts;
  return {
    k: kind,
    ...(spinnakerKind !== getUsualSpinnakerKind(kind) && { K: spinnakerKind }),
    ...(facts.apiVersion !== usualApiVersions.get(kind) && { a: facts.apiVersion }),
    ...(namespace !== '' && { s: namespace }),
    n: name,
    u: facts.uid,
    r: facts.resourceVersion,
    ...(createdTime !== undefined && { t: createdTime / 1000 }),
    ...(!isEmpty(labels) && { l: labels }),
    ...(moniker !== undefined && { m: moniker }),
    ...(owners.length > 0 && { o: owners.map(encodeOwner) }),
    ...(workload && { w: encodeWorkload(workload, labels) }),
    ...(pod && {
      p: { ...(pod.phase !== 'Running' && { s: pod.phase }), c: encodeContainers(pod.containers) },
    }),
    ...(service && { f: service.selector }),
    ...(ingress && { i: ingress.services }),
    ...(networkPolicy && {
      x: [networkPolicy.inbound.map(encodePort), networkPolicy.outbound.map(encodePort)],
    }),
    ...(facts.v1 && { z: facts.v1 }),
  };
}

type Mutable<T> = { -readonly [member in keyof T]: T[member] };

/** The facts of a short form. */
export function fromEncodedFacts(encoded: EncodedFacts): ObjectFacts {
  const { k: kind, t: seconds, l: labels = {}, o: owners = [], w, p, f, i, x, z } = encoded;
  // Without spreads: large views decode tens of thousands.
  const facts: Mutable<ObjectFacts> = {
    kind,
    spinnakerKind: encoded.K ?? getUsualSpinnakerKind(kind),
    apiVersion: encoded.a ?? usualApiVersions.get(kind) ?? '',
    namespace: encoded.s ?? '',
    name: encoded.n,
    uid: encoded.u,
    resourceVersion: encoded.r,
    createdTime: seconds === undefined ? undefined : seconds * 1000,
    labels,
    moniker: decodeMoniker(encoded.m, encoded.n),
    owners: owners.map(decodeOwner),
  };
  if (w) facts.workload = decodeWorkload(w, labels);
  if (p) facts.pod = { phase: p.s ?? 'Running', containers: decodeContainers(p.c) };
  if (f) facts.service = { selector: f };
  if (i) facts.ingress = { services: i };
  if (x) facts.networkPolicy = { inbound: x[0].map(decodePort), outbound: x[1].map(decodePort) };
  if (z) facts.v1 = z;
  return facts;
}

/** The names of containers; a dash precedes those that are not ready, since no name begins with one. */
function encodeContainers(containers: readonly ContainerFacts[]): string[] {
  return containers.map(({ name, isReady }) => (isReady ? name : `-${name}`));
}

/** Inverse of {@link encodeContainers}. */
function decodeContainers(encoded: readonly string[]): ContainerFacts[] {
  return encoded.map((text) =>
    text.startsWith('-') ? { name: text.slice(1), isReady: false } : { name: text, isReady: true },
  );
}

/** An owner in its short form. */
function encodeOwner({ kind, name, uid, isManager }: OwnerFacts): EncodedOwner {
  const isUsual = isManager === isUsualManager(kind);
  return isUsual ? [kind, name, uid] : [kind, name, uid, isManager ? 1 : 0];
}

/** Inverse of {@link encodeOwner}. */
function decodeOwner([kind, name, uid, isManager]: EncodedOwner): OwnerFacts {
  return { kind, name, uid, isManager: isManager === undefined ? isUsualManager(kind) : isManager === 1 };
}

/** Whether two maps have the same texts. */
export function isSameTextMap(one: TextMap, other: TextMap): boolean {
  const keys = Object.keys(one);
  return keys.length === Object.keys(other).length && keys.every((key) => one[key] === other[key]);
}

function encodeWorkload(workload: WorkloadFacts, labels: TextMap): EncodedWorkload {
  const { replicas, images, podLabels, loadBalancers, serviceName } = workload;
  return {
    ...(replicas !== undefined && { r: replicas }),
    i: images,
    ...(!isSameTextMap(podLabels, labels) && { l: podLabels }),
    ...(loadBalancers.length > 0 && { b: loadBalancers }),
    ...(serviceName !== undefined && { s: serviceName }),
  };
}

function decodeWorkload(encoded: EncodedWorkload, labels: TextMap): WorkloadFacts {
  const { r: replicas, i: images, l: podLabels = labels, b: loadBalancers = [], s: serviceName } = encoded;
  return {
    ...(replicas !== undefined && { replicas }),
    images,
    podLabels,
    loadBalancers,
    ...(serviceName !== undefined && { serviceName }),
  };
}

function encodePort({ protocol, port, endPort }: PortFacts): EncodedPort {
  if (endPort !== undefined) return [protocol ?? null, port ?? null, endPort];
  return port === undefined ? [protocol ?? null] : [protocol ?? null, port];
}

function decodePort([protocol, port, endPort]: EncodedPort): PortFacts {
  return {
    ...(protocol !== null && { protocol }),
    ...(port !== undefined && port !== null && { port }),
    ...(endPort !== undefined && { endPort }),
  };
}

function getUsualSpinnakerKind(kind: string): SpinnakerKind {
  return spinnakerKinds.get(kind) ?? 'unclassified';
}

function isUsualManager(kind: string): boolean {
  return getUsualSpinnakerKind(kind) === 'serverGroupManagers';
}

function isEmpty(map: TextMap): boolean {
  for (const _ in map) return false;
  return true;
}
