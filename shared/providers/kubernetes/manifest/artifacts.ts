import { InvalidInputError } from '#core/errors.ts';
import { type Artifact, getArtifactKey } from '#provider-kit/artifact.ts';
import type { Manifest } from '../api/manifest.ts';
import type { KindDefinition } from '../kinds/kind.ts';
import { ArtifactIndex } from './artifact-index.ts';
import { readName, readNamespace } from './identity.ts';
import { artifactTypes, type Replacer, replacerSets } from './replacers.ts';
import { formatVersion, formatVersionedName, getArtifactType } from './version.ts';

/**
 * How images of pod templates find their artifact (`kubernetes.artifact-binding.docker-image`). The names are Clouddriver's, and are
 * misleading: with `match-name-and-tag` (its default) tag and digest are cut off before the name is compared; with `match-name-only` the
 * whole field must equal the artifact's name.
 */
export type ImageBinding = 'match-name-and-tag' | 'match-name-only';

/** The artifacts to bind, and the manifest to bind them into. */
export interface BindingInput {
  /** A manifest, or a patch of one. */
  readonly manifest: Manifest;
  /** The kind whose places are searched for references. */
  readonly kind: Pick<KindDefinition, 'replacers'>;
  /** The namespace of the target, empty for none. Artifacts in Kubernetes bind only in their own namespace … */
  readonly namespace: string;
  /** … and their own account, if they name one. */
  readonly account: string;
  /** In order of precedence: a reference takes the first artifact that matches. */
  readonly artifacts: readonly Artifact[] | ArtifactIndex;
  readonly imageBinding: ImageBinding;
}

/** The outcome of a binding. */
export interface BoundManifest {
  readonly manifest: Manifest;
  /** The artifacts that match a reference, each once, even if the reference was already right. */
  readonly bound: readonly Artifact[];
}

/** Replaces artifacts' names by their references. Does not change the given manifest. */
export function bindArtifacts(input: BindingInput): BoundManifest {
  const bound = new Set<Artifact>();
  const { account, namespace, artifacts } = input;
  const index = artifacts instanceof ArtifactIndex ? artifacts : new ArtifactIndex(account, artifacts);
  const manifest = replacerSets[input.kind.replacers].reduce((changed, replacer) => {
    const type = replacer.artifactType;
    if (!index.hasType(type)) return changed;
    return replacer.changeReferences(changed, (reference) => {
      const name = getMatchedName(replacer, reference, input.imageBinding);
      const match = index.find({ type, name, namespace });
      if (match === undefined) return reference;
      bound.add(match);
      return match.reference ?? reference;
    });
  }, input.manifest);
  return { manifest, bound: [...bound] };
}

/** The artifacts that a manifest refers to, each once, with the reference as written. */
export function findArtifacts(manifest: Manifest, kind: Pick<KindDefinition, 'replacers'>): Artifact[] {
  const found = new Map<string, Artifact>();
  for (const { artifactType: type, changeReferences, getName } of replacerSets[kind.replacers]) {
    changeReferences(manifest, (reference) => {
      found.set(JSON.stringify([type, reference]), { type, name: getName(reference), reference });
      return reference;
    });
  }
  return [...found.values()];
}

/** The most references named in a message, and the most characters of each. */
const [referencesToldMax, referenceLengthMax] = [20, 200];

/**
 * Checks that each required artifact was bound.
 *
 * @param listReferences lists what the manifests refer to, by `findArtifacts`, for the message
 * @throws InvalidInputError naming those that were not bound, and the references of their types.
 */
export function checkArtifactsBound(
  required: readonly Artifact[],
  bound: readonly Artifact[],
  listReferences: () => readonly Artifact[],
): void {
  const boundKeys = new Set(bound.map(getArtifactKey));
  const missing = required.filter((artifact) => !boundKeys.has(getArtifactKey(artifact)));
  if (missing.length === 0) return;
  const byType = Map.groupBy(listReferences(), ({ type }) => type);
  const others = new Map([...byType].map(([type, found]) => [type, describeReferences(found)]));
  throw new InvalidInputError(
    missing.map(
      ({ type = '', name = '', location }) =>
        `Required artifact ${type} '${name}'${location ? ` in ${location}` : ''} was not bound: ` +
        `no manifest refers to it by that name, ${others.get(type) ?? `nor to any ${type}`}`,
    ),
  );
}

function describeReferences(found: readonly Artifact[]): string {
  const all = [...new Set(found.map(({ reference = '' }) => reference))];
  const told = all.slice(0, referencesToldMax).map((each) => each.slice(0, referenceLengthMax));
  const more = all.length - told.length;
  return `but to ${told.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/**
 * The artifact that a deployed manifest becomes for later manifests. Without a name it cannot be referred to.
 *
 * @param manifest before the version is added to its name.
 */
export function createDeployedArtifact(
  manifest: Manifest,
  account: string,
  version: number | undefined,
): Artifact {
  const name = readName(manifest);
  return {
    type: getArtifactType(manifest),
    ...(name === '' ? {} : { name, reference: formatVersionedName(name, version) }),
    location: readNamespace(manifest),
    version: version === undefined ? '' : formatVersion(version),
    metadata: { account },
  };
}

/** The artifact name by which a reference is compared. */
function getMatchedName(replacer: Replacer, reference: string, imageBinding: ImageBinding): string {
  const isWhole = replacer.artifactType === artifactTypes.dockerImage && imageBinding === 'match-name-only';
  return isWhole ? reference : replacer.getName(reference);
}
