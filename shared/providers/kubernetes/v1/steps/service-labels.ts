import type { V1ReplicaSet, V1ReplicationController } from '@kubernetes/client-node';
import { forEachConcurrently } from '#core/concurrency.ts';
import { FailedOperationError } from '#core/errors.ts';
import { getPath, isJsonObject, type JsonObject, type JsonValue } from '#core/json.ts';
import { KubernetesApiError } from '../../api/errors.ts';
import type { Manifest } from '../../api/manifest.ts';
import { asUnchecked } from '../../api/unchecked.ts';
import { readLabels } from '../../manifest/annotations.ts';
import { readName, readOwners } from '../../manifest/identity.ts';
import { readUid } from '../../operations/steps/deletion.ts';
import { explainFailure } from '../../operations/steps/failure.ts';
import { enabledAnnotation, isLoadBalancerLabel } from '../naming/labels.ts';
import { findDeploymentName, findLive, getRef, resources, type ServerGroupName } from './server-group.ts';
import { waitUntilSettled } from './settled-controller.ts';
import type { V1Work } from './v1-operation.ts';

/** Pods that are switched, checked or deleted at a time. */
export const podsAtATime = 8;

/** A server group to switch: exactly this one, not another that takes its name. */
interface SwitchTarget extends ServerGroupName {
  readonly kind: 'ReplicationController' | 'ReplicaSet';
  readonly uid: string;
}

/** Pods to be switched. */
export type SwitchedPods = {
  /** The labels that say whether a pod is behind a load balancer. */
  readonly labels: string[];
  readonly pods: { readonly name: string; readonly uid: string }[];
};

/** The pods of a server group. */
type ChosenPods = SwitchedPods & {
  /** How many pods the server group has. */
  readonly total: number;
  /** Whether each later pod is created from the current template. */
  readonly isSettled: boolean;
};

/**
 * Has new pods of a server group start in, or out of, service. If a Deployment manages it, the Deployment would treat any change of the
 * template as a new revision: then only the annotation is set.
 *
 * @throws FailedOperationError if it is gone.
 */
export async function switchTemplate(target: SwitchTarget, isEnabled: boolean, work: V1Work): Promise<null> {
  const { client, run } = work;
  const { kind, uid, name, namespace } = target;
  return explainFailure(`Switching server group ${name} in namespace ${namespace}`, async () => {
    const live = await getSwitched(target, work);
    const isDeployed = findDeploymentName(live) !== undefined;
    const labels = isDeployed ? [] : Object.keys(readTemplateLabels(live)).filter(isLoadBalancerLabel);
    const value = String(isEnabled);
    const body = {
      metadata: { uid, annotations: { [enabledAnnotation]: value } },
      ...(labels.length > 0 && { spec: { template: { metadata: { labels: toLabels(labels, value) } } } }),
    };
    await client.patch(getRef(kind, target), { type: 'merge', body }, { signal: run.signal });
    return null;
  });
}

/**
 * Chooses the pods to switch, so that the percentage of all pods is reached: pods that were switched earlier count. Pods are taken in order
 * of their names. If a controller is at work, it first waits until that has seen its template.
 *
 * @throws FailedOperationError if the server group is gone.
 */
export async function choosePods(
  target: SwitchTarget,
  { isEnabled, percentage }: { readonly isEnabled: boolean; readonly percentage: number },
  work: V1Work,
): Promise<ChosenPods> {
  const { session, run } = work;
  const { live, isSettled } = await waitUntilSettled(() => getSwitched(target, work), {
    clock: session.clock,
    run,
  });
  const labels = Object.keys(readTemplateLabels(live)).filter(isLoadBalancerLabel);
  const own = await listOwnPods(live, target.namespace, work);
  const value = String(isEnabled);
  const others = own.filter((pod) => {
    const present = readLabels(pod);
    return labels.some((label) => present[label] !== value);
  });
  const wanted = Math.ceil((own.length * percentage) / 100);
  const missing = Math.max(0, wanted - (own.length - others.length));
  const pods = others.slice(0, missing).map((pod) => ({ name: readName(pod), uid: readUid(pod) ?? '' }));
  return { isSettled, total: own.length, labels, pods };
}

/** Switches pods, some at a time. Ignores those that are gone meanwhile. */
export async function switchPods(
  { labels, pods }: SwitchedPods,
  { namespace, isEnabled }: { readonly namespace: string; readonly isEnabled: boolean },
  { client, run }: V1Work,
): Promise<null> {
  const resource = resources.Pod;
  await forEachConcurrently(pods, podsAtATime, async ({ name, uid }) => {
    const body = { metadata: { uid, labels: toLabels(labels, String(isEnabled)) } };
    const ref = { resource, namespace, name };
    try {
      await explainFailure(`Switching pod ${name} in namespace ${namespace}`, () =>
        client.patch(ref, { type: 'merge', body }, { signal: run.signal }),
      );
    } catch (error) {
      if (!isGone(error)) throw error;
    }
  });
  return null;
}

/** A pod of that name with another uid is another pod. */
function isGone(error: unknown): boolean {
  const cause = error instanceof FailedOperationError ? error.cause : error;
  return cause instanceof KubernetesApiError && (cause.status === 404 || cause.reason === 'Conflict');
}

async function getSwitched(target: SwitchTarget, work: V1Work): Promise<Manifest> {
  const live = await findLive(target.kind, target, work);
  if (live !== undefined && readUid(live) === target.uid) return live;
  throw new FailedOperationError(`Server group ${target.name} in namespace ${target.namespace} is gone`);
}

function readTemplateLabels(live: Manifest): JsonObject {
  const labels = asUnchecked<V1ReplicaSet>(live).spec?.template?.metadata?.labels;
  return isJsonObject(labels) ? labels : {};
}

function toLabels(labels: readonly string[], value: string): JsonObject {
  return Object.fromEntries(labels.map((label) => [label, value]));
}

/** A live server group's pods, as the API server lists them: by name. */
export async function listOwnPods(
  live: Manifest,
  namespace: string,
  { client, run }: Pick<V1Work, 'client' | 'run'>,
): Promise<Manifest[]> {
  const uid = readUid(live);
  const labelSelector = formatSelector(live);
  const query = { resource: resources.Pod, namespace, labelSelector };
  const listed = await client.list(query, { signal: run.signal });
  return listed.filter((pod) => readOwners(pod).some((owner) => owner.uid === uid));
}

/** A ReplicationController's selector is a map of labels; other kinds' selectors contain one. */
function formatSelector(live: Manifest): string {
  const selector = asUnchecked<V1ReplicationController>(live).spec?.selector;
  const matched = getPath(selector, 'matchLabels');
  const labels: JsonValue | undefined = isJsonObject(matched) ? matched : selector;
  return isJsonObject(labels)
    ? Object.entries(labels)
        .map(([label, value]) => `${label}=${String(value)}`)
        .join(',')
    : '';
}
