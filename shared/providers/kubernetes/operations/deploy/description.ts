import type * as z from 'zod';
import type { Moniker } from '#core/frigga.ts';
import { asString, isJsonObject, type JsonObject, type JsonValue, omitNulls } from '#core/json.ts';
import { loadBalancersMax } from '#core/request-limits.ts';
import { artifactField } from '#provider-kit/artifact.ts';
import {
  booleanField,
  describeInput,
  enumField,
  type Field,
  intField,
  jsonObjectField,
  listOf,
  objectField,
  stringField,
  stringListField,
  withDefault,
} from '#settings/coerce.ts';
import type { Manifest } from '../../api/manifest.ts';
import {
  findApiVersionProblem,
  findKindProblem,
  findNameProblem,
  findNamespaceProblem,
  findTextProblem,
} from '../../api/names.ts';
import { listObjects } from '../../manifest/expand.ts';
import { labelSelectorsField } from '../../manifest/selectors.ts';

const flag = (fallback: boolean) => withDefault(booleanField(), fallback);
/** Artifacts of a request. Default: none. */
export const artifactList = withDefault(listOf(artifactField()), []);
const strategies = ['RED_BLACK', 'BLUE_GREEN', 'HIGHLANDER', 'NONE'] as const;

/** The fields of `deployManifest`. Lists are replaced by their items, nulls are dropped. */
export const deployField = objectField({
  manifests: manifestListField().describe(
    'What to deploy. A `List`, or one of a kind such as `RoleList`, counts as its items.',
  ),
  manifest: listedManifestField().describe(
    'Older pipelines send one manifest here. It counts only where `manifests` is empty.',
  ),
  moniker: monikerField().describe("Where the objects belong in Spinnaker's world; `app` is required."),
  requiredArtifacts: artifactList.describe('Artifacts that must be bound, else the deploy fails.'),
  optionalArtifacts: artifactList.describe('Artifacts that are bound where a manifest refers to them.'),
  enableArtifactBinding: flag(true).describe(
    'Default: true. False leaves the artifacts of the request alone; those made by this deploy are bound all the same.',
  ),
  versioned: booleanField().describe(
    "Whether objects get versions in their names; left out, each kind's own way.",
  ),
  namespaceOverride: withDefault(stringField(), '').describe(
    "Namespace for all manifests; empty or blank for none. What then names none goes to the account's default one.",
  ),
  services: withDefault(stringListField({ itemsMax: loadBalancersMax }), []).describe(
    'Load balancers, as `service web`.',
  ),
  enableTraffic: flag(true).describe(
    'Whether the load balancers send traffic to what is deployed. Default: true.',
  ),
  strategy: enumField(strategies).describe('How earlier versions are retired.'),
  labelSelectors: labelSelectorsField().describe('Only manifests with these labels are deployed.'),
  allowNothingSelected: flag(false).describe(
    'Whether it is fine when the labels select none. Default: false.',
  ),
  skipSpecTemplateLabels: flag(false).describe(
    "Leaves Spinnaker's labels out of pod templates. Default: false.",
  ),
});

/** A parsed description of `deployManifest`. */
export type DeployDescription = Exclude<z.output<typeof deployField>, undefined>;

/** The manifests to deploy, none of them null or a list. Undefined if the description has no field with them. */
export function findManifests({
  manifests,
  manifest,
}: Pick<DeployDescription, 'manifests' | 'manifest'>): readonly Manifest[] | undefined {
  if (manifests !== undefined && manifests.length > 0) return manifests;
  return manifest ?? manifests;
}

function monikerField(): Field<Moniker | undefined> {
  return objectField({
    app: stringField(),
    cluster: stringField(),
    stack: stringField(),
    detail: stringField(),
    sequence: intField(),
  }).transform((fields) => {
    const present = Object.entries(fields ?? {}).filter(([, value]) => value !== undefined);
    return fields && (Object.fromEntries(present) as Moniker);
  });
}

/** A list of manifests, each list in it replaced by its items. */
function manifestListField(): Field<readonly Manifest[] | undefined> {
  return listOf(listedManifestField()).transform((lists) => lists?.flat());
}

/** A manifest becomes a list of one, and a list its items: see `listObjects`. Each has an apiVersion, a kind and a name. */
export function listedManifestField(): Field<readonly Manifest[] | undefined> {
  return jsonObjectField().transform((object, context) => {
    if (object === undefined) return undefined;
    const entries = listObjects(object);
    for (const { path, value } of entries) {
      for (const { at, message } of findProblems(value)) {
        context.issues.push({ code: 'custom', path: [...path, ...at], message, input: value });
      }
    }
    return entries.map(({ value }) => omitNulls(value) as Manifest);
  });
}

/** What is wrong with a value of a manifest, and where. */
interface ManifestProblem {
  readonly at: string[];
  readonly message: string;
}

/** Why a value cannot be sent to a cluster at all, as far as is known here. */
function findProblems(value: JsonValue): ManifestProblem[] {
  if (!isJsonObject(value)) return [{ at: [], message: 'expected a Kubernetes object' }];
  const rules = { apiVersion: findApiVersionProblem, kind: findKindProblem };
  const problems = Object.entries(rules).flatMap(([field, findProblem]): ManifestProblem[] => {
    const text = asString(value[field]);
    const message = text ? findProblem(text) : `expected a string, got ${describeInput(value[field])}`;
    return message === undefined ? [] : [{ at: [field], message }];
  });
  if (!isJsonObject(value.metadata)) {
    const message = `expected an object, got ${describeInput(value.metadata)}`;
    return [...problems, { at: ['metadata'], message }];
  }
  return [...problems, ...findMetadataProblems(value.metadata)];
}

/** A value of a wrong type must not count as absent: the object would go elsewhere than its manifest says. */
function findMetadataProblems(metadata: JsonObject): ManifestProblem[] {
  const rules = { name: findNameProblem, generateName: findNameProblem, namespace: findNamespaceProblem };
  const problems = Object.entries(rules).flatMap(([field, findProblem]): ManifestProblem[] => {
    const message = findTextProblem(metadata[field], findProblem);
    return message === undefined ? [] : [{ at: ['metadata', field], message }];
  });
  if (problems.length > 0 || asString(metadata.name) || asString(metadata.generateName)) return problems;
  return [{ at: ['metadata', 'name'], message: 'expected a name or a generateName, got none' }];
}
