import { FailedOperationError, InvalidInputError } from '#core/errors.ts';
import type { Artifact } from '#provider-kit/artifact.ts';
import { defineOperation } from '#provider-kit/operation-definition.ts';
import type { Manifest } from '../api/manifest.ts';
import { readLabels } from '../manifest/annotations.ts';
import { checkArtifactsBound, findArtifacts } from '../manifest/artifacts.ts';
import { overrideNamespace } from '../manifest/expand.ts';
import { readCoordinates, readFullName, readGenerateName, readName } from '../manifest/identity.ts';
import { describeTexts, writeMetadataTexts } from '../manifest/metadata-texts.ts';
import { sortForDeploy } from '../manifest/order.ts';
import { checkReadinessRules } from '../manifest/readiness.ts';
import { matchesSelectors } from '../manifest/selectors.ts';
import { checkVersionHistory } from '../manifest/strategy.ts';
import { parseLoadBalancers } from '../manifest/traffic.ts';
import { type DeployDescription, deployField, findManifests } from './deploy/description.ts';
import { type DeployPlan, openPlan } from './deploy/open-plan.ts';
import {
  checkPlaces,
  findDefinition,
  indexDefinitions,
  isNamespacedByTable,
  readScopes,
} from './deploy/places.ts';
import {
  canReceiveTraffic,
  type DeployRequest,
  type DeploySubject,
  type PlannedManifest,
  toSubject,
} from './deploy/plan.ts';
import { createReadAhead } from './deploy/read-ahead.ts';
import { submitAt } from './deploy/submit.ts';
import { checkManifestComplete } from './incomplete-manifest.ts';
import { checkManifestUnmasked } from './secret-mask.ts';
import { groupNames, type OperationResult, toOperationResult } from './steps/result.ts';
import { kubernetesV2, type OperationWork, type Validation } from './steps/v2-operation.ts';

/** Tag of a deploy's lines in the history of a task. */
export const deployPhase = 'DEPLOY_KUBERNETES_MANIFEST';

/** Deploys manifests: binds artifacts, chooses versions, annotates, and applies each in order. */
export const deployManifest = defineOperation(kubernetesV2, {
  name: 'deployManifest',
  purpose: 'creates or changes objects',
  hasDryRun: true,
  operationClass: 'KubernetesDeployManifestOperation',
  phase: deployPhase,
  context: 'deployKubernetesManifest',
  schema: deployField,
  validate,
  run: runDeploy,
});

/**
 * Deploys a description's manifests. The journal gets one decision if there is anything to decide, and a step for each manifest but the
 * last.
 *
 * @throws InvalidInputError before anything is submitted, FailedOperationError naming the manifest that failed.
 */
export async function runDeploy(
  description: DeployDescription,
  work: OperationWork,
): Promise<OperationResult> {
  const { run, account, session } = work;
  run.report(`Beginning the deployment to account ${account.name}`);
  const manifests = await prepareManifests(description, work);
  const request: DeployRequest = { description, manifests, account, settings: session.settings };
  run.report(`Order of deployment: ${manifests.map(readFullName).join(', ') || 'nothing to deploy'}`);
  const plan = await openPlan(request, work);
  plan.report();
  if (description.enableArtifactBinding) {
    run.report('Checking that each required artifact was bound');
    const listReferences = () => plan.planned.flatMap(({ manifest, kind }) => findArtifacts(manifest, kind));
    checkArtifactsBound(description.requiredArtifacts, listBound(plan), listReferences);
  }
  const objects = await submitAll(plan, description, work);
  run.report(`Deployed ${objects.length} of ${manifests.length} manifests`);
  const created = plan.planned.map(({ artifact }) => artifact);
  const bound = listBound(plan);
  return toOperationResult({ names: groupNames(objects), objects, created, bound });
}

/** Reports what is wrong as far as that is known without a call. */
function validate(description: DeployDescription, validation: Validation): void {
  if (description.moniker === undefined) validation.reject('moniker', 'empty');
  else if (!description.moniker.app) validation.reject('moniker.app', 'empty');
  const manifests = findManifests(description);
  if (manifests === undefined) validation.reject('manifests', 'empty');
  else validateManifests(manifests, description, validation);
}

