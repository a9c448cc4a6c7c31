import type { ArtifactView } from '#contract/answers/artifacts.ts';
import { asJsonObject, isWithinDepth, type JsonObject, omitNullMembers } from '#core/json.ts';
import {
  booleanField,
  type Field,
  jsonObjectField,
  openObjectField,
  parseWith,
  requireField,
  stringField,
} from '#settings/coerce.ts';

/**
 * Maximum characters of each text of an artifact except its reference: names, versions and locations are paths, tags and URLs. The
 * reference of an embedded artifact is its content, so it is bounded where it is used and by the size of the request.
 */
export const artifactTextLengthMax = 8_192;

/** Maximum levels of objects and lists in an artifact's metadata and unknown fields. */
export const artifactDepthMax = 64;

/** Spinnaker's artifact. On the wire absent fields are left out, unknown ones go into `metadata`, and `kind` is ignored. */
export interface Artifact {
  readonly type?: string;
  readonly customKind?: boolean;
  readonly name?: string;
  readonly version?: string;
  readonly location?: string;
  readonly reference?: string;
  readonly metadata?: JsonObject;
  readonly artifactAccount?: string;
  readonly provenance?: string;
  readonly uuid?: string;
}

const artifactShape = {
  type: stringField(),
  customKind: booleanField(),
  name: stringField(),
  version: stringField(),
  location: stringField(),
  reference: stringField(),
  metadata: jsonObjectField(),
  artifactAccount: stringField(),
  provenance: stringField(),
  uuid: stringField(),
};

/** Texts that are never an artifact's content. */
const boundedTexts = [
  'type',
  'name',
  'version',
  'location',
  'artifactAccount',
  'provenance',
  'uuid',
] as const;

/**
 * An artifact of a description. Scalars become text, nulls are dropped, unknown fields join the metadata. Texts longer than
 * `artifactTextLengthMax` and members deeper than `artifactDepthMax` are refused.
 */
export function artifactField(): Field<Artifact | undefined> {
  return openObjectField(artifactShape).transform((fields, context) => {
    if (fields === undefined) return undefined;
    for (const { field, message } of listExcesses(fields)) {
      context.issues.push({ code: 'custom', path: [field], message, input: undefined });
    }
    return context.issues.length > 0 ? undefined : foldArtifact(fields);
  });
}

/** Reads one artifact, as `artifactField` does. @throws InvalidInputError naming each field that is no scalar, too long or too deep */
export function parseArtifact(value: unknown): Artifact {
  return parseWith(requireField(artifactField()), value, 'artifact');
}

/** The artifact as Spinnaker writes it: absent fields left out, `customKind` and `metadata` always present. */
export function toArtifactView(artifact: Artifact): ArtifactView {
  const { customKind = false, metadata = {}, ...fields } = artifact;
  return { ...fields, customKind, metadata: omitNullMembers(metadata) };
}

/**
 * A key that is equal for artifacts that count as the same when checking that a required one was bound: by type, name, version, location
 * and reference; an empty one equals an absent one.
 */
export function getArtifactKey({ type, name, version, location, reference }: Artifact): string {
  return JSON.stringify([type, name, version, location, reference].map((field) => field ?? ''));
}

/** The excesses of limits. Unknown fields count as metadata: their names may be of any length. */
function listExcesses(fields: { readonly [key: string]: unknown }): { field: string; message: string }[] {
  const tooLong = boundedTexts.flatMap((field) => {
    const { [field]: value = '' } = fields;
    if (typeof value !== 'string' || value.length <= artifactTextLengthMax) return [];
    return [{ field, message: `expected at most ${artifactTextLengthMax} characters, got ${value.length}` }];
  });
  if (isWithinDepth(fields as JsonObject, artifactDepthMax)) return tooLong;
  return [...tooLong, { field: 'metadata', message: `expected at most ${artifactDepthMax} levels` }];
}

/** The known fields unchanged, all others in the metadata, where an explicit entry wins over a folded one. */
function foldArtifact({ metadata, ...fields }: { readonly [key: string]: unknown }): Artifact {
  const entries = Object.entries(fields).filter(([key, value]) => value !== undefined && key !== 'kind');
  const isKnown = (key: string) => Object.hasOwn(artifactShape, key);
  const known = Object.fromEntries(entries.filter(([key]) => isKnown(key)));
  const folded = Object.fromEntries(entries.filter(([key]) => !isKnown(key)));
  return {
    ...known,
    metadata: omitNullMembers({ ...folded, ...asJsonObject(metadata) } as JsonObject),
  };
}
