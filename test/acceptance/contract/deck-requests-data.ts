import { expect } from 'vitest';

export interface DeckObjects {
  readonly application: string;
  readonly namespace: string;
  readonly replicaSet: string;
  readonly pod: string;
  readonly podUid: string;
  readonly taskId: string;
}

/** One request of Deck, as Gate hands it on, with what Deck reads of the answer. */
export interface DeckRequest {
  readonly page: string;
  readonly method?: 'GET' | 'POST' | 'PUT';
  /** Path and query; parts in angle brackets stand for names of the objects, and are encoded. */
  readonly target: string;
  readonly body?: unknown;
  /** Default 200. */
  readonly status?: number;
  /** What `toEqual` compares the answer with: members that Deck does not read are left to it. */
  shows?(objects: DeckObjects): unknown;
}

const some: unknown = expect.anything();
const containing = (members: object): unknown => expect.objectContaining(members);
const including = (...items: readonly unknown[]): unknown => expect.arrayContaining([...items]);
const time: unknown = expect.any(Number);
const none = (): unknown => [];

/** What each list shows of an object. */
const resource = ({ namespace, application }: DeckObjects, name: string) => ({
  account: 'test',
  name,
  displayName: name.split(' ')[1],
  kind: name.split(' ')[0],
  apiVersion: some,
  namespace,
  region: namespace,
  moniker: containing({ app: application }),
  createdTime: time,
});

const instance = ({ pod, podUid, namespace }: DeckObjects): unknown =>
  containing({
    id: podUid,
    name: pod,
    healthState: some,
    availabilityZone: namespace,
    health: including(containing({ state: some, type: some })),
  });

const serverGroup = (objects: DeckObjects, isWhole = false): unknown =>
  containing({
    name: objects.replicaSet,
    account: 'test',
    region: objects.namespace,
    cloudProvider: 'kubernetes',
    type: 'kubernetes',
    moniker: containing({ app: objects.application, cluster: 'deployment web' }),
    capacity: containing({ desired: 1 }),
    instanceCounts: containing({ total: 1 }),
    buildInfo: { images: ['example.invalid/web:1.0'] },
    loadBalancers: ['service web'],
    serverGroupManagers: [containing({ account: 'test', location: objects.namespace, name: 'web' })],
    securityGroups: [],
    createdTime: time,
    ...(isWhole
      ? { disabled: false, kind: 'replicaSet', namespace: objects.namespace, instances: [some] }
      : { isDisabled: false, cluster: 'deployment web', instances: [instance(objects)] }),
  });

const loadBalancer = (objects: DeckObjects): unknown =>
  containing({
    ...resource(objects, 'service web'),
    type: 'kubernetes',
    serverGroups: [
      containing({
        name: objects.replicaSet,
        account: 'test',
        region: objects.namespace,
        isDisabled: false,
        detachedInstances: [],
        instances: [
          containing({ id: objects.podUid, name: objects.pod, health: containing({ state: some }) }),
        ],
      }),
    ],
  });

const manifest = (objects: DeckObjects, name: string, kind: string): unknown =>
  containing({
    account: 'test',
    name,
    location: objects.namespace,
    moniker: containing({ app: objects.application }),
    manifest: containing({
      apiVersion: some,
      kind,
      metadata: containing({ name: name.split(' ')[1], namespace: objects.namespace, uid: some }),
    }),
    status: {
      available: containing({ state: expect.any(Boolean) }),
      stable: containing({ state: expect.any(Boolean) }),
      paused: containing({ state: false }),
      failed: containing({ state: false }),
    },
    artifacts: expect.any(Array),
    events: expect.any(Array),
    warnings: [],
    metrics: expect.any(Array),
  });

const summary = { name: 'networkPolicy deny', id: 'networkPolicy deny', moniker: {} };

const account = (isExpanded: boolean): unknown =>
  containing({
    name: 'test',
    type: 'kubernetes',
    cloudProvider: 'kubernetes',
    environment: some,
    accountType: some,
    requiredGroupMembership: [],
    challengeDestructiveActions: false,
    primaryAccount: false,
    ...(isExpanded && {
      namespaces: some,
      spinnakerKindMap: containing({ deployment: 'serverGroupManagers' }),
      ...{ providerVersion: 'v2', skin: 'v2', dockerRegistries: [] },
    }),
  });

const found = (...results: readonly unknown[]): unknown => [
  containing({ totalMatches: time, pageNumber: 1, results: including(...results) }),
];

/** Lists that pages ask for as they start, of which Kubernetes has nothing. */
const emptyTargets = [
  '/functions',
  '/instanceTypes',
  '/keyPairs',
  '/networks/aws',
  '/storage',
  '/subnets/aws',
  '/certificates',
  '/tags?entityId=web',
  '/kubernetes/images/find?q=web',
  '/aws/images/find?q=web',
  '/reports/reservation',
];

