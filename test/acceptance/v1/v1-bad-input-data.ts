import type { JsonObject } from '#core/json.ts';

/** A description in which everything is wrong that can be, and what Clouddriver's validators say of it, without their prefix. */
export interface BadDescription {
  readonly operation: string;
  readonly prefix: string;
  readonly description: JsonObject;
  readonly errors: readonly string[];
}

const must = (rule: string) => `invalid (Must match ${rule})`;
const name = must('^[a-z0-9]+([-a-z0-9]*[a-z0-9])?$');
const secretName = must('^[a-z0-9]+([-\\.a-z0-9]*[a-z0-9])?$');
const word = must('^[a-z0-9]+$');
const path = must('^\\/.*$ or ^[a-zA-Z]:(\\\\|\\/).*$');
const httpPath = must('^\\/.*$');
const quantity = must('^([+-]?[0-9.]+)([eEimkKMGTP]*[-+]?[0-9]*)$');
const port = 'invalid (Must be in range [1, 65535])';
const address = 'invalid (Not valid IPv4 address)';
const protocol = 'invalid (Must be one of [TCP, UDP])';

const badProbe = {
  ...{ initialDelaySeconds: -1, timeoutSeconds: -1, periodSeconds: -1, successThreshold: -1 },
  ...{ failureThreshold: -1, handler: {} },
};

/** One container with everything wrong, and three whose probes have the handlers that there are. */
const badContainers = [
  {
    ...{ name: 'No', limits: { cpu: 'x', memory: 'x' }, requests: { cpu: 'x', memory: 'x' } },
    ports: [{ name: 'No', containerPort: '0', hostPort: 65_536, hostIp: '1.2.3', protocol: 'SCTP' }],
    ...{ envVars: [{ value: 'a' }], volumeMounts: [{ mountPath: '' }, { name: 'No', mountPath: 'a' }] },
    ...{ livenessProbe: badProbe, readinessProbe: {}, command: [''], args: ['a', ''] },
  },
  {
    ...{ name: 'web', imageDescription: { uri: 'web' } },
    livenessProbe: { handler: { type: 'EXEC', execAction: { commands: [] } } },
    readinessProbe: { handler: { type: 'TCP', tcpSocketAction: {} } },
  },
  {
    ...{ name: 'web', imageDescription: { uri: 'web' } },
    livenessProbe: { handler: { type: 'TCP', tcpSocketAction: { port: 65_536 } } },
    readinessProbe: { handler: { type: 'HTTP', httpGetAction: { port: 0, path: 'a', uriScheme: 'FTP' } } },
  },
];

const listContainerErrors = (at: (index: number) => string): readonly string[] => [
  `${at(0)}.name.${name}`,
  `${at(0)}.imageDescription.empty`,
  ...['limits.cpu', 'limits.memory', 'requests.cpu', 'requests.memory'].map(
    (part) => `${at(0)}.${part}.${quantity}`,
  ),
  `${at(0)}.ports[0].name.${name}`,
  `${at(0)}.ports[0].containerPort.${port}`,
  `${at(0)}.ports[0].hostPort.${port}`,
  `${at(0)}.ports[0].hostIp.${address}`,
  `${at(0)}.ports[0].protocol.${protocol}`,
  `${at(0)}.envVars[0].name.empty`,
  `${at(0)}.mounts[0].name.empty`,
  `${at(0)}.mounts[0].mountPath.empty`,
  `${at(0)}.mounts[1].name.${name}`,
  `${at(0)}.mounts[1].mountPath.${path}`,
  `${at(0)}.livenessProbe.initialDelaySeconds.negative`,
  ...['timeoutSeconds', 'periodSeconds', 'successThreshold', 'failureThreshold'].map(
    (part) => `${at(0)}.livenessProbe.${part}.notPositive`,
  ),
  `${at(0)}.livenessProbe.handler.type.empty`,
  `${at(0)}.readinessProbe.handler.empty`,
  `${at(0)}.command[0].empty`,
  `${at(0)}.args[1].empty`,
  `${at(1)}.livenessProbe.handler.execAction.commands.empty`,
  `${at(1)}.readinessProbe.handler.tcpSocketAction.port.empty`,
  `${at(2)}.livenessProbe.handler.tcpSocketAction.port.${port}`,
  `${at(2)}.readinessProbe.handler.httpGetAction.port.${port}`,
  `${at(2)}.readinessProbe.handler.httpGetAction.path.${httpPath}`,
  `${at(2)}.readinessProbe.handler.httpGetAction.uriScheme.invalid (Must be one of [HTTP, HTTPS])`,
];

