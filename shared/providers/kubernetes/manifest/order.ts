import { InvalidInputError } from '#core/errors.ts';
import type { Manifest } from '../api/manifest.ts';
import type { KindRegistry } from '../kinds/index.ts';
import { readFullName, readKind } from './identity.ts';

/**
 * The manifests in order of deployment: by priority of their kinds, and in the given order within a priority.
 *
 * @throws InvalidInputError for each manifest of a kind that only Kubernetes itself may create.
 */
export function sortForDeploy(manifests: readonly Manifest[], registry: KindRegistry): Manifest[] {
  const refused = manifests.filter((manifest) => !registry.find(readKind(manifest)).deployable);
  if (refused.length > 0) {
    throw new InvalidInputError(
      refused.map(
        (manifest) => `${readFullName(manifest)} cannot be deployed: Kubernetes itself makes such objects`,
      ),
    );
  }
  const priority = (manifest: Manifest) => registry.find(readKind(manifest)).deployPriority;
  return manifests.toSorted((one, other) => priority(one) - priority(other));
}
