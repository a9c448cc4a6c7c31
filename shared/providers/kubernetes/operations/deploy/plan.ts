import { setImmediate } from 'node:timers/promises';
import { omitNulls } from '#core/json.ts';
import type { Artifact } from '#provider-kit/artifact.ts';
import type { KubernetesAccount } from '../../account/account.ts';
import type { KubernetesSettings } from '../../account/account-settings.ts';
import type { Manifest } from '../../api/manifest.ts';
import type { KindRegistry } from '../../kinds/index.ts';
import type { KindDefinition } from '../../kinds/kind.ts';
import { formatFullName } from '../../kinds/name.ts';
import { annotateArtifact, annotateMoniker, createDeployMoniker } from '../../manifest/annotate.ts';
import { ArtifactIndex } from '../../manifest/artifact-index.ts';
import { bindArtifacts, createDeployedArtifact } from '../../manifest/artifacts.ts';
import { setName } from '../../manifest/expand.ts';
import { type Coordinates, readFullName, readKind, readNamespace } from '../../manifest/identity.ts';
import { readStrategy, type Strategy, setReplicas } from '../../manifest/strategy.ts';
import {
  annotateLoadBalancers,
  attachService,
  findManifest,
  parseLoadBalancer,
  parseLoadBalancers,
} from '../../manifest/traffic.ts';
import { isVersioned } from '../../manifest/version.ts';
import type { DeployDescription } from './description.ts';

/** What to deploy, and by which rules. */
export interface DeployRequest {
  readonly description: DeployDescription;
  /** In order of deployment, with namespaces overridden. */
  readonly manifests: readonly Manifest[];
  readonly account: KubernetesAccount;
  readonly settings: KubernetesSettings;
}

/** A manifest with what decides how it is deployed, each read once. */
export interface DeploySubject {
  readonly manifest: Manifest;
  readonly kind: KindDefinition;
  readonly strategy: Strategy;
}

/** The subject that a manifest is. */
export function toSubject(manifest: Manifest, registry: KindRegistry): DeploySubject {
  return { manifest, kind: registry.find(readKind(manifest)), strategy: readStrategy(manifest) };
}

/** What must be known of a manifest, with its artifacts bound, before it can be planned. */
export interface PlanInputs extends DeploySubject {
  /** True if it gets a version, whose number must be found. */
  readonly versioned: boolean;
  /** True if it keeps the replicas of the running object, whose number must be found. */
  readonly useSourceCapacity: boolean;
  /** True if it has only a `generateName`. */
  readonly nameless: boolean;
  /** Load balancers to attach it to that are not in this request. */
  readonly loadBalancers: readonly Coordinates[];
}

/** The cluster's answers to the inputs of a plan. They change over time, so a repeated run must not ask again. */
export type ResolvedInputs = {
  readonly version?: number;
  readonly replicas?: number;
  readonly name?: string;
  /** The live load balancers, as far as attaching needs them, with their requested namespaces. */
  readonly loadBalancers?: Manifest[];
};

/** A manifest as it will be sent. */
export interface PlannedManifest extends DeploySubject {
  /** Spinnaker's name of it in the cluster: `configMap flags-v003`. */
  readonly fullName: string;
  /** What it is a version of: the manifest with its artifacts bound, before annotations. Undefined if it is unversioned. */
  readonly versionOf: Manifest | undefined;
  /** The artifact that it becomes for later manifests. */
  readonly artifact: Artifact;
  /** The artifacts that were bound in it. */
  readonly bound: readonly Artifact[];
  /** Full names of its attached load balancers. */
  readonly attached: readonly string[];
}

/** The inputs of all manifests, in order. Artifacts still to be bound do not affect what is read from the cluster. */
export function listPlanInputs(request: DeployRequest): PlanInputs[] {
  const { kindRegistry } = request.account;
  return request.manifests.map((manifest) => createPlanInputs(toSubject(manifest, kindRegistry), request));
}

/** True if any of it must be read from the cluster. */
export function needsCluster(inputs: PlanInputs): boolean {
  const { versioned, useSourceCapacity, nameless, loadBalancers } = inputs;
  return versioned || useSourceCapacity || nameless || loadBalancers.length > 0;
}

/** Milliseconds of planning after which other requests get their turn. */
const sliceMs = 50;

/**
 * Plans what to send, manifest by manifest: later ones refer to what earlier ones become. Thousands of manifests take time, during which
 * other requests of this process are served.
 *
 * @param decide resolves the inputs of the manifest at that place; repeated calls return the same.
 * @throws InvalidInputError or FailedOperationError for load balancers that cannot be attached.
 */
