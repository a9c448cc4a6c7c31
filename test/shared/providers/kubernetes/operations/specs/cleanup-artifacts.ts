import type { Manifest } from '#providers/kubernetes/api/manifest.ts';
import { refuseBy, type SpecInputs } from '#test/support/conformance/operation-spec.ts';
import { createSecret } from '../../manifests.ts';
import { formatOutside, listBadAccounts } from './bad-contexts.ts';
import type { KubernetesOperationSpec } from './spec.ts';

const names = { operation: 'cleanupArtifacts', code: 'cleanupKubernetesArtifacts' };
const byField = refuseBy(names.operation, ': ');

/** Of three versions of a Secret the newest is kept. */
export const cleanupArtifacts: KubernetesOperationSpec = {
  world: (inputs) => ['v000', 'v001', 'v002'].map((version) => createVersion(version, inputs)),
  context: (inputs) => ({ manifests: [createVersion('v002', inputs)] }),
  invalid: [
    ...listBadAccounts(names),
    byField({ manifests: 'planted' }, 'manifests', 'expected a list, got a string (not shown)'),
    byField({ manifests: ['planted'] }, 'manifests[0]', 'expected an object, got a string (not shown)'),
  ],
  outside: formatOutside(names),
  calls: { GET: 1, DELETE: 2 },
  history: [
    'Deleting secret keys-v000 in namespace PLACE, an old version',
    'Deleting secret keys-v001 in namespace PLACE, an old version',
  ],
  result: { manifestNamesByNamespace: { PLACE: ['secret keys-v000', 'secret keys-v001'] } },
  secrets: ['v000', 'v001', 'v002'],
  look: ({ listNames }) => listNames('secrets'),
  effect: () => ['keys-v002'],
};

/** A version as a deploy leaves it behind. */
function createVersion(version: string, { place, plant }: SpecInputs): Manifest {
  return createSecret(`keys-${version}`, plant(version), {
    namespace: place,
    annotations: {
      'artifact.spinnaker.io/type': 'kubernetes/secret',
      'artifact.spinnaker.io/name': 'keys',
      'artifact.spinnaker.io/location': place,
      'artifact.spinnaker.io/version': version,
      'strategy.spinnaker.io/max-version-history': '1',
    },
  });
}
