import { getPauseMs } from '#core/back-off.ts';
import { FailedOperationError } from '#core/errors.ts';
import { isResourceNotServed, KubernetesApiError } from '../../api/errors.ts';
import type { Manifest } from '../../api/manifest.ts';
import { applyManifest } from '../../apply/apply.ts';
import { retryWrite } from '../../apply/retry-write.ts';
import { type RetriedWriteOptions, resolveTarget } from '../../apply/target.ts';
import { createManifest, replaceManifest } from '../../apply/write.ts';
import { readTrace, type SubmissionState } from '../../apply/write-trace.ts';
import { readAnnotations } from '../../manifest/annotations.ts';
import { readCoordinates } from '../../manifest/identity.ts';
import { deleteObjects, readUid } from '../steps/deletion.ts';
import { describeObject, explainFailure } from '../steps/failure.ts';
import { maskObject } from '../steps/result.ts';
import type { OperationWork } from '../steps/v2-operation.ts';
import type { DeployPlan } from './open-plan.ts';
import type { PlannedManifest } from './plan.ts';
import { checkVersionOurs, isVersion, VersionTakenError, writeVersion } from './version-write.ts';

/** A new kind that is not served by then will not be. Starved or numerous API servers take long to pick up definitions. */
const servedWithinMs = 30_000;
const repeatPauseMs = 100;

/** How often other deploys may take the number that this one chose. Each time one of them has made progress. */
const attemptsMax = 50;
/** The deploy that lost a race chooses again after a random time. */
const backOff = { firstMs: 50, mostMs: 1_000 };

/** How the manifest at a place is submitted. */
export interface SubmitOptions {
  readonly work: OperationWork;
  /** Nothing is recorded for the last one: it would be stored together with the operation's own result. */
  readonly isLast: boolean;
  /** True if an earlier manifest of the same deploy defines its kind. */
  readonly isKindNew: boolean;
  /** Reads the live object of a manifest to be applied. */
  firstLook(): Promise<Manifest | undefined>;
}

/** A written object, and a word for the outcome. */
interface Written {
  readonly object: Manifest;
  readonly outcome: string;
  readonly warnings?: readonly string[];
}

/**
 * Submits the manifest at a place of a plan. A version whose number was taken meanwhile gets the next one, and later manifests are bound to
 * that. Each choice is stored before it is used, so that a repeat sends the same.
 *
 * @throws FailedOperationError like `submitManifest`, and after 50 numbers that others took.
 */