export async function planDeploy(
  request: DeployRequest,
  decide: (inputs: PlanInputs, index: number) => ResolvedInputs,
): Promise<PlannedManifest[]> {
  const planned: PlannedManifest[] = [];
  const artifacts = indexArtifacts(request);
  let sliceEndMs = performance.now() + sliceMs;
  for (const [index, manifest] of request.manifests.entries()) {
    const subject = toSubject(manifest, request.account.kindRegistry);
    const { manifest: bound, bound: used } = bind(subject, request, artifacts);
    const inputs = createPlanInputs({ ...subject, manifest: bound }, request);
    const each = plan(inputs, decide(inputs, index), request);
    planned.push({ ...each, bound: used });
    artifacts.addFirst(each.artifact);
    if (performance.now() < sliceEndMs) continue;
    await setImmediate();
    sliceEndMs = performance.now() + sliceMs;
  }
  return planned;
}

/** The artifacts to bind: first those that this deploy will make, then required, then optional ones. */
function indexArtifacts({ description, account }: DeployRequest): ArtifactIndex {
  const { enableArtifactBinding, requiredArtifacts, optionalArtifacts } = description;
  const given = enableArtifactBinding ? [...requiredArtifacts, ...optionalArtifacts] : [];
  return new ArtifactIndex(account.name, given);
}

function bind(
  { manifest, kind }: DeploySubject,
  { account, settings }: DeployRequest,
  artifacts: ArtifactIndex,
): ReturnType<typeof bindArtifacts> {
  return bindArtifacts({
    manifest,
    kind,
    namespace: readNamespace(manifest),
    account: account.name,
    artifacts,
    imageBinding: settings.dockerImageBinding,
  });
}

function createPlanInputs(subject: DeploySubject, request: DeployRequest): PlanInputs {
  const { kind, strategy } = subject;
  return {
    ...subject,
    versioned: isVersioned(strategy, request.description.versioned, kind.versioned),
    useSourceCapacity: kind.capabilities.has('scale') && strategy.useSourceCapacity,
    nameless: strategy.method === 'create',
    loadBalancers: listLoadBalancers(subject, request).filter(
      (coordinates) => findManifest(request.manifests, coordinates) === undefined,
    ),
  };
}

/** The load balancers that the deploy itself attaches a manifest to. */
function listLoadBalancers(subject: DeploySubject, request: DeployRequest): Coordinates[] {
  const registry = request.account.kindRegistry;
  if (!request.description.enableTraffic || !canReceiveTraffic(subject)) return [];
  const namespace = readNamespace(subject.manifest);
  const texts = parseLoadBalancers(recordLoadBalancers(subject, request));
  return texts.map((text) => ({ ...parseLoadBalancer(text, registry), namespace }));
}

/** The manifest annotated with the request's load balancers, if its kind can be behind any. */
function recordLoadBalancers(subject: DeploySubject, { description }: DeployRequest): Manifest {
  const { manifest } = subject;
  return canReceiveTraffic(subject) ? annotateLoadBalancers(manifest, description.services) : manifest;
}

/** Whether objects of its kind can be behind a load balancer. */
export function canReceiveTraffic({ kind }: DeploySubject): boolean {
  return kind.capabilities.has('traffic');
}

function plan(
  { manifest, kind, strategy }: PlanInputs,
  resolved: ResolvedInputs,
  request: DeployRequest,
): Omit<PlannedManifest, 'bound'> {
  const { description, account, settings } = request;
  const { version, replicas } = resolved;
  const artifact = createDeployedArtifact(manifest, account.name, version);
  const moniker = createDeployMoniker(manifest, description.moniker ?? {}, version);
  const annotated = annotateArtifact(manifest, artifact);
  const sized = replicas === undefined ? annotated : setReplicas(annotated, replicas);
  const { manifest: attached, names } = attach(
    { manifest: sized, kind, strategy },
    request,
    resolved.loadBalancers ?? [],
  );
  const labelled = annotateMoniker(attached, moniker, {
    applyAppLabels: settings.applyAppLabels,
    managedBySuffix: settings.managedBySuffix,
    skipSpecTemplateLabels: description.skipSpecTemplateLabels,
  });
  const name = resolved.name ?? artifact.reference ?? '';
  return {
    manifest: omitNulls(setName(labelled, name)) as Manifest,
    kind,
    strategy,
    fullName: formatFullName(kind.name, name),
    versionOf: version === undefined ? undefined : manifest,
    artifact,
    attached: names,
  };
}

/** Puts the manifest behind its load balancers: the request's, and `live` ones. */
function attach(
  subject: DeploySubject,
  request: DeployRequest,
  live: readonly Manifest[],
): { manifest: Manifest; names: string[] } {
  const loadBalancers = listLoadBalancers(subject, request)
    .map((coordinates) => findManifest(request.manifests, coordinates) ?? findManifest(live, coordinates))
    .filter((loadBalancer) => loadBalancer !== undefined);
  return {
    manifest: loadBalancers.reduce(attachService, recordLoadBalancers(subject, request)),
    names: loadBalancers.map(readFullName),
  };
}