const badVolumes = [
  { type: 'EMPTYDIR' },
  { name: 'No', type: 'HOSTPATH', hostPath: { path: 'a' } },
  { name: 'v', type: 'PERSISTENTVOLUMECLAIM', persistentVolumeClaim: { claimName: 'No' } },
  { name: 'v', type: 'SECRET', secret: { secretName: 'No' } },
  { name: 'v', type: 'CONFIGMAP', configMap: { configMapName: 'No', items: [{ path: '/a' }] } },
  { name: 'v', type: 'UNSUPPORTED' },
  { name: 'v' },
];

const volumeErrors = [
  'volumeSources[0].name.empty',
  'volumeSources[0].emptyDir.empty',
  `volumeSources[1].name.${name}`,
  `volumeSources[1].hostPath.path.${path}`,
  `volumeSources[2].persistentVolumeClaim.claimName.${secretName}`,
  `volumeSources[3].secret.secretName.${secretName}`,
  `volumeSources[4].configMap.configMapName.${secretName}`,
  `volumeSources[4].configMap.items[0].path.${must('^[^\\/].*$')}`,
  'volumeSources[4].configMap.items[0].key.empty',
  'volumeSources[5].type.invalid (UNSUPPORTED not supported)',
  'volumeSources[6].type.empty',
];

const badNames = { application: 'No', stack: 'a-b', freeFormDetails: '-a', namespace: 'elsewhere' };
const nameErrors = [`application.${word}`, `stack.${word}`, `details.${name}`];

const badDeploy = {
  ...{ ...badNames, targetSize: '-1', restartPolicy: 'never', kind: 'Deployment' },
  ...{ volumeSources: badVolumes, loadBalancers: ['No', ''], securityGroups: ['No'] },
  ...{ containers: badContainers, initContainers: [{ name: 'No', imageDescription: { uri: 'web' } }] },
  ...{ scalingPolicy: { cpuUtilization: { target: 0 } }, capacity: { min: 1, max: 1 } },
};
const deployErrors = [
  ...nameErrors,
  'targetSize.negative',
  'namespace.notRegistered',
  'restartPolicy.invalid (Must be one of [Always, OnFailure, Never])',
  ...volumeErrors,
  `loadBalancers[0].${name}`,
  'loadBalancers[1].empty',
  `securityGroups[0].${name}`,
  ...listContainerErrors((index) => `container[${index}]`),
  `initContainer[0].name.${name}`,
  'kind.invalid (Must be one of [ReplicaSet, ReplicationController, StatefulSet, DaemonSet])',
  'scalingPolicy.cpuUtilization.target.notPositive',
];

const badServerGroup = { serverGroupName: 'No', region: 'elsewhere' };
const serverGroupErrors = [`serverGroupName.${name}`, 'namespace.notRegistered'];
const listSwitched = (verb: string): BadDescription => ({
  operation: `${verb}ServerGroup`,
  prefix: `${verb}KubernetesAtomicOperationDescription`,
  description: { ...badServerGroup, desiredPercentage: '101' },
  errors: [...serverGroupErrors, 'desiredPercent.invalid (Must be in range [0, 100])'],
});
const listRegistered = (verb: string, operation: string): BadDescription => ({
  operation,
  prefix: `${verb}KubernetesAtomicOperationDescription`,
  description: { instanceIds: [], loadBalancerNames: [], namespace: 'No' },
  errors: ['instanceIds.empty', `namespace.${name}`, 'namespace.notRegistered', 'loadBalancerNames.empty'],
});

