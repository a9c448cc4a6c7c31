import type { CachingRun } from '#caching/scheduling/caching-agent.ts';
import type { Clock } from '#core/clock.ts';
import { forEachConcurrently } from '#core/concurrency.ts';
import { getErrorMessage, VisibleError } from '#core/errors.ts';
import type { Logger } from '#core/logger.ts';
import type { KubernetesAccount } from '../../account/account.ts';
import { getBuiltInResource } from '../../api/built-in-resources.ts';
import type { KubernetesClient } from '../../api/client.ts';
import type { Manifest } from '../../api/manifest.ts';
import { annotationKeys, readAnnotations } from '../../manifest/annotations.ts';
import { readName, readNamespace, readOwners } from '../../manifest/identity.ts';
import { readUid } from '../../operations/steps/deletion.ts';
import { findJobEnd } from '../views/job-view.ts';

/** How long an ended job can be read, milliseconds. Spinnaker's V1 provider deleted it with the first read. */
export const endedJobMs = 3_600_000;

/** Milliseconds between two searches for ended jobs. */
export const sweepIntervalMs = 300_000;

/** The most jobs deleted by one search: the next one finds others. */
export const sweptJobsMax = 500;

const podResource = getBuiltInResource('v1', 'Pod');
/** Pods that are deleted, and namespaces that are listed, at a time. */
const atATime = 8;

interface EndedJobsOptions {
  readonly account: Pick<KubernetesAccount, 'name' | 'namespaces'>;
  readonly client: KubernetesClient;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * Deletes an account's jobs that ended an hour ago: only pods that `runJob` or `cloneJob` made. Refusals are logged and left to the next
 * search.
 *
 * @returns how many were deleted
 */
export async function deleteEndedJobs(
  { account, client, clock, log }: EndedJobsOptions,
  { signal, ensureHeld }: Pick<CachingRun, 'signal' | 'ensureHeld'>,
): Promise<number> {
  let deleted = 0;
  try {
    const doomed = (await listEndedPods(account.namespaces, client, signal))
      .filter((pod) => isOverdue(pod, clock.now()))
      .slice(0, sweptJobsMax);
    await forEachConcurrently(doomed, atATime, async (pod) => {
      ensureHeld();
      const ref = { resource: podResource, namespace: readNamespace(pod), name: readName(pod) };
      const preconditions = { uid: readUid(pod) ?? '' };
      await client.delete(ref, { propagationPolicy: 'Background', preconditions }, { signal });
      deleted += 1;
    });
  } catch (error) {
    if (signal.aborted || !(error instanceof VisibleError)) throw error;
    log.warn('jobs that have ended could not be deleted', {
      account: account.name,
      reason: getErrorMessage(error),
    });
  }
  return deleted;
}

async function listEndedPods(
  namespaces: readonly string[],
  client: KubernetesClient,
  signal: AbortSignal,
): Promise<Manifest[]> {
  const places = namespaces.length === 0 ? [undefined] : namespaces;
  const pods: Manifest[] = [];
  await forEachConcurrently(places, atATime, async (namespace) => {
    for (const phase of ['Succeeded', 'Failed']) {
      const fieldSelector = `status.phase=${phase}`;
      pods.push(...(await client.list({ resource: podResource, namespace, fieldSelector }, { signal })));
    }
  });
  return pods;
}

/** Pods of server groups have an owner, and pods made by other tools lack the annotation. */
function isOverdue(pod: Manifest, nowMs: number): boolean {
  if (readOwners(pod).length > 0 || readAnnotations(pod)[annotationKeys.creation] === undefined) return false;
  const endMs = findJobEnd(pod);
  return endMs !== undefined && endMs + endedJobMs <= nowMs;
}
