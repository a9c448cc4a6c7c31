import type { z } from 'zod';
import { FailedOperationError, InvalidInputError, VisibleError } from '#core/errors.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '#core/json.ts';
import { type Artifact, getArtifactKey } from '#provider-kit/artifact.ts';
import { defineOperation } from '#provider-kit/operation-definition.ts';
import {
  booleanField,
  describeInput,
  enumField,
  jsonField,
  listOf,
  objectField,
  parseAt,
  requireField,
  stringField,
  withDefault,
} from '#settings/coerce.ts';
import type { KubernetesAccount } from '../account/account.ts';
import type { ObjectRef } from '../api/client.ts';
import { KubernetesApiError } from '../api/errors.ts';
import type { Manifest } from '../api/manifest.ts';
import { formatFullName } from '../kinds/name.ts';
import { bindArtifacts, checkArtifactsBound, findArtifacts } from '../manifest/artifacts.ts';
import { type Coordinates, readNamespace } from '../manifest/identity.ts';
import type { JsonPatchOperation } from '../manifest/json-patch.ts';
import { artifactList } from './deploy/description.ts';
import { patchOnce, patchSame } from './patches.ts';
import { checkPatchUnmasked } from './secret-mask.ts';
import { readUid } from './steps/deletion.ts';
import { describeObject, explainFailure } from './steps/failure.ts';
import { type OperationResult, toOperationResult } from './steps/result.ts';
import { getTargetRef, readTarget, targetShape, validateTarget } from './steps/target.ts';
import { kubernetesV2, type OperationWork, type Validation } from './steps/v2-operation.ts';

const patchField = objectField({
  ...targetShape,
  patchBody: jsonField().describe(
    'Required. For `json` a list of operations `{op, path, value}` with `op` one of add, remove and replace; else an object, ' +
      'in which null removes a member.',
  ),
  options: objectField({
    mergeStrategy: enumField(['strategic', 'json', 'merge']).describe("kubectl's type of patch; required."),
    record: withDefault(booleanField(), false).describe(
      'Notes the patch in the annotation `kubernetes.io/change-cause`. Default: false.',
    ),
  }).describe('Required.'),
  allArtifacts: artifactList.describe(
    'Artifacts that are bound where the patch refers to them; not for `json`.',
  ),
  requiredArtifacts: artifactList.describe('Those of them that must be bound, else nothing is patched.'),
});

/** A parsed description of `patchManifest`. */
type PatchDescription = Exclude<z.output<typeof patchField>, undefined>;

/** A patch in the form of its type. */
type Patch =
  | { readonly type: 'strategic' | 'merge'; readonly body: JsonObject }
  | { readonly type: 'json'; readonly body: readonly JsonPatchOperation[] };

const fieldManager = 'kubectl-patch';

/** Patches an object, as `kubectl patch` does. */
export const patchManifest = defineOperation(kubernetesV2, {
  name: 'patchManifest',
  purpose: 'changes an object by a strategic, merge or JSON patch',
  hasDryRun: true,
  operationClass: 'KubernetesPatchManifestOperation',
  phase: 'PATCH_KUBERNETES_MANIFEST',
  context: 'patchKubernetesManifest',
  schema: patchField,
  validate,
  run: runPatch,
});

function validate(description: PatchDescription, validation: Validation): void {
  validateTarget(description, validation);
  const { patchBody, options } = description;
  if (patchBody === undefined) validation.reject('patchBody', 'empty');
  if (options === undefined) validation.reject('options', 'empty');
  else if (options.mergeStrategy === undefined) validation.reject('options.mergeStrategy', 'empty');
  else if (patchBody !== undefined) validation.check(() => checkPatch(description, validation.account));
}

/** @throws InvalidInputError for a body that does not fit the strategy, or that contains the mask of a Secret's values. */
function checkPatch(description: PatchDescription, account: KubernetesAccount): void {
  const { body } = parsePatch(description);
  const { manifestName: fullName } = description;
  const kind = fullName.split(' ', 1)[0] ?? '';
  checkPatchUnmasked({ fullName, secret: isSensitive(kind, account), body });
}

/** Whether a kind's objects hold what must not be shown. */
function isSensitive(kind: string, { kindRegistry }: Pick<KubernetesAccount, 'kindRegistry'>): boolean {
  return kindRegistry.find(kind).sensitiveKeys.length > 0;
}

/** @throws InvalidInputError for a body that does not fit the strategy. */
function parsePatch({ patchBody, options }: PatchDescription): Patch {
  const type = options?.mergeStrategy ?? 'strategic';
  if (type === 'json') return { type, body: parseOperations(patchBody) };
  if (isJsonObject(patchBody)) return { type, body: patchBody };
  throw new InvalidInputError(
    `patchManifest: patchBody: expected an object for the strategy ${type}, got ${describeInput(patchBody)}`,
  );
}

