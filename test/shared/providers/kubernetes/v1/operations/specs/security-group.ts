import { getPath, type JsonValue } from '#core/json.ts';
import type { Manifest } from '#providers/kubernetes/api/manifest.ts';
import { refuseBy } from '#test/support/conformance/operation-spec.ts';
import { createManifest } from '../../../manifests.ts';
import type { KubernetesOperationSpec, KubernetesPlace } from '../../../operations/specs/spec.ts';
import { formatOutside, listBadAccounts, listBadNamespaces } from './worlds.ts';

const prefixes = {
  upsert: 'upsertKubernetesSecurityGroupDescription',
  delete: 'deleteKubernetesSecurityGroupDescription',
};
const byCode = { delete: refuseBy(prefixes.delete), upsert: refuseBy(prefixes.upsert) };
const hostPattern = '^(\\*\\.)?[a-z0-9]+([-\\.a-z0-9]*[a-z0-9])?$';

const ingress = { serviceName: 'front', port: '80' };
const rule = {
  host: 'shop.example.com',
  value: { http: { paths: [{ path: '/pay', ingress: { serviceName: 'pay', port: 8080 } }] } },
};

const history = [
  'Initializing upsert of ingress.',
  'Looking up provided namespace...',
  'Looking up old ingress...',
  'Setting name, namespace, annotations & labels...',
  'Attaching requested service...',
  'Setting requested rules...',
];

/** An Ingress is created. */
export const createSecurityGroup: KubernetesOperationSpec = {
  world: () => [],
  context: ({ place }) => ({
    ...{ securityGroupName: 'edge', namespace: place, ingress, rules: [rule] },
    ...{ tls: [{ hosts: ['shop.example.com'], secretName: 'cert' }], labels: { team: 'shop' } },
  }),
  invalid: [
    ...listBadAccounts('upsertSecurityGroup'),
    ...listBadNamespaces('upsertSecurityGroup', prefixes.upsert),
    byCode.upsert({ securityGroupName: '' }, 'securityGroupName'),
    byCode.upsert({ ingress: { serviceName: 'front' } }, 'ingress.port'),
    byCode.upsert(
      { rules: [{ host: 'shop..example' }] },
      'rules[0].host',
      `invalid (Must match ${hostPattern})`,
    ),
    byCode.upsert(
      { rules: [{ value: { http: { paths: [{ path: 'pay', ingress }] } } }] },
      'rules[0].value.http.paths[0].path',
      'invalid (Must match ^\\/.*$)',
    ),
    byCode.upsert(
      { tls: [{ hosts: ['shop'], secretName: 'A' }] },
      'tls[0].secretName',
      'invalid (Must match ^[a-z0-9]+([-\\.a-z0-9]*[a-z0-9])?$)',
    ),
  ],
  outside: formatOutside(prefixes.upsert),
  outsideNames: 'namespace',
  calls: { GET: 1, POST: 1 },
  history,
  secrets: [],
  look: lookAtEdge,
  effect: () => ({
    spec: {
      defaultBackend: { service: { name: 'front', port: { number: 80 } } },
      tls: [{ hosts: ['shop.example.com'], secretName: 'cert' }],
      rules: [
        {
          host: 'shop.example.com',
          http: {
            paths: [
              {
                path: '/pay',
                pathType: 'ImplementationSpecific',
                backend: { service: { name: 'pay', port: { number: 8080 } } },
              },
            ],
          },
        },
      ],
    },
    labels: { team: 'shop' },
    annotations: null,
  }),
};

/** An Ingress that is there has the described rules alone, and keeps its class and annotations. */
export const changeSecurityGroup: KubernetesOperationSpec = {
  ...createSecurityGroup,
  world: () => [createIngress('edge')],
  context: ({ place }) => ({
    ...{ securityGroupName: 'edge', namespace: place, ingress, labels: { team: 'pay' } },
  }),
  invalid: [],
  calls: { GET: 1, PUT: 1 },
  effect: () => ({
    spec: {
      ingressClassName: 'public',
      defaultBackend: { service: { name: 'front', port: { number: 80 } } },
    },
    labels: { team: 'pay' },
    annotations: { kept: 'yes' },
  }),
};

/** Of two Ingresses one goes. */
export const deleteSecurityGroup: KubernetesOperationSpec = {
  world: () => [createIngress('edge'), createIngress('other')],
  context: ({ place }) => ({ securityGroupName: 'edge', namespace: place }),
  invalid: [
    ...listBadAccounts('deleteSecurityGroup'),
    ...listBadNamespaces('deleteSecurityGroup', prefixes.delete),
    byCode.delete({ securityGroupName: null }, 'securityGroupName'),
  ],
  outside: formatOutside(prefixes.delete),
  outsideNames: 'namespace',
  calls: { GET: 1, DELETE: 1 },
  history: [
    'Initializing delete of ingress.',
    'Looking up provided namespace...',
    'Successfully deleted edge in PLACE.',
  ],
  secrets: [],
  look: ({ listNames }) => listNames('ingresses'),
  effect: () => ['other'],
};

function createIngress(name: string): Manifest {
  const rules = [{ host: 'old.example.com' }];
  return createManifest('networking.k8s.io/v1', 'Ingress', {
    name,
    annotations: { kept: 'yes' },
    labels: { team: 'shop' },
    more: { spec: { ingressClassName: 'public', rules } },
  });
}

async function lookAtEdge({ findLive }: KubernetesPlace): Promise<JsonValue> {
  const live = await findLive('ingresses/edge');
  return {
    spec: getPath(live, 'spec') ?? null,
    labels: getPath(live, 'metadata', 'labels') ?? null,
    annotations: getPath(live, 'metadata', 'annotations') ?? null,
  };
}
