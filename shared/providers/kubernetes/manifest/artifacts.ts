import { InvalidInputError } from '#core/errors.ts';
import { type Artifact, getArtifactKey } from '#provider-kit/artifact.ts';
import type { Manifest } from '../api/manifest.ts';
import type { KindDefinition } from '../kinds/kind.ts';
import { ArtifactIndex } from './artifact-index.ts';
import { readName, readNamespace } from './identity.ts';
import { artifactTypes, type Replacer, replacerSets } from './replacers.ts';
import { formatVersion, formatVersionedName, getArtifactType } from './version.ts';

/**
 * How images of pod templates find their artifact (`kubernetes.artifact-binding.docker-image`). The names are
 * Clouddriver's, and read backwards: with `match-name-and-tag` (its default) tag and digest are cut off before the
 * name is compared; with `match-name-only` the whole field must equal the artifact's name.
 */
export type ImageBinding = 'match-name-and-tag' | 'match-name-only';

/** What to bind into what. */
export interface BindingInput {
  /** A manifest, or a patch of one. */
  readonly manifest: Manifest;
  /** Whose places are looked at. */
  readonly kind: Pick<KindDefinition, 'replacers'>;
  /** The namespace of the target, empty for none. Artifacts in Kubernetes bind in their own namespace only … */
  readonly namespace: string;
  /** … and their own account, where they name one. */
  readonly account: string;
  /** In order of precedence: a reference takes the first artifact that matches. */
  readonly artifacts: readonly Artifact[] | ArtifactIndex;
  readonly imageBinding: ImageBinding;
}

/** The outcome of a binding. */
export interface BoundManifest {
  readonly manifest: Manifest;
  /** The artifacts that some reference means, each once, also where the reference was right already. */
  readonly bound: readonly Artifact[];
}

/** What a deploy makes of a manifest. */
export interface CreatedArtifactInput {
  /** Before its version becomes part of its name. */
  readonly manifest: Manifest;
  readonly account: string;
  /** Undefined when it is not versioned. */
  readonly version: number | undefined;
}

/** Puts the references of artifacts in place of their names. The given manifest stays as it is. */
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

/** The artifacts that a manifest refers to, each once, with the reference as it stands. */
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

/** So many references are named in a message, each by so many characters. */
const [referencesToldMax, referenceLengthMax] = [20, 200];

/**
 * Checks that each required artifact was bound.
 *
 * @param listReferences what the manifests refer to, by `findArtifacts`, for the message
 * @throws InvalidInputError naming those that were not, and what there is of their types.
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

/** The artifact that a deployed manifest is for those deployed after it. Without a name it cannot be referred to. */
export function createDeployedArtifact({ manifest, account, version }: CreatedArtifactInput): Artifact {
  const name = readName(manifest);
  return {
    type: getArtifactType(manifest),
    ...(name === '' ? {} : { name, reference: formatVersionedName(name, version) }),
    location: readNamespace(manifest),
    version: version === undefined ? '' : formatVersion(version),
    metadata: { account },
  };
}

/** The artifact's name that a reference is compared by. */
function getMatchedName(replacer: Replacer, reference: string, imageBinding: ImageBinding): string {
  const isWhole = replacer.artifactType === artifactTypes.dockerImage && imageBinding === 'match-name-only';
  return isWhole ? reference : replacer.getName(reference);
}
