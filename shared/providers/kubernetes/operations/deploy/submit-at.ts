import { getPauseMs } from '#core/back-off.ts';
import { FailedOperationError } from '#core/errors.ts';
import type { Manifest } from '../../api/manifest.ts';
import type { OperationWork } from '../steps/operation-definition.ts';
import type { DeployPlan } from './open-plan.ts';
import type { PlannedManifest } from './plan.ts';
import { type SubmitOptions, submitManifest } from './submit.ts';
import { VersionTakenError } from './version-write.ts';

/** How often other deploys may take the number that this one chose. Each time one of them has made progress. */
const attemptsMax = 50;
/** The deploy that lost a race chooses again after a random time. */
const backOff = { firstMs: 50, mostMs: 1_000 };

/** How the manifest at a place is submitted. */
export interface SubmitAtOptions extends Omit<SubmitOptions, 'key'> {
  readonly work: OperationWork;
}

/**
 * Submits the manifest at a place of a plan. A version whose number was taken meanwhile gets the next one, and later manifests are bound to
 * that. Each choice is stored before it is used, so that a repeat sends the same.
 *
 * @throws FailedOperationError like `submitManifest`, and after 50 numbers that others took.
 */
export async function submitAt(plan: DeployPlan, place: number, options: SubmitAtOptions): Promise<Manifest> {
  const { work, ...how } = options;
  for (let attempt = 0; attempt <= attemptsMax; attempt += 1) {
    if (await plan.recall(place, attempt)) continue;
    const planned = plan.planned[place] as PlannedManifest;
    const key = attempt === 0 ? String(place) : `${place}/${attempt}`;
    const object = await submitUnlessTaken(work, planned, { ...how, key });
    if (!(object instanceof VersionTakenError)) return object;
    work.run.report(`${object.message}: taking the next version`);
    await pause(attempt, work);
    await plan.chooseAgain(place, attempt);
  }
  throw new FailedOperationError(
    `Deploying ${plan.planned[place]?.fullName} failed: other deploys took its version ${attemptsMax} times in a row`,
  );
}

/** Returns the error if the existing object is not ours. */
async function submitUnlessTaken(
  work: OperationWork,
  planned: PlannedManifest,
  options: SubmitOptions,
): Promise<Manifest | VersionTakenError> {
  try {
    return await submitManifest(work, planned, options);
  } catch (error) {
    if (error instanceof VersionTakenError) return error;
    throw error;
  }
}

/** Keeps deploys that collided at one number from colliding at the next. */
async function pause(attempt: number, { session, run }: OperationWork): Promise<void> {
  await session.clock.sleep(getPauseMs(backOff, attempt + 1, session.randomness), run.signal);
}
