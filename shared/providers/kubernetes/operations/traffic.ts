import type { V1ReplicaSet } from '@kubernetes/client-node';
import type { z } from 'zod';
import type { JsonObject } from '#core/json.ts';
import { defineOperation } from '#provider-kit/operation-definition.ts';
import { objectField, stringListField, withDefault } from '#settings/coerce.ts';
import { isObjectNotFound } from '../api/errors.ts';
import type { Manifest } from '../api/manifest.ts';
import { asUnchecked } from '../api/unchecked.ts';
import { readName, readNamespace, readOwners } from '../manifest/identity.ts';
import { formatSelectors, readLabelSelector } from '../manifest/selectors.ts';
import {
  createLabelPatch,
  type LabelChanges,
  listDisablingLabels,
  listEnablingLabels,
  parseLoadBalancer,
  parseLoadBalancers,
} from '../manifest/traffic.ts';
import { patchSame } from './patches.ts';
import { readUid } from './steps/deletion.ts';
import { awaitInOrder, describeObject, explainFailure } from './steps/failure.ts';
import {
  getLiveTarget,
  getLoadBalancer,
  getTargetRef,
  readTarget,
  targetShape,
  validateTarget,
} from './steps/target.ts';
import { kubernetesV2, type OperationWork, type Validation } from './steps/v2-operation.ts';

const trafficField = objectField({
  ...targetShape,
  loadBalancers: withDefault(stringListField(), []).describe(
    'Load balancers, as `service web`. Default: those that the object is annotated with.',
  ),
});

/** A parsed description of `enableManifest` or `disableManifest`. */
type TrafficDescription = Exclude<z.output<typeof trafficField>, undefined>;

/** Puts a workload behind its load balancers. */
export const enableManifest = defineOperation(kubernetesV2, {
  name: 'enableManifest',
  purpose: 'puts a workload behind its services',
  operationClass: 'KubernetesEnableManifestOperation',
  phase: 'ENABLE_MANIFEST',
  context: 'enableKubernetesManifest',
  schema: trafficField,
  validate: validateTraffic,
  run: (description, work) =>
    turnTraffic(description, { doing: 'Enabling', done: 'Enabled', listLabels: listEnablingLabels }, work),
});

/** Removes a workload from its load balancers; it keeps running. */
export const disableManifest = defineOperation(kubernetesV2, {
  name: 'disableManifest',
  purpose: 'takes a workload from its services',
  operationClass: 'KubernetesDisableManifestOperation',
  phase: 'DISABLE_MANIFEST',
  context: 'disableKubernetesManifest',
  schema: trafficField,
  validate: validateTraffic,
  run: (description, work) =>
    turnTraffic(description, { doing: 'Disabling', done: 'Disabled', listLabels: listDisablingLabels }, work),
});

/** The direction in which traffic is switched, and the words for it. */
interface TrafficTurn {
  /** `Enabling`. */
  readonly doing: string;
  /** `Enabled`. */
  readonly done: string;
  /** The labels to change. @throws FailedOperationError for a service that selects nothing. */
  listLabels(services: readonly Manifest[]): LabelChanges;
}

/** What to do, as the journal keeps it. */
type TrafficPlan = {
  readonly uid: string;
  readonly namespace: string;
  readonly loadBalancers: string[];
  readonly labels: { [key: string]: string | null };
  /** Merge patch of the object; null if it is already as wanted. */
  readonly patch: JsonObject | null;
  /** The selector of its pods, in Kubernetes' syntax. */
  readonly podSelector: string;
};

/** Reports a bad target, and names that are not load balancers. */
function validateTraffic(description: TrafficDescription, validation: Validation): void {
  validateTarget(description, validation, 'traffic');
  const { kindRegistry } = validation.account;
  for (const text of description.loadBalancers) {
    validation.check(() => void parseLoadBalancer(text, kindRegistry));
  }
}

/**
 * Puts a workload behind its load balancers, or removes it, by the labels that they select. A ReplicaSet's existing pods get the labels,
 * too; other workloads' pods are recreated by their controllers.
 *
 * What to do is decided once; a repeat sends the same.
 */
async function turnTraffic(
  description: TrafficDescription,
  turn: TrafficTurn,
  work: OperationWork,
): Promise<undefined> {
  const { run } = work;
  const target = readTarget(description);
  const what = describeObject(target);
  run.report(`${turn.doing} ${what}`);
  await explainFailure(`${turn.doing} ${what}`, async () => {
    const plan = await run.decide('labels', () => planTurn(description, turn, work));
    run.report(`Load balancers of ${what}: ${plan.loadBalancers.join(', ') || 'none'}`);
    if (plan.loadBalancers.length === 0) return;
    if (plan.patch !== null) {
      const ref = await getTargetRef(target, work);
      const { uid, patch: body } = plan;
      await patchSame(ref, { type: 'merge', fieldManager: 'kubectl-patch', uid, body }, work);
    }
    if (work.account.kindRegistry.find(target.kind).capabilities.has('pods')) {
      const count = await labelPods(plan, work);
      run.report(`Labelled ${count} pods of ${what}`);
    }
  });
  run.report(`${turn.done} ${what}`);
  return undefined;
}

async function planTurn(
  description: TrafficDescription,
  { listLabels }: TrafficTurn,
  work: OperationWork,
): Promise<TrafficPlan> {
  const live = await getLiveTarget(readTarget(description), work);
  const given = description.loadBalancers;
  const loadBalancers = [...(given.length > 0 ? given : parseLoadBalancers(live))];
  const namespace = readNamespace(live);
  const services = await Promise.all(
    loadBalancers
      .map((text) => parseLoadBalancer(text, work.account.kindRegistry))
      .map((fullName) => getLoadBalancer({ ...fullName, namespace }, work)),
  );
  const labels = { ...listLabels(services) };
  return {
    uid: readUid(live) ?? '',
    namespace,
    loadBalancers,
    labels,
    patch: createLabelPatch(live, labels) ?? null,
    podSelector: formatSelectors(readLabelSelector(asUnchecked<V1ReplicaSet>(live).spec?.selector)),
  };
}

/** Labels the object's pods, and returns how many there are. */
async function labelPods(plan: TrafficPlan, work: OperationWork): Promise<number> {
  const { client, run } = work;
  const { signal } = run;
  const resource = await client.getResource('v1', 'Pod', { signal });
  const { namespace } = plan;
  const request = { resource, namespace, labelSelector: plan.podSelector, metadataOnly: true };
  const pods = (await client.list(request, { signal })).filter((pod) =>
    readOwners(pod).some((owner) => owner.uid === plan.uid),
  );
  const patching = pods.map(async (pod) => {
    const body = createLabelPatch(pod, plan.labels);
    if (body === undefined) return;
    const ref = { resource, namespace, name: readName(pod) };
    const patch = { type: 'merge', fieldManager: 'kubectl-patch', uid: readUid(pod) ?? '', body } as const;
    await patchSame(ref, patch, work).catch(ignoreMissing);
  });
  await awaitInOrder(patching);
  return pods.length;
}

/** A pod that ended meanwhile gets no traffic either. */
function ignoreMissing(error: unknown): void {
  if (!isObjectNotFound(error)) throw error;
}
