import { getPath } from '#core/json.ts';
import { refuseBy } from '#test/support/conformance/operation-spec.ts';
import { createConfigMap, createJob, createSecret, createWorkload } from '../../manifests.ts';
import { formatOutside, listBadAccounts } from './bad-contexts.ts';
import type { KubernetesOperationSpec } from './spec.ts';

const names = { operation: 'deployManifest', code: 'deployKubernetesManifest' };
const byCode = refuseBy(`${names.code}.${names.code}`);
const unversioned = { 'strategy.spinnaker.io/versioned': 'false' };
const by = (strategy: string) => ({
  annotations: { ...unversioned, [`strategy.spinnaker.io/${strategy}`]: 'true' },
});

/** The deployed objects, in their order. */
const deployed = [
  ...['configMap flags-v000', 'secret keys-v000', 'configMap anew', 'configMap whole', 'configMap merged'],
  ...['replicaSet web-v000', 'job smoke-MADE', 'deployment plain'],
];

/** One of everything that could go wrong when it is done twice is deployed. */
export const deployManifest: KubernetesOperationSpec = {
  world: () => ['anew', 'whole'].map((name) => createConfigMap(name, { old: 'x' })),
  context: ({ place, plant }) => ({
    moniker: { app: 'shop' },
    namespaceOverride: place,
    manifests: [
      createConfigMap('flags', { a: '1' }),
      createSecret('keys', plant('secret')),
      createConfigMap('anew', { a: '1' }, by('recreate')),
      createConfigMap('whole', { a: '1' }, by('replace')),
      createConfigMap('merged', { a: '1' }, by('server-side-apply')),
      createWorkload('ReplicaSet', 'web', {
        replicas: 0,
        more: { volumes: [{ name: 'f', configMap: { name: 'flags' } }] },
      }),
      createJob({ generateName: 'smoke-' }),
      createWorkload('Deployment', 'plain', { replicas: 0 }),
    ],
  }),
  invalid: [
    ...listBadAccounts(names),
    byCode({ moniker: null }, 'moniker'),
    byCode({ moniker: { cluster: 'x' } }, 'moniker.app'),
    byCode({ manifests: null }, 'manifests'),
  ],
  outside: formatOutside(names),
  calls: { GET: 12, POST: 6, PUT: 1, PATCH: 1, DELETE: 1 },
  history: [
    'Beginning the deployment to account ACCOUNT',
    'Order of deployment: configMap flags, secret keys, configMap anew, configMap whole, configMap merged, replicaSet web, job smoke-, deployment plain',
    ...deployed.flatMap((name) => [
      `Bound artifacts in ${name}: ${name === 'replicaSet web-v000' ? 'kubernetes/configMap flags-v000' : 'none'}`,
      `Annotated ${name} with its artifact and moniker`,
    ]),
    'Checking that each required artifact was bound',
    ...deployed.flatMap((name) => [
      `Submitting ${name}`,
      ...(name === 'configMap anew' ? ['Deleting configMap anew, to be made anew'] : []),
      `${name}: done`,
    ]),
    'Deployed 8 of 8 manifests',
  ],
  result: { manifestNamesByNamespace: { PLACE: deployed } },
  secrets: ['secret'],
  varies: [
    // What a repeat finds done it reports as unchanged.
    [/: (created|configured|unchanged|replaced)"/g, ': done"'],
    [/smoke-[a-z0-9]{5,}/g, 'smoke-MADE'],
  ],
  async look({ findLive, listNames }) {
    const volumes = getPath(await findLive('replicasets/web-v000'), 'spec', 'template', 'spec', 'volumes');
    const list = async (plural: string) => await listNames(plural);
    return {
      configMaps: await list('configmaps'),
      secrets: await list('secrets'),
      jobs: await list('jobs'),
      deployments: await list('deployments'),
      versions: (await list('replicasets')).filter((name) => name.startsWith('web')),
      anew: getPath(await findLive('configmaps/anew'), 'data') ?? null,
      whole: getPath(await findLive('configmaps/whole'), 'data') ?? null,
      bound: (Array.isArray(volumes) ? getPath(volumes[0], 'configMap', 'name') : undefined) ?? null,
    };
  },
  effect: () => ({
    configMaps: ['anew', 'flags-v000', 'merged', 'whole'],
    secrets: ['keys-v000'],
    jobs: ['smoke-MADE'],
    deployments: ['plain'],
    versions: ['web-v000'],
    anew: { a: '1' },
    whole: { a: '1' },
    bound: 'flags-v000',
  }),
};