export const deckRequests: readonly DeckRequest[] = [
  {
    page: "Gate's list of applications",
    target: '/applications?restricted=false&expand=true',
    shows: ({ application }) =>
      including(
        containing({
          name: application,
          attributes: containing({ name: application }),
          clusterNames: { test: including('deployment web') },
        }),
      ),
  },
  { page: "Gate's accounts", target: '/credentials?expand=true', shows: () => including(account(true)) },
  { page: 'an account', target: '/credentials/test', shows: () => account(true) },
  {
    page: 'an application',
    target: '/applications/<application>',
    shows: ({ application }) =>
      containing({
        name: application,
        attributes: containing({ cloudProviders: 'kubernetes' }),
        clusters: containing({
          test: including(containing({ name: 'deployment web', provider: 'kubernetes' })),
        }),
      }),
  },
  {
    page: 'clusters',
    target: '/applications/<application>/clusters',
    shows: () => ({ test: including('deployment web') }),
  },
  {
    page: 'clusters of an account',
    target: '/applications/<application>/clusters/test',
    shows: ({ replicaSet }) =>
      including(
        containing({
          name: 'deployment web',
          account: 'test',
          moniker: some,
          serverGroups: [replicaSet],
          loadBalancers: ['service web'],
        }),
      ),
  },
  {
    page: 'clusters: server groups',
    target: '/applications/<application>/serverGroups?expand=false',
    shows: (objects) => including(serverGroup(objects)),
  },
  {
    page: 'clusters: those of a few clusters',
    target: '/applications/<application>/serverGroups?expand=false&clusters=test%3Adeployment%20web',
    shows: (objects) => [serverGroup(objects)],
  },
  {
    page: 'clusters: managers',
    target: '/applications/<application>/serverGroupManagers',
    shows: (objects) =>
      including(
        containing({
          ...resource(objects, 'deployment web'),
          cloudProvider: 'kubernetes',
          serverGroups: [
            containing({
              name: objects.replicaSet,
              account: 'test',
              region: objects.namespace,
              moniker: some,
            }),
          ],
        }),
      ),
  },
  {
    page: 'load balancers',
    target: '/applications/<application>/loadBalancers',
    shows: (objects) => [loadBalancer(objects)],
  },
  {
    page: 'the Kubernetes tab',
    target: '/applications/<application>/rawResources',
    shows: (objects) =>
      including(
        containing(resource(objects, 'deployment web')),
        containing(resource(objects, objects.replicaSet)),
        containing(resource(objects, 'service web')),
        containing(resource(objects, 'networkPolicy deny')),
      ),
  },
  {
    page: 'firewalls',
    target: '/securityGroups',
    shows: ({ namespace }) => containing({ test: { kubernetes: containing({ [namespace]: [summary] }) } }),
  },
  {
    page: 'panel of a server group',
    target: '/applications/<application>/serverGroups/test/<namespace>/<replicaSet>?includeDetails=false',
    shows: (objects) => serverGroup(objects, true),
  },
  ...['deployment web', 'Deployment web', 'service web', 'networkPolicy deny'].map(
    (name): DeckRequest => ({
      page: `panel of ${name}`,
      target: `/manifests/test/<namespace>/${encodeURIComponent(name)}`,
      shows: (objects) => {
        const [kind = '', bare] = name.split(' ');
        const first = kind.charAt(0);
        return manifest(
          objects,
          `${first.toLowerCase()}${kind.slice(1)} ${bare}`,
          first.toUpperCase() + kind.slice(1),
        );
      },
    }),
  ),
  {
    page: 'an execution: what was deployed',
    target: '/manifests/test/<namespace>/ConfigMap%20flags-v000?includeEvents=false',
    shows: (objects) => manifest(objects, 'configMap flags-v000', 'ConfigMap'),
  },
  {
    page: 'an execution: a custom resource',
    target: '/manifests/test/<namespace>/Gadget.deck.example.com%20g1',
    shows: (objects) => manifest(objects, 'Gadget.deck.example.com g1', 'Gadget'),
  },
  {
    page: 'panel of a pod: manifest',
    target: '/manifests/test/<namespace>/<pod>',
    shows: (objects) => manifest(objects, objects.pod, 'Pod'),
  },
  {
    page: 'panel of a pod',
    target: '/instances/test/<namespace>/<pod>',
    shows: (objects) => {
      const { region: zone, ...shared } = resource(objects, objects.podUid);
      return containing({
        ...shared,
        zone,
        displayName: objects.pod.split(' ')[1],
        kind: 'pod',
        humanReadableName: objects.pod,
        healthState: some,
        health: including(containing({ state: some, platform: 'platform' })),
        cloudProvider: 'kubernetes',
      });
    },
  },
  {
    page: 'console of a pod',
    target: '/instances/test/<namespace>/<pod>/console?provider=kubernetes',
    shows: () => ({ output: [{ name: 'main', output: expect.any(String) }] }),
  },
  ...['POST', 'GET'].map(
    (method): DeckRequest => ({
      page: 'stage of a Job',
      method: method as 'POST' | 'GET',
      target: '/applications/<application>/jobs/test/<namespace>/job%20smoke',
      shows: ({ namespace }) =>
        containing({
          name: 'smoke',
          account: 'test',
          location: namespace,
          provider: 'kubernetes',
          jobState: some,
        }),
    }),
  ),
  {
    page: 'panel of a load balancer',
    target: '/kubernetes/loadBalancers/test/<namespace>/service%20web',
    shows: (objects) => [loadBalancer(objects)],
  },
  { page: 'load balancers of all', target: '/kubernetes/loadBalancers', shows: none },
  {
    page: 'panel of a firewall',
    target: '/securityGroups/test/kubernetes/<namespace>/networkPolicy%20deny?vpcId=',
    shows: (objects) =>
      containing({
        ...resource(objects, 'networkPolicy deny'),
        ...summary,
        moniker: some,
        accountName: 'test',
        summary,
        inboundRules: [
          containing({ protocol: 'TCP', portRanges: [containing({ startPort: 80, endPort: 80 })] }),
        ],
        outboundRules: [],
      }),
  },
  ...[
    ['serverGroups', 'replicaSet'],
    ['instances', 'pod'],
    ['serverGroupManagers', 'deployment'],
    ['loadBalancers', 'service'],
    ['securityGroups', 'networkPolicy'],
  ].map(
    ([type = '', group]): DeckRequest => ({
      page: `search for ${type}`,
      target: `/search?q=<namespace>&type=${type}&page=1&pageSize=100`,
      shows: ({ namespace }) =>
        found(containing({ type, group, provider: 'kubernetes', account: 'test', namespace, name: some })),
    }),
  ),
  {
    page: 'search for applications',
    target: '/search?q=<application>&type=applications&page=1&pageSize=100',
    shows: ({ application }) => found(containing({ type: 'applications', application })),
  },
  {
    page: 'search for clusters',
    target: '/search?q=<application>&type=clusters&page=1&pageSize=100',
    shows: ({ application }) =>
      found(containing({ type: 'clusters', application, account: 'test', cluster: 'deployment web' })),
  },
  {
    page: 'dashboard of a project',
    target: '/projects/deck-project/clusters',
    shows: ({ application, namespace }) => [
      containing({
        account: 'test',
        stack: '*',
        detail: '*',
        instanceCounts: containing({ total: 1 }),
        applications: [
          containing({
            application,
            clusters: [
              containing({
                region: namespace,
                instanceCounts: containing({ total: 1 }),
                builds: [containing({ deployed: time, images: ['example.invalid/web:1.0'] })],
              }),
            ],
          }),
        ],
      }),
    ],
  },
  {
    page: 'an operation, through Orca',
    target: '/task/<taskId>',
    shows: ({ taskId }) =>
      containing({
        id: taskId,
        status: containing({ completed: true, failed: false }),
        history: including(containing({ phase: some, status: some })),
        resultObjects: [containing({ manifestNamesByNamespace: some, createdArtifacts: some })],
      }),
  },
  {
    page: 'accounts of artifacts',
    target: '/artifacts/credentials',
    shows: () => including({ name: 'embedded-artifact', type: some, types: including('embedded/base64') }),
  },
  {
    page: 'a template, with the slash that Gate sends',
    method: 'PUT',
    target: '/artifacts/fetch/',
    body: {
      type: 'embedded/base64',
      artifactAccount: 'embedded-artifact',
      reference: Buffer.from('{"schema":"v2"}').toString('base64'),
    },
    shows: () => ({ schema: 'v2' }),
  },
  { page: 'networks', target: '/networks', shows: () => ({}) },
  ...emptyTargets.map((target): DeckRequest => ({ page: 'the start of a page', target, shows: none })),
  { page: 'an application that is gone', target: '/applications/nosuch/clusters', shows: () => ({}) },
  {
    page: 'an application that is gone: server groups',
    target: '/applications/nosuch/serverGroups?expand=false',
    shows: none,
  },
  ...[
    '/applications/nosuch',
    '/applications/<application>/serverGroups/test/<namespace>/replicaSet%20gone?includeDetails=false',
    '/manifests/test/<namespace>/deployment%20gone',
    '/instances/test/<namespace>/pod%20gone',
    '/securityGroups/test/kubernetes/<namespace>/networkPolicy%20gone?vpcId=',
    '/projects/nosuch/clusters',
  ].map((target): DeckRequest => ({ page: 'what is gone closes its panel', target, status: 404 })),
];

export function toTarget({ target }: DeckRequest, objects: DeckObjects): string {
  return target.replaceAll(/<(\w+)>/g, (_, name: keyof DeckObjects) => encodeURIComponent(objects[name]));
}