function parseOperations(patchBody: JsonValue | undefined): readonly JsonPatchOperation[] {
  const operation = objectField({
    op: requireField(enumField(['add', 'remove', 'replace'])),
    path: requireField(stringField()),
    value: jsonField(),
  });
  const operations = parseAt(requireField(listOf(operation)), patchBody, 'patchManifest: patchBody');
  const strays = operations.flatMap(({ path }, index) => (path.startsWith('/') ? [] : [index]));
  if (strays.length === 0) return operations;
  throw new InvalidInputError(
    strays.map((index) => `patchManifest: patchBody[${index}].path: expected a path such as /spec/replicas`),
  );
}

async function runPatch(description: PatchDescription, work: OperationWork): Promise<OperationResult> {
  const { run } = work;
  const target = readTarget(description);
  const what = describeObject(target);
  run.report(`Patching ${what}`);
  return explainFailure(`Patching ${what}`, async () => {
    const { patch, bound } = bind(parsePatch(description), description, work);
    run.report(
      `Bound artifacts in the patch: ${bound.map(({ reference }) => reference).join(', ') || 'none'}`,
    );
    const ref = await getTargetRef(target, work);
    const live = await send(ref, patch, work);
    if (description.options?.record) await recordCause({ target, ref, live, patch }, work);
    run.report(`Patched ${what}`);
    return toResult(target, live, bound);
  });
}

/** The patch with artifacts' references in place of their names; operations of a JSON patch are unchanged. */
function bind(
  patch: Patch,
  { allArtifacts, requiredArtifacts, location, manifestName }: PatchDescription,
  { account, session }: OperationWork,
): { readonly patch: Patch; readonly bound: readonly Artifact[] } {
  if (patch.type === 'json') return { patch, bound: [] };
  const kind = account.kindRegistry.find(readTarget({ manifestName, location }).kind);
  const { manifest: body, bound } = bindArtifacts({
    manifest: patch.body,
    kind,
    namespace: location,
    account: account.name,
    artifacts: putFirst(requiredArtifacts, allArtifacts),
    imageBinding: session.settings.dockerImageBinding,
  });
  checkArtifactsBound(requiredArtifacts, bound, () => findArtifacts(body, kind));
  return { patch: { ...patch, body }, bound };
}

/** All artifacts, required ones first: if two match one reference, the first is bound. */
function putFirst(required: readonly Artifact[], all: readonly Artifact[]): readonly Artifact[] {
  const keys = new Set(required.map(getArtifactKey));
  const isRequired = (artifact: Artifact): boolean => keys.has(getArtifactKey(artifact));
  return [...all.filter(isRequired), ...all.filter((artifact) => !isRequired(artifact))];
}

/** Only a JSON patch must not be sent twice. */
async function send(ref: ObjectRef, patch: Patch, work: OperationWork): Promise<Manifest> {
  if (patch.type === 'json') return patchOnce({ ref, operations: patch.body, fieldManager }, work);
  try {
    return await work.client.patch(ref, { ...patch, fieldManager }, { signal: work.run.signal });
  } catch (error) {
    if (!(error instanceof KubernetesApiError) || error.status !== 415) throw error;
    const { kind, apiVersion } = ref.resource;
    throw new FailedOperationError(
      `a ${patch.type} patch is not supported by ${kind} of ${apiVersion}, merge and json are: ${error.message}`,
    );
  }
}

interface RecordedPatch {
  readonly target: Coordinates;
  readonly ref: ObjectRef;
  readonly live: Manifest;
  readonly patch: Patch;
}

/** Records the patch in the object, as `kubectl patch --record` does. If that fails, the patch still counts. */
async function recordCause(recorded: RecordedPatch, work: OperationWork): Promise<void> {
  const annotations = { 'kubernetes.io/change-cause': formatCause(recorded, work) };
  const patch = { type: 'merge', fieldManager, body: { metadata: { annotations } } } as const;
  try {
    await patchSame(recorded.ref, { ...patch, uid: readUid(recorded.live) ?? '' }, work);
  } catch (error) {
    if (!(error instanceof VisibleError)) throw error;
    work.run.report(`The patch was not noted in the object: ${error.message}`);
  }
}

/** The command that kubectl would record, without what is written into a Secret. */
function formatCause({ target, live, patch }: RecordedPatch, { account }: OperationWork): string {
  const namespace = readNamespace(live);
  return [
    `kubectl patch ${target.kind} ${target.name}`,
    ...(namespace === '' ? [] : [`--namespace=${namespace}`]),
    '--record=true',
    `--type=${patch.type}`,
    `--patch=${isSensitive(target.kind, account) ? 'CLASSIFIED' : JSON.stringify(patch.body)}`,
  ].join(' ');
}

/**
 * As in Clouddriver, the result names the object but does not contain it. It is named in the request's namespace even if it is
 * cluster-scoped: Orca reads it there.
 */
function toResult(target: Coordinates, live: Manifest, bound: readonly Artifact[]): OperationResult {
  const { kind, name } = target;
  const namespace = target.namespace || readNamespace(live);
  return toOperationResult({
    names: { [namespace]: [formatFullName(kind, name)] },
    objects: [{ kind, metadata: { name, namespace } }],
    bound,
  });
}
