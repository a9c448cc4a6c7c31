import { stringify } from 'yaml';
import type { JsonObject } from '#core/json.ts';
import { type ClusterRight, readRules } from '../accounts/needed-access.ts';

/** Identity and place of the agents of an account. */
export interface AgentSetup {
  /** The account that they serve. */
  readonly account: string;
  /** Their namespace. */
  readonly namespace: string;
  /** Name of the service account, the Deployment and all else. */
  readonly name: string;
  readonly image: string;
  readonly replicas: number;
  /** Busdriver's address for them. */
  readonly url: string;
  /** Audience of the token by which they prove who they are. */
  readonly audience: string;
  /** Certificates that signed Busdriver's, PEM; undefined for those that Node knows. */
  readonly ca: string | undefined;
  readonly zone: string | undefined;
  /** Whether they may change what is in the cluster, or only read it. */
  readonly rights: ClusterRight;
  /** Namespaces that they may reach; none for all. */
  readonly boundTo: readonly string[];
}

/** Paths of the token and the configuration in the pod. */
const tokenFolder = '/var/run/secrets/busdriver';
const configFolder = '/etc/busdriver';

/** Seconds for which a token holds: the kubelet replaces it before. */
const tokenSeconds = 600;

/** Maker of the objects, for their labels. */
const managedBy = 'busdriver-cli';

/**
 * The objects that agents of an account need in their cluster, in the order in which they are applied. Rules are those of the examples of
 * RBAC. Besides, they may read which cluster it is.
 */
export async function createAgentObjects(setup: AgentSetup): Promise<readonly JsonObject[]> {
  return [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: setup.namespace } },
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: toMetadata(setup) },
    ...(await createRights(setup)),
    {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: toMetadata(setup),
      data: createConfiguration(setup),
    },
    createDeployment(setup),
    {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: toMetadata(setup),
      spec: { maxUnavailable: 1, selector: { matchLabels: toSelector(setup) } },
    },
  ];
}

function toSelector({ name }: AgentSetup): JsonObject {
  return { 'app.kubernetes.io/name': 'busdriver-agent', 'app.kubernetes.io/instance': name };
}

function toMetadata(setup: AgentSetup, namespace: string | undefined = setup.namespace): JsonObject {
  const labels = { ...toSelector(setup), 'app.kubernetes.io/managed-by': managedBy };
  return { name: setup.name, ...(namespace !== '' && { namespace }), labels };
}

async function createRights(setup: AgentSetup): Promise<readonly JsonObject[]> {
  const { namespace, name, rights, boundTo } = setup;
  const rules = [...(await readRules('read')), ...(rights === 'deploy' ? await readRules('deploy') : [])];
  // Names of cluster-wide objects: agents of the same name may run in several namespaces.
  const role = `${namespace}-${name}`;
  const subjects = [{ kind: 'ServiceAccount', name, namespace }];
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role };
  const { labels } = toMetadata(setup);
  const identityRules = [
    { apiGroups: [''], resources: ['namespaces'], resourceNames: ['kube-system'], verbs: ['get'] },
  ];
  const apiVersion = 'rbac.authorization.k8s.io/v1';
  const metadata = { name: role, labels };
  const binding = { apiVersion, roleRef, subjects };
  if (boundTo.length === 0) {
    return [
      { apiVersion, kind: 'ClusterRole', metadata, rules: [...identityRules, ...rules] },
      { ...binding, kind: 'ClusterRoleBinding', metadata },
    ] as JsonObject[];
  }
  const identity = { name: `${role}-identity`, labels };
  return [
    { apiVersion, kind: 'ClusterRole', metadata: identity, rules: identityRules },
    {
      ...binding,
      kind: 'ClusterRoleBinding',
      metadata: identity,
      roleRef: { ...roleRef, name: identity.name },
    },
    { apiVersion, kind: 'ClusterRole', metadata, rules },
    ...boundTo.map((where) => ({
      ...binding,
      kind: 'RoleBinding',
      metadata: { name: role, namespace: where, labels },
    })),
  ] as JsonObject[];
}

function createConfiguration({ account, url, ca, zone }: AgentSetup): JsonObject {
  const config = {
    busdriver: {
      url,
      tokenFile: `${tokenFolder}/token`,
      ...(ca !== undefined && { caFile: `${configFolder}/ca.crt` }),
      ...(zone !== undefined && { zone }),
    },
    kubernetes: { accounts: [{ name: account, serviceAccount: true }] },
  };
  return { 'busdriver-agent.yaml': stringify(config), ...(ca !== undefined && { 'ca.crt': ca }) };
}

function createDeployment(setup: AgentSetup): JsonObject {
  const { name, image, replicas } = setup;
  const labels = toSelector(setup);
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: toMetadata(setup),
    spec: {
      replicas,
      strategy: { rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          serviceAccountName: name,
          // SIGTERM lets operations reach a safe point, for 20 seconds at most.
          terminationGracePeriodSeconds: 30,
          securityContext: {
            ...{ runAsNonRoot: true, runAsUser: 1000, runAsGroup: 1000 },
            seccompProfile: { type: 'RuntimeDefault' },
          },
          topologySpreadConstraints: [
            {
              ...{ maxSkew: 1, topologyKey: 'kubernetes.io/hostname', whenUnsatisfiable: 'ScheduleAnyway' },
              labelSelector: { matchLabels: labels },
            },
          ],
          containers: [createContainer(image)],
          volumes: createVolumes(setup),
        },
      },
    },
  };
}

function createContainer(image: string): JsonObject {
  return {
    name: 'agent',
    image,
    args: [`--config=${configFolder}/busdriver-agent.yaml`],
    ports: [
      { name: 'health', containerPort: 8082 },
      { name: 'metrics', containerPort: 8008 },
    ],
    readinessProbe: { httpGet: { path: '/health/readiness', port: 'health' }, periodSeconds: 5 },
    livenessProbe: {
      httpGet: { path: '/health/liveness', port: 'health' },
      periodSeconds: 30,
      timeoutSeconds: 5,
    },
    resources: { requests: { cpu: '50m', memory: '128Mi' }, limits: { memory: '512Mi' } },
    securityContext: {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    },
    volumeMounts: [
      { name: 'config', mountPath: configFolder, readOnly: true },
      { name: 'token', mountPath: tokenFolder, readOnly: true },
    ],
  };
}

function createVolumes({ name, audience }: AgentSetup): readonly JsonObject[] & JsonObject[] {
  const token = { path: 'token', audience, expirationSeconds: tokenSeconds };
  return [
    { name: 'config', configMap: { name } },
    { name: 'token', projected: { sources: [{ serviceAccountToken: token }] } },
  ];
}
