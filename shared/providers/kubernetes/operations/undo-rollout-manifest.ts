import type { V1Deployment } from '@kubernetes/client-node';
import type { z } from 'zod';
import { FailedOperationError } from '#core/errors.ts';
import { defineOperation } from '#provider-kit/operation-definition.ts';
import { intField, objectField } from '#settings/coerce.ts';
import { KubernetesApiError } from '../api/errors.ts';
import type { Manifest } from '../api/manifest.ts';
import { asUnchecked } from '../api/unchecked.ts';
import { type Coordinates, readName } from '../manifest/identity.ts';
import { patchSame } from './patches.ts';
import {
  chooseRevision,
  createUndoPatch,
  getRevisionRef,
  hasTemplateOf,
  listRevisions,
} from './rollout-history.ts';
import { readUid } from './steps/deletion.ts';
import { describeObject, explainFailure } from './steps/failure.ts';
import { getLiveTarget, getTargetRef, readTarget, targetShape, validateTarget } from './steps/target.ts';
import { kubernetesV2, type OperationWork, type Validation } from './steps/v2-operation.ts';

const undoField = objectField({
  ...targetShape,
  revision: intField({ min: 0 }).describe(
    'Number of the revision to go back to; 0 is the one before the newest. This or `numRevisionsBack` is required.',
  ),
  numRevisionsBack: intField({ min: 0 }).describe(
    'How many revisions to go back from the newest. It counts more than `revision`.',
  ),
});

/** A parsed description of `undoRolloutManifest`. */
type UndoDescription = Exclude<z.output<typeof undoField>, undefined>;

/** A workload, and the record of the state to restore. */
interface Restoration {
  readonly live: Manifest;
  readonly record: Manifest;
}

/** The choice as the journal keeps it. A number is not enough: a restored revision gets a new one. */
type ChosenRevision = { readonly uid: string; readonly number: number; readonly recordName: string };

/** How often the workload is read again because it changed in between. */
const maxRetries = 5;

/** Restores a workload's pod template of an earlier revision, as `kubectl rollout undo` does. */
export const undoRolloutManifest = defineOperation(kubernetesV2, {
  name: 'undoRolloutManifest',
  purpose: 'goes back to an earlier revision',
  operationClass: 'KubernetesUndoRolloutManifestOperation',
  phase: 'UNDO_ROLLOUT_KUBERNETES_MANIFEST',
  context: 'undoRolloutKubernetesManifest',
  schema: undoField,
  validate,
  run: runUndo,
});

function validate(description: UndoDescription, validation: Validation): void {
  validateTarget(description, validation, 'undoRollout');
  const { revision, numRevisionsBack } = description;
  if (revision === undefined && numRevisionsBack === undefined) validation.reject('revision', 'empty');
}

async function runUndo(description: UndoDescription, work: OperationWork): Promise<undefined> {
  const { run } = work;
  const target = readTarget(description);
  const what = describeObject(target);
  run.report(`Undoing the rollout of ${what}`);
  await explainFailure(`Undoing the rollout of ${what}`, async () => {
    let found: Restoration | undefined;
    const chosen = await run.decide('revision', async () => {
      const live = await getLiveTarget(target, work);
      const { number, record } = chooseRevision(await listRevisions(live, work), description);
      found = { live, record };
      return { uid: readUid(live) ?? '', number, recordName: readName(record) };
    });
    run.report(`Going back to revision ${chosen.number}`);
    const restoration = found ?? (await findChosen(target, chosen, work));
    const isDone = await restore({ ...restoration, uid: chosen.uid }, target, work);
    run.report(
      isDone ? `Undid the rollout of ${what}` : `${what} is as in revision ${chosen.number} already`,
    );
  });
  return undefined;
}

/** The revision that an earlier run chose. @throws FailedOperationError if it is gone. */
async function findChosen(
  target: Coordinates,
  { number, recordName }: ChosenRevision,
  work: OperationWork,
): Promise<Restoration> {
  const live = await getLiveTarget(target, work);
  const ref = await getRevisionRef(live, recordName, work);
  const record = await work.client.get(ref, { signal: work.run.signal });
  if (record !== undefined) return { live, record };
  throw new FailedOperationError(`revision ${number} was there, but ${recordName} is gone from the history`);
}

/**
 * Restores the recorded state.
 *
 * @returns false if the workload already has it
 * @throws FailedOperationError for a paused Deployment, as kubectl does
 */
async function restore(
  { live: first, record, uid }: Restoration & { readonly uid: string },
  target: Coordinates,
  work: OperationWork,
): Promise<boolean> {
  const ref = await getTargetRef(target, work);
  let live = first;
  for (let retry = 0; ; retry++) {
    if (asUnchecked<V1Deployment>(live).spec?.paused === true) {
      throw new FailedOperationError('it is paused: resume its rollout first');
    }
    if (hasTemplateOf(live, record)) return false;
    const body = createUndoPatch(live, record);
    try {
      await patchSame(ref, { type: 'strategic', fieldManager: 'kubectl', uid, body }, work);
      return true;
    } catch (error) {
      if (retry === maxRetries || !isConflict(error)) throw error;
    }
    live = await getLiveTarget(target, work);
  }
}

function isConflict(error: unknown): boolean {
  return error instanceof KubernetesApiError && error.reason === 'Conflict';
}
