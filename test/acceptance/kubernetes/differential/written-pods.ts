import type { JsonObject } from '#core/json.ts';
import { container, containerPair, podSpecPair } from './builders.ts';
import { namePlaceholder, type Pair } from './pair.ts';

const selector = { matchLabels: { app: namePlaceholder } };

const tcp53 = { containerPort: 53, protocol: 'TCP', name: 'tcp' };
const udp53 = { containerPort: 53, protocol: 'UDP', name: 'udp' };
const web = { containerPort: 8080, name: 'web' };
const value = (name: string, text: string) => ({ name, value: text });

const containerPairs: readonly Pair[] = [
  containerPair('an image', { image: 'a:1' }, { image: 'a:2' }),
  podSpecPair(
    'containers in another order, one new in front',
    { containers: [container(), container({ name: 'b' }), container({ name: 'c' })] },
    {
      containers: [
        container({ name: 'new' }),
        container({ name: 'c' }),
        container({ name: 'b' }),
        container(),
      ],
    },
  ),
  podSpecPair(
    'a container removed, one renamed',
    { containers: [container(), container({ name: 'b' }), container({ name: 'c' })] },
    { containers: [container({ name: 'c' }), container({ name: 'd' })] },
  ),
  podSpecPair(
    'init containers added, changed, removed',
    { initContainers: [container({ name: 'a' }), container({ name: 'b' })] },
    { initContainers: [container({ name: 'b', command: ['x'] }), container({ name: 'c' })] },
  ),
  podSpecPair('init containers all removed', { initContainers: [container({ name: 'a' })] }, {}),
  podSpecPair(
    'init containers emptied',
    { initContainers: [container({ name: 'a' })] },
    { initContainers: [] },
  ),
  containerPair('a port number of a second protocol', { ports: [tcp53] }, { ports: [tcp53, udp53] }),
  containerPair('a port number of one protocol less', { ports: [tcp53, udp53] }, { ports: [udp53] }),
  containerPair(
    'a port number of two protocols, swapped',
    { ports: [tcp53, udp53] },
    { ports: [udp53, tcp53] },
  ),
  containerPair(
    'a port number of two protocols, unchanged',
    { ports: [web, tcp53, udp53] },
    { ports: [web, tcp53, udp53] },
  ),
  containerPair(
    'a port number of two protocols, one renamed',
    { ports: [tcp53, udp53, web] },
    { ports: [tcp53, { ...udp53, name: 'other' }, web] },
  ),
  containerPair(
    'ports as numbers sort as texts',
    { ports: [{ containerPort: 9 }, { containerPort: 80 }] },
    { ports: [{ containerPort: 443 }, { containerPort: 80 }, { containerPort: 1000 }] },
  ),
  containerPair(
    'variables added, changed, removed, reordered',
    { env: [value('A', '1'), value('B', '2'), value('C', '3')] },
    { env: [value('D', '4'), value('C', '5'), value('A', '1')] },
  ),
  containerPair(
    'a variable from a value to a reference',
    { env: [{ name: 'A', value: '1' }] },
    { env: [{ name: 'A', valueFrom: { secretKeyRef: { name: 's', key: 'k' } } }] },
  ),
  containerPair(
    'a variable from a reference to a value',
    { env: [{ name: 'A', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }] },
    { env: [{ name: 'A', value: '' }] },
  ),
  containerPair(
    'a variable named twice',
    { env: [value('A', '1'), value('A', '2')] },
    { env: [value('A', '3'), value('A', '2'), { name: 'B' }] },
  ),
  containerPair(
    'variables without values',
    { env: [{ name: 'A' }] },
    { env: [{ name: 'A' }, { name: 'B' }] },
  ),
  containerPair('variables emptied', { env: [{ name: 'A' }] }, { env: [] }),
  containerPair('variables set to null', { env: [{ name: 'A' }] }, { env: null }),
  containerPair(
    'sources of variables, an atomic list',
    { envFrom: [{ configMapRef: { name: 'a' } }, { configMapRef: { name: 'b' } }] },
    { envFrom: [{ secretRef: { name: 'c' } }, { configMapRef: { name: 'a' } }] },
  ),
  containerPair('command and arguments', { command: ['a'], args: ['b', 'c'] }, { args: ['c', 'b'] }),
  containerPair(
    'a probe of another kind',
    { livenessProbe: { httpGet: { path: '/', port: 80 }, periodSeconds: 5 } },
    { livenessProbe: { exec: { command: ['true'] } } },
  ),
  containerPair(
    'a probe that loses a default of its own',
    { readinessProbe: { tcpSocket: { port: 'web' }, timeoutSeconds: 3 }, ports: [web] },
    { readinessProbe: { tcpSocket: { port: 8080 } }, ports: [web] },
  ),
  containerPair(
    'quantities spelled otherwise',
    { resources: { requests: { cpu: '0.5', memory: '1024Mi' }, limits: { cpu: 1 } } },
    { resources: { requests: { cpu: '500m', memory: '1Gi' }, limits: { cpu: '1' } } },
  ),
  containerPair('resources emptied', { resources: { limits: { cpu: '1' } } }, { resources: {} }),
  containerPair(
    'capabilities and a removed security context member',
    { securityContext: { runAsUser: 1, capabilities: { add: ['NET_ADMIN', 'CHOWN'] } } },
    { securityContext: { capabilities: { add: ['CHOWN'], drop: ['ALL'] } } },
  ),
  containerPair(
    'a member set to null',
    { imagePullPolicy: 'Always', tty: true },
    { imagePullPolicy: null, tty: true },
  ),
  containerPair('null where nothing was', {}, { workingDir: null }),
];

