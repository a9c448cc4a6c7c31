import type { V1Pod } from '@kubernetes/client-node';
import type { Manifest } from '../../api/manifest.ts';
import { type JobDescription, listJobContainers } from '../descriptions/job.ts';
import { findMembers, finishDraft } from './draft.ts';
import { buildPodSpec, type PodOptions } from './pod.ts';

/** A job to be run. */
interface JobPlan extends PodOptions {
  readonly name: string;
  readonly namespace: string;
  readonly description: JobDescription;
  /** Annotations that Busdriver needs on the pod. */
  readonly annotations: Readonly<Record<string, string>>;
}

/** The pod that V1 calls a job: it runs to its end once. @throws FailedOperationError when an image has no repository. */
export function buildJob(plan: JobPlan): Manifest {
  const { name, namespace, description, annotations } = plan;
  const containers = listJobContainers(description);
  return finishDraft<V1Pod>({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace,
      labels: findMembers(description.labels),
      annotations: findMembers({ ...description.annotations, ...annotations }),
    },
    spec: buildPodSpec({ ...description, containers, restartPolicy: 'Never' }, plan),
  });
}
