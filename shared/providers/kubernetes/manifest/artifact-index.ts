import { getPath } from '#core/json.ts';
import type { Artifact } from '#provider-kit/artifact.ts';

/** What a reference means. */
export interface ArtifactReference {
  readonly type: string;
  readonly name: string;
  /** Namespace of what refers to it. */
  readonly namespace: string;
}

/** Artifacts that may be bound, found by what refers to them: each of thousands of manifests may refer to each of thousands. */
export class ArtifactIndex {
  readonly #account: string;
  readonly #found = new Map<string, Artifact>();
  readonly #types = new Set<string>();

  /**
   * @param account artifacts in Kubernetes bind in their own account only, where they name one
   * @param artifacts in order of precedence
   */
  constructor(account: string, artifacts: readonly Artifact[]) {
    this.#account = account;
    for (const artifact of artifacts.toReversed()) this.addFirst(artifact);
  }

  /** Adds an artifact that comes before all others. What can stand in no manifest of the account is left out. */
  addFirst(artifact: Artifact): void {
    const { type = '', name, reference, location = '' } = artifact;
    if (type === '' || name === undefined || reference === undefined || this.#isOthers(artifact)) return;
    this.#types.add(type);
    this.#found.set(toKey({ type, name, namespace: location }), artifact);
  }

  /** Whether there is any of a type. */
  hasType(type: string): boolean {
    return this.#types.has(type);
  }

  /** The first artifact that a reference means. Artifacts in Kubernetes bind in their own namespace only. */
  find(reference: ArtifactReference): Artifact | undefined {
    return this.#found.get(toKey(reference));
  }

  #isOthers({ type = '', metadata }: Artifact): boolean {
    if (!isInKubernetes(type)) return false;
    const owner = getPath(metadata, 'account') ?? '';
    return owner !== '' && owner !== this.#account;
  }
}

function toKey({ type, name, namespace }: ArtifactReference): string {
  return JSON.stringify([type, name, isInKubernetes(type) ? namespace : '']);
}

function isInKubernetes(type: string): boolean {
  return type.startsWith('kubernetes/');
}