const emptyDir = { name: 'data', emptyDir: {} };
const mountData = { name: 'data', mountPath: '/data' };
const mountTmp = { name: 'data', mountPath: '/tmp', subPath: 'tmp' };
const otherMounts = [
  { ...mountTmp, readOnly: true },
  { ...mountData, mountPath: '/other' },
];
const tolerated = (key: string) => ({ key, operator: 'Exists' });
const alias = (ip: string, ...hostnames: string[]) => ({ ip, hostnames });

const podPairs: readonly Pair[] = [
  podSpecPair(
    'the source of a volume',
    { volumes: [emptyDir] },
    { volumes: [{ name: 'data', configMap: { name: 'c' } }] },
  ),
  podSpecPair(
    'a volume unchanged, its defaults kept',
    { volumes: [{ name: 'data', secret: { secretName: 's' } }] },
    { volumes: [{ name: 'data', secret: { secretName: 's' } }], nodeSelector: { a: 'b' } },
  ),
  podSpecPair(
    'volumes added, removed, reordered',
    {
      volumes: [
        emptyDir,
        { name: 'b', emptyDir: { medium: 'Memory' } },
        { name: 'c', hostPath: { path: '/c' } },
      ],
    },
    {
      volumes: [
        { name: 'c', hostPath: { path: '/c', type: 'Directory' } },
        { name: 'd', emptyDir: {} },
        emptyDir,
      ],
    },
  ),
  podSpecPair('volumes all removed', { volumes: [emptyDir] }, {}),
  podSpecPair(
    'the claim template of an ephemeral volume',
    { volumes: [{ name: 'e', ephemeral: { volumeClaimTemplate: claimTemplate({ a: '1', b: '2' }) } }] },
    { volumes: [{ name: 'e', ephemeral: { volumeClaimTemplate: claimTemplate({ b: '3' }) } }] },
  ),
  podSpecPair(
    'mounts by their path',
    { volumes: [emptyDir], containers: [container({ volumeMounts: [mountData, mountTmp] })] },
    { volumes: [emptyDir], containers: [container({ volumeMounts: otherMounts })] },
  ),
  podSpecPair(
    'tolerations, an atomic list',
    { tolerations: [tolerated('a'), tolerated('b')] },
    { tolerations: [tolerated('b'), { key: 'c', value: 'x', effect: 'NoSchedule' }] },
  ),
  podSpecPair(
    'host aliases by address',
    { hostAliases: [alias('10.0.0.1', 'a', 'b'), alias('10.0.0.2', 'c')] },
    { hostAliases: [alias('10.0.0.3', 'd'), alias('10.0.0.1', 'b')] },
  ),
  podSpecPair(
    'pull secrets added, removed, reordered',
    { imagePullSecrets: [{ name: 'a' }, { name: 'b' }] },
    { imagePullSecrets: [{ name: 'c' }, { name: 'a' }] },
  ),
  podSpecPair(
    'spread constraints of one topology key',
    { topologySpreadConstraints: [spread('zone', 'DoNotSchedule'), spread('zone', 'ScheduleAnyway')] },
    { topologySpreadConstraints: [spread('zone', 'ScheduleAnyway'), spread('host', 'DoNotSchedule')] },
  ),
  podSpecPair(
    'a node selector member removed',
    { nodeSelector: { a: '1', b: '2' } },
    { nodeSelector: { b: '3' } },
  ),
  podSpecPair('a node selector emptied', { nodeSelector: { a: '1' } }, { nodeSelector: {} }),
  podSpecPair(
    'affinity, nested atomic lists',
    { affinity: affinity(['a', 'b']) },
    { affinity: affinity(['b']) },
  ),
  podSpecPair(
    'DNS settings',
    { dnsPolicy: 'None', dnsConfig: { nameservers: ['1.1.1.1', '8.8.8.8'] } },
    { dnsConfig: { nameservers: ['8.8.8.8'], options: [{ name: 'ndots', value: '2' }] } },
  ),
  podSpecPair('the service account removed', { serviceAccountName: 'robot' }, {}),
  podSpecPair('the grace period removed, back to its default', { terminationGracePeriodSeconds: 5 }, {}),
  podSpecPair(
    'the grace period null, back to its default',
    { terminationGracePeriodSeconds: 5 },
    { terminationGracePeriodSeconds: null },
  ),
  podSpecPair(
    'more than twelve variables',
    { containers: [container({ env: listVariables(0, 20) })] },
    { containers: [container({ env: listVariables(7, 25).reverse() })] },
  ),
];

function claimTemplate(labels: JsonObject): JsonObject {
  const resources = { requests: { storage: '1Gi' } };
  return { metadata: { labels }, spec: { accessModes: ['ReadWriteOnce'], resources } };
}

function spread(topologyKey: string, whenUnsatisfiable: string): JsonObject {
  return { topologyKey, whenUnsatisfiable, maxSkew: 1, labelSelector: selector };
}

function affinity(values: string[]): JsonObject {
  const matchExpressions = [{ key: 'zone', operator: 'In', values }];
  const required = { nodeSelectorTerms: [{ matchExpressions }] };
  return { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: required } };
}

function listVariables(from: number, to: number): JsonObject[] {
  return Array.from({ length: to - from }, (_, index) => ({
    name: `V${index + from}`,
    value: String(index),
  }));
}

export const pods: readonly Pair[] = [...containerPairs, ...podPairs];
