import { applyManifest } from '../../apply/apply.ts';
import { resolveTarget, type WriteManifestOptions } from '../../apply/target.ts';
import { createManifest, replaceManifest } from '../../apply/write.ts';
import { isTransientFailure } from '../../client/connection-failure.ts';
import { isResourceNotServed, KubernetesApiError, KubernetesConnectionError } from '../../client/errors.ts';
import { readAnnotations } from '../../manifest/annotations.ts';
import { readCoordinates } from '../../manifest/identity.ts';
import type { Manifest } from '../../manifest/manifest.ts';
import { readStrategy } from '../../manifest/strategy.ts';
import { deleteObject, readUid } from '../deletion.ts';
import { describeObject, explainFailure } from '../failure.ts';
import type { OperationWork } from '../operation-definition.ts';
import { maskObject } from '../result.ts';
import type { PlannedManifest } from './plan.ts';

/** A new kind that is not served by then will not be. */
const servedWithinMs = 10_000;
const repeatPauseMs = 100;

/** How a manifest is submitted, and remembered. */
export interface SubmitOptions {
  /** Names the manifest in the journal. */
  readonly key: string;
  /** Nothing is remembered about the last one: it would be stored together with the operation's own result. */
  readonly isLast: boolean;
  /** Its kind is defined by an earlier manifest of the same deploy. */
  readonly isKindNew: boolean;
}

/** A written object, and what became of it in a word. */
interface Written {
  readonly object: Manifest;
  readonly outcome: string;
  readonly warnings?: readonly string[];
}

/**
 * Brings a planned manifest into the cluster, by the method that its annotations ask for, and answers the object as task
 * results may hold it.
 *
 * @throws FailedOperationError naming the manifest, with the API server's words.
 */
export async function submitManifest(
  work: OperationWork,
  planned: PlannedManifest,
  { key, isLast, isKindNew }: SubmitOptions,
): Promise<Manifest> {
  const submit = async (): Promise<Manifest> => {
    const { object, outcome, warnings = [] } = await writeSurely(work, planned, isKindNew);
    for (const warning of warnings) work.run.report(`Warning about ${planned.fullName}: ${warning}`);
    work.run.report(`${planned.fullName}: ${outcome}`);
    return maskObject(object, work.account.kindRegistry);
  };
  work.run.report(`Submitting ${planned.fullName}`);
  return explainFailure(`Deploying ${describeObject(readCoordinates(planned.manifest))}`, async () => {
    if (planned.method === 'recreate') await removePredecessor(work, planned, key);
    return isLast ? await submit() : await work.run.step(`manifest/${key}`, submit);
  });
}

/**
 * Writes again where that may help: every way of writing finds what an earlier attempt left. A kind just defined takes a
 * moment until each of the API servers behind one address serves it; a broken connection may have swallowed an answer.
 */
async function writeSurely(
  work: OperationWork,
  planned: PlannedManifest,
  isKindNew: boolean,
): Promise<Written> {
  const { clock } = work.session;
  const deadlineMs = clock.monotonic() + servedWithinMs;
  for (let tries = 1; ; tries += 1) {
    try {
      return await writeManifest(work, planned);
    } catch (error) {
      const isAwaited = isKindNew && isResourceNotServed(error) && clock.monotonic() < deadlineMs;
      if (!isAwaited && !(tries === 1 && isConnectionBroken(error))) throw error;
    }
    await clock.sleep(repeatPauseMs, work.run.signal);
  }
}

function isConnectionBroken(error: unknown): boolean {
  return (
    error instanceof KubernetesConnectionError &&
    error.cause instanceof Error &&
    isTransientFailure(error.cause)
  );
}

async function writeManifest(work: OperationWork, planned: PlannedManifest): Promise<Written> {
  const { client } = work;
  const { manifest, method } = planned;
  const options = await getWriteOptions(work);
  if (method === 'create') return createOnce(work, manifest, options);
  if (method === 'replace') {
    return { object: await replaceManifest(client, manifest, options), outcome: 'replaced' };
  }
  if (method !== 'serverSideApply') return applyManifest(client, manifest, options);
  const serverSide = readStrategy(manifest).forceConflicts ? 'force-conflicts' : true;
  return applyManifest(client, manifest, { ...options, serverSide });
}

async function getWriteOptions({ client, run }: OperationWork): Promise<WriteManifestOptions> {
  const { signal } = run;
  return { signal, namespace: await client.getDefaultNamespace({ signal }) };
}

/** Creates an object under the name that was decided for it, unless an earlier run did. */
async function createOnce(
  { client }: OperationWork,
  manifest: Manifest,
  options: WriteManifestOptions,
): Promise<Written> {
  try {
    return { object: await createManifest(client, manifest, options), outcome: 'created' };
  } catch (error) {
    if (!(error instanceof KubernetesApiError) || error.reason !== 'AlreadyExists') throw error;
    const { ref } = await resolveTarget(client, manifest, options);
    const live = await client.get(ref, { signal: options.signal });
    if (live === undefined || !carriesAnnotations(live, manifest)) throw error;
    return { object: live, outcome: 'created' };
  }
}

/** Whether a live object is what was made of a manifest, as far as its annotations tell. */
function carriesAnnotations(live: Manifest, manifest: Manifest): boolean {
  const present = readAnnotations(live);
  return Object.entries(readAnnotations(manifest)).every(([key, value]) => present[key] === value);
}

/** Deletes what has the manifest's name, so that it is made anew. What that is, is decided once. */
async function removePredecessor(work: OperationWork, planned: PlannedManifest, key: string): Promise<void> {
  const { client, run, session } = work;
  const { ref } = await resolveTarget(client, planned.manifest, await getWriteOptions(work));
  const found = await run.decide(`predecessor/${key}`, async () => {
    const uid = readUid(await client.get(ref, { signal: run.signal }));
    return { uid: uid ?? '', decidedAtMs: session.clock.now() };
  });
  if (found.uid === '') return;
  run.report(`Deleting ${planned.fullName}, to be made anew`);
  await deleteObject(work, { ref, fullName: planned.fullName, ...found });
}