function validateManifests(
  given: readonly Manifest[],
  description: DeployDescription,
  validation: Validation,
): void {
  const { kindRegistry } = validation.account;
  const manifests = overrideNamespace(given, description.namespaceOverride, (manifest) =>
    isNamespacedByTable(manifest, kindRegistry),
  );
  validation.checkNamespace(description.namespaceOverride.trim(), 'namespaceOverride');
  const subjects = manifests.map((manifest) => toSubject(manifest, kindRegistry));
  for (const [index, subject] of subjects.entries()) {
    const { manifest } = subject;
    const name = readName(manifest) || (readGenerateName(manifest) ?? '');
    validation.checkPlace({ ...readCoordinates(manifest), name }, `manifests[${index}].metadata.namespace`);
    validation.check(() => checkVersionHistory(manifest, description.strategy));
    validation.check(() => checkReadinessRules(manifest));
    validation.check(() => checkManifestUnmasked(manifest));
    validation.check(() => checkManifestComplete(manifest));
    if (canReceiveTraffic(subject)) validation.check(() => void parseLoadBalancers(manifest));
  }
  validation.check(() => sortForDeploy(manifests, kindRegistry));
  validation.check(() => checkSelectable(subjects, description));
}

/** @throws InvalidInputError for manifests with the method `replace` in a deploy that selects by labels: a replace cannot select. */
function checkSelectable(subjects: readonly DeploySubject[], { labelSelectors }: DeployDescription): void {
  if (labelSelectors.length === 0) return;
  const replaced = subjects.filter(({ strategy }) => strategy.method === 'replace');
  if (replaced.length === 0) return;
  const names = replaced.map(({ manifest }) => readFullName(manifest)).join(', ');
  throw new InvalidInputError(
    `labelSelectors cannot be used with the strategy replace, which is that of ${names}`,
  );
}

/** The manifests in order of deployment, in the request's namespace if it names one. */
async function prepareManifests(description: DeployDescription, work: OperationWork): Promise<Manifest[]> {
  const given = (findManifests(description) ?? []).map((manifest) => writeTexts(manifest, work.run));
  const { namespaceOverride: namespace } = description;
  const isNamespaced = namespace.trim() === '' ? () => false : await readScopes(given, work);
  const manifests = overrideNamespace(given, namespace, isNamespaced);
  await checkPlaces(manifests, work);
  return sortForDeploy(manifests, work.account.kindRegistry);
}

/** The manifest with annotations and labels that are numbers or booleans as texts. The history lists them. */
function writeTexts(manifest: Manifest, run: OperationWork['run']): Manifest {
  const { manifest: written, changed } = writeMetadataTexts(manifest);
  if (changed.length > 0) run.report(`Warning about ${readFullName(manifest)}: ${describeTexts(changed)}`);
  return written;
}

/** The artifacts that are bound, each once. */
function listBound({ planned }: DeployPlan): Artifact[] {
  return [...new Set(planned.flatMap((each) => each.bound))];
}

/**
 * Submits one manifest after the other; the first failure ends it.
 *
 * @throws FailedOperationError if the labels select none and the description does not allow that.
 */
async function submitAll(
  plan: DeployPlan,
  { labelSelectors, allowNothingSelected }: DeployDescription,
  work: OperationWork,
): Promise<Manifest[]> {
  const objects: Manifest[] = [];
  const definitions = indexDefinitions(plan.planned.map(({ manifest }) => manifest));
  const readAhead = createReadAhead(() => plan.planned, work);
  for (let index = 0; index < plan.planned.length; index += 1) {
    const each = plan.planned[index] as PlannedManifest;
    if (!matchesSelectors(labelSelectors, readLabels(each.manifest))) {
      work.run.report(`Left out ${each.fullName}: the labels do not select it`);
      continue;
    }
    const isLast = index === plan.planned.length - 1;
    const isKindNew = findDefinition(definitions, each.manifest) !== undefined;
    const firstLook = () => readAhead(index);
    objects.push(await submitAt(plan, index, { work, isLast, isKindNew, firstLook }));
  }
  if (objects.length === 0 && labelSelectors.length > 0 && !allowNothingSelected) {
    throw new FailedOperationError(
      'Nothing was deployed: labelSelectors select none of the manifests, and allowNothingSelected is not set',
    );
  }
  return objects;
}