export const badDescriptions: readonly BadDescription[] = [
  {
    operation: 'createServerGroup',
    prefix: 'deployKubernetesAtomicOperationDescription',
    description: badDeploy,
    errors: deployErrors,
  },
  {
    operation: 'createServerGroup',
    prefix: 'deployKubernetesAtomicOperationDescription',
    description: { containers: [], scalingPolicy: {}, capacity: { min: 1, max: 1 } },
    errors: [
      'application.empty',
      'containers.empty',
      'targetSize.empty',
      'scalingPolicy.cpuUtilization.empty',
    ],
  },
  {
    operation: 'cloneServerGroup',
    prefix: 'cloneKubernetesAtomicOperationDescription',
    description: { ...badDeploy, source: { serverGroupName: '' } },
    errors: ['source.empty', ...deployErrors],
  },
  {
    operation: 'resizeServerGroup',
    prefix: 'resizeKubernetesAtomicOperationDescription',
    description: { ...badServerGroup, capacity: { desired: -1 } },
    errors: [...serverGroupErrors, 'capacity.desired.negative'],
  },
  {
    operation: 'resizeServerGroup',
    prefix: 'resizeKubernetesAtomicOperationDescription',
    description: {},
    errors: ['serverGroupName.empty', 'capacity.empty'],
  },
  listSwitched('enable'),
  listSwitched('disable'),
  {
    operation: 'destroyServerGroup',
    prefix: 'destroyKubernetesAtomicOperationDescription',
    description: badServerGroup,
    errors: serverGroupErrors,
  },
  {
    operation: 'upsertScalingPolicy',
    prefix: 'KubernetesAutoscalerDescription',
    description: {
      ...{ ...badServerGroup, capacity: { min: 3, max: '2' } },
      scalingPolicy: { cpuUtilization: { target: 0 } },
    },
    errors: [
      ...serverGroupErrors,
      'description.capacity.max.lessThan KubernetesAutoscalerDescription.description.capacity.min',
      'scalingPolicy.cpuUtilization.target.notPositive',
    ],
  },
  {
    operation: 'upsertLoadBalancer',
    prefix: 'upsertKubernetesLoadBalancerAtomicOperationDescription',
    description: {
      ...{ name: 'front', loadBalancerName: 'No', namespace: 'elsewhere' },
      ports: [
        { nodePort: 65_536, port: -1, targetPort: 65_536 },
        { name: 'No', protocol: 'SCTP' },
      ],
      ...{ externalIps: ['1.2.3.4', '::1'], clusterIp: 'none', loadBalancerIp: '1.2.3' },
      ...{ sessionAffinity: 'Cookie', serviceType: 'ExternalName' },
    },
    errors: [
      `name.${name}`,
      'namespace.notRegistered',
      'ports[0].name.empty',
      'ports[0].protocol.empty',
      ...['nodePort', 'port', 'targetPort'].map((part) => `ports[0].${part}.${port}`),
      `ports[1].name.${name}`,
      `ports[1].protocol.${protocol}`,
      `externalIps[1].${address}`,
      `clusterIp.${address}`,
      `loadBalancerIp.${address}`,
      'sessionAffinity.invalid (Must be one of [None, ClientIP])',
      'serviceType.invalid (Must be one of [ClusterIP, NodePort, LoadBalancer])',
    ],
  },
  {
    operation: 'deleteLoadBalancer',
    prefix: 'deleteKubernetesLoadBalancerAtomicOperationDescription',
    description: { namespace: 'elsewhere' },
    errors: ['loadBalancerName.empty', 'namespace.notRegistered'],
  },
  listRegistered('register', 'registerInstancesWithLoadBalancer'),
  listRegistered('deregister', 'deregisterInstancesFromLoadBalancer'),
  {
    operation: 'terminateInstances',
    prefix: 'terminateKubernetesInstancesAtomicOperationDescription',
    description: { instanceIds: [], namespace: 'elsewhere' },
    errors: ['instanceIds.empty', 'namespace.notRegistered'],
  },
  {
    operation: 'upsertSecurityGroup',
    prefix: 'upsertKubernetesSecurityGroupDescription',
    description: {
      ...{ securityGroupName: 'No', namespace: 'elsewhere' },
      ingress: { serviceName: 'No', port: 65_536 },
      rules: [{ host: 'No!', value: { http: { paths: [{ path: 'a', ingress: { port: 0 } }] } } }],
    },
    errors: [
      `securityGroupName.${name}`,
      'namespace.notRegistered',
      `ingress.serviceName.${name}`,
      `ingress.port.${port}`,
      `rules[0].host.${must('^(\\*\\.)?[a-z0-9]+([-\\.a-z0-9]*[a-z0-9])?$')}`,
      `rules[0].value.http.paths[0].path.${httpPath}`,
      'rules[0].value.http.paths[0].ingress.serviceName.empty',
      `rules[0].value.http.paths[0].ingress.port.${port}`,
    ],
  },
  {
    operation: 'deleteSecurityGroup',
    prefix: 'deleteKubernetesSecurityGroupDescription',
    description: { namespace: 'elsewhere' },
    errors: ['securityGroupName.empty', 'namespace.notRegistered'],
  },
  {
    operation: 'runJob',
    prefix: 'runKubernetesJobAtomicOperationDescription',
    description: { ...badNames, volumeSources: badVolumes, containers: badContainers },
    errors: [
      ...nameErrors,
      'namespace.notRegistered',
      ...volumeErrors,
      ...listContainerErrors((index) => `container[${index}]`),
    ],
  },
  {
    operation: 'runJob',
    prefix: 'runKubernetesJobAtomicOperationDescription',
    description: {},
    errors: ['application.empty', 'containers.empty'],
  },
  {
    operation: 'cloneJob',
    prefix: 'cloneKubernetesJobAtomicOperationDescription',
    description: { ...badNames, source: {}, container: badContainers[0] ?? null },
    errors: [
      'source.empty',
      ...nameErrors,
      'namespace.notRegistered',
      ...listContainerErrors((index) => (index === 0 ? 'container' : 'none')).filter(
        (error) => !error.startsWith('none'),
      ),
    ],
  },
  {
    operation: 'destroyJob',
    prefix: 'destroyKubernetesJobAtomicOperationDescription',
    description: { namespace: 'elsewhere' },
    errors: ['jobName.empty', 'namespace.notRegistered'],
  },
];