export async function submitAt(plan: DeployPlan, place: number, options: SubmitOptions): Promise<Manifest> {
  const { work } = options;
  for (let attempt = 0; attempt <= attemptsMax; attempt += 1) {
    if (await plan.recall(place, attempt)) continue;
    const planned = plan.planned[place] as PlannedManifest;
    const key = attempt === 0 ? String(place) : `${place}/${attempt}`;
    const object = await submitUnlessTaken(planned, key, options);
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
  planned: PlannedManifest,
  key: string,
  options: SubmitOptions,
): Promise<Manifest | VersionTakenError> {
  try {
    return await submitManifest(planned, key, options);
  } catch (error) {
    if (error instanceof VersionTakenError) return error;
    throw error;
  }
}

/** Keeps deploys that collided at one number from colliding at the next. */
async function pause(attempt: number, { session, run }: OperationWork): Promise<void> {
  await session.clock.sleep(getPauseMs(backOff, attempt + 1, session.randomness), run.signal);
}

/**
 * Submits a planned manifest to the cluster, by the method that its annotations ask for, and returns the object in the form for task
 * results. With any method, a repeated run does not write again what an earlier one wrote.
 *
 * @param key names the manifest in the journal.
 * @throws FailedOperationError naming the manifest, with the API server's words; VersionTakenError if another client has used the number of
 *   its version since it was chosen.
 */
async function submitManifest(
  planned: PlannedManifest,
  key: string,
  { work, isLast, isKindNew, firstLook }: SubmitOptions,
): Promise<Manifest> {
  const attempt = <T>(act: () => Promise<T>): Promise<T> => (isKindNew ? untilServed(work, act) : act());
  work.run.report(`Submitting ${planned.fullName}`);
  return explainFailure(`Deploying ${describeObject(readCoordinates(planned.manifest))}`, async () => {
    const snapshot = await attempt(() => snapshotLive(work, planned, key));
    const submit = async (): Promise<Manifest> => {
      if (snapshot.predecessor !== undefined) await removePredecessor(work, planned, snapshot.predecessor);
      const write = () => writeManifest(work, planned, { ...snapshot, firstLook });
      const { object, outcome, warnings = [] } = await attempt(write);
      for (const warning of warnings) work.run.report(`Warning about ${planned.fullName}: ${warning}`);
      work.run.report(`${planned.fullName}: ${outcome}`);
      return maskObject(object, work.account.kindRegistry);
    };
    return isLast ? await submit() : await work.run.step(`manifest/${key}`, submit);
  });
}

/** Retries: it takes a moment until each of the API servers behind one address serves a new kind. */
async function untilServed<T>({ session, run }: OperationWork, act: () => Promise<T>): Promise<T> {
  const { clock } = session;
  const deadlineMs = clock.monotonic() + servedWithinMs;
  for (;;) {
    try {
      return await act();
    } catch (error) {
      if (!isResourceNotServed(error) || clock.monotonic() >= deadlineMs) throw error;
    }
    await clock.sleep(repeatPauseMs, run.signal);
  }
}

/** The state before a manifest is written, so that a repeat can distinguish it from what was written. */
interface LiveSnapshot extends SubmissionState {
  /** The object to delete first; undefined if there is none. */
  readonly predecessor?: Predecessor | undefined;
}

type Predecessor = { readonly uid: string; readonly decidedAtMs: number };

/** Reads, once, the existing object of the manifest's name, as far as its method needs it. */
async function snapshotLive(
  work: OperationWork,
  planned: PlannedManifest,
  key: string,
): Promise<LiveSnapshot> {
  const { manifest, strategy } = planned;
  const { method } = strategy;
  if (method === 'apply' || method === 'create') return {};
  const { client, run, session } = work;
  const target = await resolveTarget(client, manifest, await getWriteOptions(work));
  const { ref } = target;
  const getLive = () => client.get(ref, { signal: run.signal });
  if (method === 'recreate') {
    const found = await run.decide(`predecessor/${key}`, async () => {
      const live = await getLive();
      if (isVersion(planned) && live !== undefined) {
        await checkVersionOurs(client, { planned, target, live }, { signal: run.signal });
      }
      return { uid: readUid(live) ?? '', decidedAtMs: session.clock.now() };
    });
    return found.uid === '' ? {} : { predecessor: found };
  }
  // What it is a version of shows whether an earlier try wrote it.
  if (isVersion(planned)) return {};
  let isRepeat = true;
  const before = await run.decide(`before/${key}`, async () => {
    isRepeat = false;
    return readTrace(await getLive());
  });
  return { before, isRepeat };
}

async function writeManifest(
  work: OperationWork,
  planned: PlannedManifest,
  { firstLook, before, isRepeat }: SubmissionState & Pick<SubmitOptions, 'firstLook'>,
): Promise<Written> {
  const { client } = work;
  const { manifest, strategy } = planned;
  const { method } = strategy;
  if (isVersion(planned)) {
    return writeVersion(client, planned, { ...(await getWriteOptions(work)), firstLook });
  }
  const options = { ...(await getWriteOptions(work)), before, isRepeat };
  if (method === 'create') return createOnce(work, manifest, options);
  if (method === 'replace') {
    return { object: await replaceManifest(client, manifest, options), outcome: 'replaced' };
  }
  if (method === 'apply') return applyManifest(client, manifest, { ...options, firstLook });
  if (method === 'recreate') return applyManifest(client, manifest, options);
  const serverSide = strategy.forceConflicts ? 'force-conflicts' : true;
  return applyManifest(client, manifest, { ...options, serverSide });
}

async function getWriteOptions({ client, run, session }: OperationWork): Promise<RetriedWriteOptions> {
  const { signal } = run;
  const { clock } = session;
  return { signal, clock, namespace: await client.getDefaultNamespace({ signal }) };
}

/** Creates an object under the chosen name, unless an earlier try did. */
async function createOnce(
  { client }: OperationWork,
  manifest: Manifest,
  options: RetriedWriteOptions,
): Promise<Written> {
  const { signal, clock } = options;
  const object = await retryWrite({
    async look(retry) {
      if (retry === 0) return undefined;
      const { ref } = await resolveTarget(client, manifest, options);
      const live = await client.get(ref, { signal });
      return live !== undefined && carriesAnnotations(live, manifest) ? live : undefined;
    },
    write: async (created) => created ?? (await createManifest(client, manifest, options)),
    isLostRace: (error) => error instanceof KubernetesApiError && error.reason === 'AlreadyExists',
    signal,
    clock,
  });
  return { object, outcome: 'created' };
}

/** Whether a live object was created from a manifest, as far as its annotations show. */
function carriesAnnotations(live: Manifest, manifest: Manifest): boolean {
  const present = readAnnotations(live);
  return Object.entries(readAnnotations(manifest)).every(([key, value]) => present[key] === value);
}

/** Deletes the object of the manifest's name, so that it can be created again. Which object that is was decided once. */
async function removePredecessor(
  work: OperationWork,
  { manifest, fullName }: PlannedManifest,
  predecessor: Predecessor,
): Promise<void> {
  const { ref } = await resolveTarget(work.client, manifest, await getWriteOptions(work));
  work.run.report(`Deleting ${fullName}, to be made anew`);
  await deleteObjects(work, [{ ref, fullName, ...predecessor }]);
}
