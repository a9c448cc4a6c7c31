import { getPath } from '#core/json.ts';
import type { Artifact } from '#provider-kit/artifact.ts';

/** The artifact that a reference names. */
export interface ArtifactReference {
  readonly type: string;
  readonly name: string;
  /** Namespace of the referring object. */
  readonly namespace: string;
}

/** Artifacts to bind, indexed by how references name them: thousands of manifests may refer to thousands of artifacts. */
export class ArtifactIndex {
  readonly #account: string;
  readonly #found = new Map<string, Artifact>();
  readonly #types = new Set<string>();

  /**
   * @param account artifacts in Kubernetes bind only in their own account, if they name one
   * @param artifacts in order of precedence
   */
  constructor(account: string, artifacts: readonly Artifact[]) {
    this.#account = account;
    for (const artifact of artifacts.toReversed()) this.addFirst(artifact);
  }

  /** Adds an artifact with precedence over all others. Leaves out one that no manifest of the account can refer to. */
  addFirst(artifact: Artifact): void {
    const { type = '', name, reference, location = '' } = artifact;
    if (type === '' || name === undefined || reference === undefined || this.#isOthers(artifact)) return;
    this.#types.add(type);
    this.#found.set(toKey({ type, name, namespace: location }), artifact);
  }

  /** Whether there is an artifact of this type. */
  hasType(type: string): boolean {
    return this.#types.has(type);
  }

  /** The first artifact that matches a reference. Artifacts in Kubernetes bind only in their own namespace. */
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
