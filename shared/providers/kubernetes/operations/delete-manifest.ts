import type { z } from 'zod';
import { FailedOperationError, InvalidInputError } from '#core/errors.ts';
import { defineOperation } from '#provider-kit/operation-definition.ts';
import { objectField, stringListField, stringMapField, withDefault } from '#settings/coerce.ts';
import type { DeleteRequest } from '../api/client.ts';
import type { Manifest } from '../api/manifest.ts';
import { findKindProblem } from '../api/names.ts';
import { formatFullName, parseKind } from '../kinds/name.ts';
import { readLabels } from '../manifest/annotations.ts';
import { readName, readNamespace } from '../manifest/identity.ts';
import { formatSelectors, labelSelectorsField, matchesSelectors } from '../manifest/selectors.ts';
import { type DeletionPlan, deletePlanned, readUid } from './steps/deletion.ts';
import { describeObject, explainFailure } from './steps/failure.ts';
import { toOperationResult } from './steps/result.ts';
import { getTargetRef, readTarget, targetShape, validateTarget } from './steps/target.ts';
import { kubernetesV2, type OperationWork, type Validation } from './steps/v2-operation.ts';

const deleteField = objectField({
  ...targetShape,
  kinds: withDefault(stringListField(), []).describe(
    'Counts where there is no `manifestName`: all objects of these kinds that the labels select.',
  ),
  labelSelectors: labelSelectorsField().describe('Only objects with these labels are deleted.'),
  options: withDefault(stringMapField(), {}).describe(
    '`cascading` (true, false, background, foreground, orphan), `orphanDependents`, `gracePeriodSeconds`.',
  ),
});

/** A parsed description of `deleteManifest`. */
type DeleteDescription = Exclude<z.output<typeof deleteField>, undefined>;

/**
 * Deletes one object, or the objects of some kinds that labels select, and waits until they are really gone. Missing objects are no error.
 */
export const deleteManifest = defineOperation(kubernetesV2, {
  name: 'deleteManifest',
  purpose: 'deletes one object, or those that labels select, and waits until they are gone',
  hasDryRun: true,
  operationClass: 'KubernetesDeleteManifestOperation',
  phase: 'DELETE_KUBERNETES_MANIFEST',
  context: 'deleteKubernetesManifest',
  schema: deleteField,
  validate,
  run: runDelete,
});

async function runDelete(description: DeleteDescription, work: OperationWork): Promise<object> {
  const { run } = work;
  const { location } = description;
  const options = parseDeleteOptions(description.options);
  const what = describeTargets(description);
  run.report(`Beginning to delete ${what}`);
  return explainFailure(`Deleting ${what}`, async () => {
    const plan = await run.decide('targets', () => decideTargets(description, work));
    const { objects } = plan;
    if (objects.length === 0) run.report('There is nothing to delete');
    for (const target of objects) run.report(`Deleting ${describeObject(target)}`);
    await deletePlanned(plan, work, options);
    run.report(`Deleted ${objects.length} objects`);
    const names = objects.map(({ kind, name }) => formatFullName(kind, name));
    return toOperationResult({ names: { [location]: names } });
  });
}

async function decideTargets(description: DeleteDescription, work: OperationWork): Promise<DeletionPlan> {
  const lists = isNamed(description)
    ? [await findNamed(description, work)]
    : await Promise.all(listKinds(description).map((kind) => listSelected(kind, description, work)));
  return { decidedAtMs: work.session.clock.now(), objects: lists.flat() };
}

/** The object of that name, if it exists and the labels select it. */
async function findNamed(
  description: DeleteDescription,
  work: OperationWork,
): Promise<DeletionPlan['objects']> {
  const target = readTarget(description);
  const ref = await getTargetRef(target, work);
  const live = await work.client.get(ref, { signal: work.run.signal });
  if (live === undefined || !matchesSelectors(description.labelSelectors, readLabels(live))) return [];
  return [toTarget(live, target.kind)];
}

