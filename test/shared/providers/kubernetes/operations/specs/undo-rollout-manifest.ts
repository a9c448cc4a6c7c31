import { refuseBy } from '#test/support/conformance/operation-spec.ts';
import { createWorkload } from '../../manifests.ts';
import { formatOutside, listBadTargets } from './bad-contexts.ts';
import { lookAtTemplate } from './look.ts';
import type { KubernetesOperationSpec } from './spec.ts';

const names = { operation: 'undoRolloutManifest', code: 'undoRolloutKubernetesManifest' };
const byField = refuseBy(names.operation, ': ');

/** A Deployment of two revisions goes back to the first. */
export const undoRolloutManifest: KubernetesOperationSpec = {
  world: () =>
    ['registry.test/web:1', 'registry.test/web:2'].map((image) =>
      createWorkload('Deployment', 'web', { replicas: 0, image }),
    ),
  context: ({ place }) => ({ manifestName: 'deployment web', location: place, numRevisionsBack: 1 }),
  invalid: [
    ...listBadTargets(names),
    {
      change: { numRevisionsBack: null },
      error: `${names.code}.${names.code}.revision.empty`,
      names: 'revision',
    },
    {
      change: { revision: null, numRevisionsBack: '' },
      error: `${names.code}.${names.code}.revision.empty`,
      names: 'revision',
    },
    byField({ revision: -1 }, 'revision', 'expected a whole number of at least 0, got -1'),
    byField(
      { numRevisionsBack: 'planted' },
      'numRevisionsBack',
      'expected a whole number of at least 0, got a string (not shown)',
    ),
  ],
  outside: formatOutside(names),
  calls: { GET: 2, PATCH: 1 },
  history: [
    'Undoing the rollout of deployment web in namespace PLACE',
    'Going back to revision 1',
    'Undid the rollout of deployment web in namespace PLACE',
  ],
  secrets: [],
  // Whoever finds it undone says so.
  varies: [[/(deployment web in namespace PLACE) is as in revision 1 already/g, 'Undid the rollout of $1']],
  look: lookAtTemplate,
  effect: () => ({ image: 'registry.test/web:1', restartedAt: null, generation: 3 }),
};
