import type { JsonObject } from '#core/json.ts';
import { getPathOf } from '#test/shared/providers/kubernetes/live.ts';
import {
  createConfigMap,
  createJob,
  createSecret,
  createService,
  createWorkload,
  type ManifestParts,
} from '#test/shared/providers/kubernetes/manifests.ts';

export interface OperationSort {
  readonly name: string;
  readonly count: number;
  readonly plural: string;
  arrange?(place: Place): object;
  create(place: Place): { readonly [operation: string]: JsonObject };
  /** Name of the object afterwards, or how it begins. Default: that of the place. */
  getName?(place: Place): string;
  /** What must be so once the operation succeeded. Default: that the object is there. */
  expected?: JsonObject;
  /** True when the object must be gone. */
  readonly isGone?: boolean;
  /** True where not only the effect, but the successful write itself must be the only one. */
  readonly writesOnce: boolean;
}

export interface Place {
  readonly namespace: string;
  readonly name: string;
}

const unversioned = { 'strategy.spinnaker.io/versioned': 'false' };
const replaced = { ...unversioned, 'strategy.spinnaker.io/replace': 'true' };
const appliedByServer = { ...unversioned, 'strategy.spinnaker.io/server-side-apply': 'true' };

const deploy = (manifest: object) => ({
  deployManifest: { account: 'test', moniker: { app: 'faults' }, manifests: [manifest as JsonObject] },
});
const about = ({ namespace, name }: Place, kind: string, more: JsonObject = {}): JsonObject => ({
  account: 'test',
  manifestName: `${kind} ${name}`,
  location: namespace,
  ...more,
});
const web = ({ namespace, name }: Place, image: string): object =>
  createWorkload('Deployment', name, { namespace, replicas: 0, image: `registry.test/web:${image}` });
const config = (
  { namespace, name }: Place,
  value: string,
  annotations?: ManifestParts['annotations'],
): object => createConfigMap(name, { value }, { namespace, ...(annotations && { annotations }) });

/** 300 operations of all sorts. */
export const operationSorts: readonly OperationSort[] = [
  {
    name: 'new-deployment',
    count: 40,
    plural: 'deployments',
    create: (place) => deploy(web(place, '1')),
    expected: { metadata: { generation: 1 } },
    writesOnce: true,
  },
  {
    name: 'changed-deployment',
    count: 30,
    plural: 'deployments',
    arrange: (place) => web(place, '1'),
    create: (place) => deploy(web(place, '2')),
    expected: {
      metadata: { generation: 2 },
      spec: { template: { spec: { containers: [{ image: 'registry.test/web:2' }] } } },
    },
    writesOnce: true,
  },
  {
    name: 'config',
    count: 40,
    plural: 'configmaps',
    create: (place) => deploy(config(place, 'new')),
    getName: ({ name }) => `${name}-v000`,
    expected: { data: { value: 'new' } },
    writesOnce: true,
  },
  {
    name: 'secret',
    count: 20,
    plural: 'secrets',
    create: ({ namespace, name }) => deploy(createSecret(name, 'text', { namespace })),
    getName: ({ name }) => `${name}-v000`,
    writesOnce: true,
  },
  {
    name: 'service',
    count: 20,
    plural: 'services',
    create: ({ namespace, name }) => deploy(createService(name, { app: name }, { namespace })),
    writesOnce: true,
  },
  {
    name: 'replaced',
    count: 20,
    plural: 'configmaps',
    arrange: (place) => config(place, 'old'),
    create: (place) => deploy(config(place, 'new', replaced)),
    expected: { data: { value: 'new' } },
    writesOnce: true,
  },
  {
    name: 'server-side',
    count: 20,
    plural: 'configmaps',
    create: (place) => deploy(config(place, 'new', appliedByServer)),
    expected: { data: { value: 'new' } },
    writesOnce: true,
  },
  {
    name: 'job',
    count: 40,
    plural: 'jobs',
    create: ({ namespace, name }) => ({
      runJob: {
        account: 'test',
        application: 'faults',
        manifest: createJob({ generateName: `${name}-made-`, namespace }),
      },
    }),
    getName: ({ name }) => `${name}-made-`,
    writesOnce: true,
  },
  {
    name: 'scaled',
    count: 20,
    plural: 'deployments',
    arrange: (place) => web(place, '1'),
    create: (place) => ({ scaleManifest: about(place, 'deployment', { replicas: 1 }) }),
    expected: { metadata: { generation: 2 }, spec: { replicas: 1 } },
    writesOnce: false,
  },
  {
    name: 'patched',
    count: 10,
    plural: 'configmaps',
    arrange: (place) => config(place, 'old'),
    create: (place) => ({
      patchManifest: about(place, 'configMap', {
        patchBody: { data: { value: 'new' } },
        options: { mergeStrategy: 'merge' },
      }),
    }),
    expected: { data: { value: 'new' } },
    writesOnce: false,
  },
  {
    name: 'appended',
    count: 10,
    plural: 'services',
    arrange: ({ namespace, name }) => ({
      ...createService(name, { app: name }, { namespace }),
      spec: { selector: { app: name }, ports: [{ name: 'one', port: 80 }] },
    }),
    create: (place) => ({
      patchManifest: about(place, 'service', {
        patchBody: [
          { op: 'add', path: '/spec/externalIPs', value: ['192.0.2.1'] },
          { op: 'add', path: '/spec/externalIPs/-', value: '192.0.2.2' },
        ],
        options: { mergeStrategy: 'json' },
      }),
    }),
    expected: { spec: { externalIPs: ['192.0.2.1', '192.0.2.2'] } },
    writesOnce: true,
  },
  {
    name: 'restarted',
    count: 15,
    plural: 'deployments',
    arrange: (place) => web(place, '1'),
    create: (place) => ({ rollingRestartManifest: about(place, 'deployment') }),
    expected: { metadata: { generation: 2 } },
    writesOnce: false,
  },
  {
    name: 'deleted',
    count: 15,
    plural: 'configmaps',
    arrange: (place) => config(place, 'old'),
    create: (place) => ({ deleteManifest: about(place, 'configMap') }),
    isGone: true,
    writesOnce: false,
  },
];

export function getCollection({ plural }: OperationSort, namespace: string): string {
  return getPathOf(namespace, plural);
}
