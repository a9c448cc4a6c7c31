import type { z } from 'zod';
import { InvalidInputError } from '#core/errors.ts';
import { defineOperation, inPhase } from '#provider-kit/operation-definition.ts';
import { objectField, parseWith, requireField, stringField, withDefault } from '#settings/coerce.ts';
import type { Manifest } from '../api/manifest.ts';
import { setNamespace } from '../manifest/expand.ts';
import { readCoordinates, readFullName, readKind } from '../manifest/identity.ts';
import { requireRecreate } from '../manifest/strategy.ts';
import {
  artifactList,
  type DeployDescription,
  deployField,
  listedManifestField,
} from './deploy/description.ts';
import { deployPhase, runDeploy } from './deploy-manifest.ts';
import { checkManifestComplete } from './incomplete-manifest.ts';
import { checkManifestUnmasked } from './secret-mask.ts';
import type { NamesByNamespace, OperationResult } from './steps/result.ts';
import { kubernetesV2, type OperationWork, type Validation } from './steps/v2-operation.ts';

const runJobField = objectField({
  application: withDefault(stringField(), '').describe('Application that the Job belongs to.'),
  namespace: withDefault(stringField(), '').describe("Namespace; empty for the manifest's own."),
  manifest: listedManifestField().describe('The Job.'),
  requiredArtifacts: artifactList.describe('Artifacts that must be bound, else nothing is run.'),
  optionalArtifacts: artifactList.describe('Artifacts that are bound where the Job refers to them.'),
});

/** A parsed description of `runJob`. */
type RunJobDescription = Exclude<z.output<typeof runJobField>, undefined>;

/** The result object of a run Job: Orca watches the Job that it names. */
interface RunJobResult extends OperationResult {
  readonly deployedNamesByLocation: NamesByNamespace;
}

/**
 * Runs a Job: deploys it in place of an earlier one of the same name. It does not wait for the Job's end; Orca does, with `GET
 * /applications/{application}/jobs/…`.
 */
export const runJob = defineOperation(kubernetesV2, {
  name: 'runJob',
  purpose: 'runs a Job, in place of an earlier one of its name',
  operationClass: 'KubernetesRunJobOperation',
  phase: 'RUN_KUBERNETES_JOB',
  context: 'runKubernetesJob',
  schema: runJobField,
  validate,
  run: runOnce,
});

async function runOnce(description: RunJobDescription, work: OperationWork): Promise<RunJobResult> {
  const jobs = listJobs(description);
  work.run.report(`Running ${jobs.map(readFullName).join()} of application ${description.application}`);
  const run = inPhase(work.run, deployPhase);
  const result = await runDeploy(toDeploy(description, jobs), { ...work, run });
  return { ...result, deployedNamesByLocation: result.manifestNamesByNamespace };
}

/** The manifest in the request's namespace, if it names one. `validate` refuses more than one. */
function listJobs({ manifest = [], namespace }: RunJobDescription): readonly Manifest[] {
  return namespace === '' ? manifest : manifest.map((job) => setNamespace(job, namespace));
}

/** An apply cannot change a Job that ran, so it is replaced by the new one. */
function toDeploy(
  { application, requiredArtifacts, optionalArtifacts }: RunJobDescription,
  jobs: readonly Manifest[],
): DeployDescription {
  const manifests = jobs.map(requireRecreate);
  const fields = { moniker: { app: application }, requiredArtifacts, optionalArtifacts };
  return { ...parseWith(requireField(deployField), {}, 'runJob'), ...fields, manifests };
}

function validate(description: RunJobDescription, validation: Validation): void {
  if (description.application === '') validation.reject('application', 'empty');
  const jobs = listJobs(description);
  if (jobs.length === 0) validation.reject('manifest', 'empty');
  validation.check(() => checkJob(jobs));
  validation.checkNamespace(description.namespace, 'namespace');
  for (const job of jobs) {
    validation.checkPlace(readCoordinates(job), 'manifest.metadata.namespace');
    validation.check(() => checkManifestUnmasked(job));
    validation.check(() => checkManifestComplete(job));
  }
}

/** @throws InvalidInputError for anything but one Job. */
function checkJob(manifests: readonly Manifest[]): void {
  const other = manifests.find((manifest) => readKind(manifest) !== 'job');
  if (other !== undefined)
    throw new InvalidInputError(`runJob: manifest: expected a Job, got ${readFullName(other)}`);
  if (manifests.length > 1)
    throw new InvalidInputError(`runJob: manifest: expected one Job, got ${manifests.length}`);
}
