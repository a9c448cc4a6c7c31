import type { V1ReplicationController } from '@kubernetes/client-node';
import type { Clock } from '#core/clock.ts';
import type { OperationRun } from '#tasks/operation.ts';
import type { Look } from '#tasks/wait.ts';
import type { Manifest } from '../../api/manifest.ts';
import { asUnchecked } from '../../api/unchecked.ts';

/** How long a controller may take to see a change, milliseconds. It takes a few unless it is down or overloaded. */
const patienceMs = 30_000;

/** A controller at the time when its pods could be chosen. */
interface SettledController {
  readonly live: Manifest;
  /** False when it had not seen its latest change by then. */
  readonly isSettled: boolean;
}

/**
 * Waits until a controller has observed its current spec. It reports that once it has created the pods that it wanted: from then on no pod
 * comes from an earlier template, and a list has all that did. After half a minute it stops waiting.
 *
 * @param read reads it; an error that it throws ends the wait
 */
export async function waitUntilSettled(
  read: () => Promise<Manifest>,
  { clock, run }: { readonly clock: Clock; readonly run: Pick<OperationRun, 'waitUntil'> },
): Promise<SettledController> {
  const look = async ({ isLate }: Look): Promise<SettledController | undefined> => {
    const live = await read();
    const isSettled = hasSeenLatest(live);
    return isSettled || isLate ? { live, isSettled } : undefined;
  };
  return await run.waitUntil('settled', look, {
    describe: () => 'the controller to see the change',
    deadlineMs: clock.now() + patienceMs,
    clock,
  });
}

/** The line that reports a server group whose controller did not see its change in time. */
export function describeUnsettled(serverGroup: string): string {
  return `The controller of ${serverGroup} has not seen the change in ${patienceMs / 1_000} seconds: pods that it makes meanwhile may be as they were.`;
}

function hasSeenLatest(live: Manifest): boolean {
  const { metadata, status } = asUnchecked<V1ReplicationController>(live);
  const { generation } = metadata ?? {};
  if (typeof generation !== 'number') return true;
  return typeof status?.observedGeneration === 'number' && status.observedGeneration >= generation;
}
