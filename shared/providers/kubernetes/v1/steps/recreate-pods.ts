import type { V1Pod } from '@kubernetes/client-node';
import { FailedOperationError } from '#core/errors.ts';
import type { Look } from '#tasks/wait.ts';
import { asUnchecked } from '../../api/unchecked.ts';
import { readName } from '../../manifest/identity.ts';
import { readUid } from '../../operations/steps/deletion.ts';
import type { SetKind } from '../descriptions/set.ts';
import { type Doomed, deleteDoomed, toDoomed } from './doomed.ts';
import { findLive, type ServerGroupName } from './server-group.ts';
import { listOwnPods } from './service-labels.ts';
import type { V1Work } from './v1-operation.ts';

/**
 * Deletes the pods of a StatefulSet or DaemonSet one by one, from the highest name on, each once the previous one is replaced: for a
 * StatefulSet when another pod of its name runs, for a DaemonSet, whose pods get new names, when it is gone. The cluster recreates them.
 *
 * @throws FailedOperationError if one is not replaced in time. Each has `jobs.local.timeout-minutes`, like Clouddriver's other waits.
 */
export async function recreatePods(
  set: ServerGroupName & { readonly kind: SetKind },
  work: V1Work,
): Promise<void> {
  const { run, session } = work;
  const { kind, namespace, name } = set;
  const { pods, decidedAtMs } = await run.decide('choose-pods', async () => {
    const live = await findLive(kind, set, work);
    const listed = live === undefined ? [] : await listOwnPods(live, namespace, work);
    const found = listed.flatMap((pod) => toDoomed('Pod', readName(pod), readUid(pod)) ?? []);
    return { pods: found.toSorted(compareFromHighest), decidedAtMs: session.clock.now() };
  });
  // One step for all of them: a repeat skips those that are replaced.
  await run.step('recreate-pods', async () => {
    for (const [index, pod] of pods.entries()) {
      const startedAtMs = decidedAtMs + index * session.settings.operationTimeoutMs;
      await deleteDoomed([pod], { namespace, decidedAtMs: startedAtMs }, work);
      if (kind === 'StatefulSet') await waitForSuccessor(pod, { namespace, name, startedAtMs }, work);
    }
    return null;
  });
}

/** `web-10` comes before `web-9`. */
function compareFromHighest(one: Doomed, other: Doomed): number {
  return other.name.localeCompare(one.name, 'en', { numeric: true });
}

async function waitForSuccessor(
  pod: Doomed,
  { namespace, name, startedAtMs }: ServerGroupName & { readonly startedAtMs: number },
  work: V1Work,
): Promise<void> {
  const { session, run } = work;
  const { clock, settings } = session;
  const look = async ({ isLate }: Look): Promise<true | undefined> => {
    const live = await findLive('Pod', { namespace, name: pod.name }, work);
    const isRunning = live !== undefined && asUnchecked<V1Pod>(live).status?.phase === 'Running';
    if (isRunning && readUid(live) !== pod.uid) return true;
    if (!isLate) return undefined;
    throw new FailedOperationError(
      `Failed to launch a new pod(${pod.name}) for ServerGroup ${name} in ${namespace}.`,
    );
  };
  await run.waitUntil(`successor/${pod.uid}`, look, {
    describe: () => `another Pod ${pod.name} to run`,
    deadlineMs: Math.min(startedAtMs, clock.now()) + settings.operationTimeoutMs,
    clock,
  });
}