/** The objects of a kind that the labels select. */
async function listSelected(
  kind: string,
  { location, labelSelectors }: DeleteDescription,
  { client, run }: OperationWork,
): Promise<DeletionPlan['objects']> {
  const { signal } = run;
  const resource = await client.getResourceOfKind(kind, { signal });
  const namespace = location || (await client.getDefaultNamespace({ signal }));
  const labelSelector = formatSelectors(labelSelectors);
  const objects = await client.list({ resource, namespace, labelSelector, metadataOnly: true }, { signal });
  return objects.map((object) => toTarget(object, kind));
}

function toTarget(object: Manifest, kind: string): DeletionPlan['objects'][number] {
  return { kind, namespace: readNamespace(object), name: readName(object), uid: readUid(object) ?? '' };
}

function describeTargets(description: DeleteDescription): string {
  if (isNamed(description)) return describeObject(readTarget(description));
  const { labelSelectors, location } = description;
  const kinds = listKinds(description).join(', ');
  const where = location === '' ? '' : ` in namespace ${location}`;
  return `objects of the kinds ${kinds}${where} with the labels ${formatSelectors(labelSelectors)}`;
}

/** Each kind once, in any spelling. */
function listKinds({ kinds }: DeleteDescription): string[] {
  return [...new Set(kinds.map(parseKind))];
}

function isNamed({ manifestName }: DeleteDescription): boolean {
  return manifestName !== '';
}

function validate(description: DeleteDescription, validation: Validation): void {
  if (isNamed(description)) validateTarget(description, validation);
  else validateSelection(description, validation);
}

function validateSelection(description: DeleteDescription, validation: Validation): void {
  const { location } = description;
  validation.checkNamespace(location, 'location');
  for (const [index, kind] of description.kinds.entries()) {
    const problem = findKindProblem(kind);
    validation.check(() => {
      if (problem !== undefined) throw new InvalidInputError(`deleteManifest: kinds[${index}]: ${problem}`);
    });
    // The selected objects' namespaces are not known yet: the list leaves out those that the account may not use.
    validation.checkPlace({ kind: parseKind(kind), namespace: location, name: '' }, 'location');
  }
  if (description.kinds.length === 0) validation.reject('kinds', 'empty');
  // Without a selection this would be all objects of the kind.
  if (formatSelectors(description.labelSelectors) === '') validation.reject('labelSelectors', 'empty');
}

/**
 * Options of a delete under Deck's names. `orphanDependents`, which Deck also misspells, wins over `cascading`. As in Clouddriver, a grace
 * period that is not a number is ignored; 0 becomes 1, since only force deletes at once.
 *
 * @throws FailedOperationError for a `cascading` that Kubernetes does not know: the task fails, as in Clouddriver.
 */
function parseDeleteOptions(
  options: Readonly<Record<string, string>>,
): Pick<DeleteRequest, 'propagationPolicy' | 'gracePeriodSeconds'> {
  const seconds = options['gracePeriodSeconds']?.trim() ?? '';
  return {
    propagationPolicy: parsePropagation(options),
    ...(/^\d{1,9}$/.test(seconds) && { gracePeriodSeconds: Math.max(1, Number(seconds)) }),
  };
}

function parsePropagation(options: Readonly<Record<string, string>>): DeleteRequest['propagationPolicy'] {
  const orphan = options['orphanDependents'] ?? options['orphanDependants'];
  if (orphan !== undefined) return orphan.toLowerCase() === 'true' ? 'Orphan' : 'Background';
  const policies: { readonly [text: string]: NonNullable<DeleteRequest['propagationPolicy']> } = {
    true: 'Background',
    false: 'Orphan',
    background: 'Background',
    foreground: 'Foreground',
    orphan: 'Orphan',
  };
  const cascading = options['cascading'] ?? 'true';
  const policy = policies[cascading.toLowerCase()];
  if (policy !== undefined) return policy;
  // kubectl's text.
  throw new FailedOperationError(
    `deleteManifest: options.cascading: invalid cascade value (${cascading.slice(0, 100)}): ` +
      `expected one of ${Object.keys(policies).join(', ')}`,
  );
}
