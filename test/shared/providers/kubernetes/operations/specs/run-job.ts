import { refuseBy } from '#test/support/conformance/operation-spec.ts';
import { createConfigMap, createJob } from '../../manifests.ts';
import { formatOutside, listBadAccounts } from './bad-contexts.ts';
import type { KubernetesOperationSpec } from './spec.ts';

const names = { operation: 'runJob', code: 'runKubernetesJob' };
const byCode = refuseBy(`${names.code}.${names.code}`);
const byField = refuseBy(names.operation, ': ');
const smoke = createJob({ generateName: 'smoke-' });

/** A Job is run under a name that is made up. */
export const runJob: KubernetesOperationSpec = {
  world: () => [],
  context: ({ place }) => ({ application: 'shop', namespace: place, manifest: smoke }),
  invalid: [
    ...listBadAccounts(names),
    byCode({ application: null }, 'application'),
    byCode({ manifest: null }, 'manifest'),
    byField({ manifest: createConfigMap('flags', {}) }, 'manifest', 'expected a Job, got configMap flags'),
    byField(
      { manifest: { apiVersion: 'v1', kind: 'List', items: [smoke, smoke] } },
      'manifest',
      'expected one Job, got 2',
    ),
    byField({ namespace: ['planted'] }, 'namespace', 'expected a string, got a list'),
  ],
  outside: formatOutside(names),
  calls: { GET: 1, POST: 1 },
  history: [
    'Running job smoke- of application shop',
    'Beginning the deployment to account ACCOUNT',
    'Order of deployment: job smoke-',
    'Bound artifacts in job smoke-MADE: none',
    'Annotated job smoke-MADE with its artifact and moniker',
    'Checking that each required artifact was bound',
    'Submitting job smoke-MADE',
    'job smoke-MADE: done',
    'Deployed 1 of 1 manifests',
  ],
  result: { deployedNamesByLocation: { PLACE: ['job smoke-MADE'] } },
  secrets: [],
  // What a repeat finds done it reports as unchanged.
  varies: [
    [/: (created|unchanged)"/g, ': done"'],
    [/smoke-[a-z0-9]{5,}/g, 'smoke-MADE'],
  ],
  look: ({ listNames }) => listNames('jobs'),
  effect: () => ['smoke-MADE'],
};
