import { expect, test } from 'vitest';
import type { JsonObject } from '#core/json.ts';
import { finishDraft } from '#providers/kubernetes/v1/build/draft.ts';
import { buildPodSpec } from '#providers/kubernetes/v1/build/pod.ts';
import { deployField } from '#providers/kubernetes/v1/descriptions/server-group.ts';
import { parseWith, requireField } from '#settings/coerce.ts';

function build(fields: JsonObject): JsonObject {
  const description = parseWith(requireField(deployField), fields, 'createServerGroup');
  return finishDraft(buildPodSpec(description, { pullSecrets: [], defaultRegistry: 'gcr.io' }));
}

function buildContainer(fields: JsonObject): unknown {
  const { containers } = build({
    containers: [{ name: 'web', imageDescription: { repository: 'web' }, ...fields }],
  });
  return Array.isArray(containers) ? containers[0] : undefined;
}

const plain = { name: 'web', image: 'gcr.io/web:latest', imagePullPolicy: 'IfNotPresent', resources: {} };

/** Fields that are members of the object, too. */
const same = (fields: JsonObject) => [fields, fields] as const;

test.each<readonly [JsonObject, JsonObject]>([
  [
    { restartPolicy: 'Always', dnsPolicy: 'ClusterFirst', terminationGracePeriodSeconds: '30' },
    { restartPolicy: 'Always', dnsPolicy: 'ClusterFirst', terminationGracePeriodSeconds: 30 },
  ],
  [{ terminationGracePeriodSeconds: 0, restartPolicy: '', nodeSelector: {} }, {}],
  same({ serviceAccountName: 'robot', nodeSelector: { disk: 'ssd' }, hostNetwork: true }),
  same({
    tolerations: [{ key: 'a', operator: 'Equal', value: 'b', effect: 'NoExecute', tolerationSeconds: 9 }],
  }),
  [
    { initContainers: [{ name: 'init', imageDescription: { uri: 'quay.io/init:1' } }] },
    {
      initContainers: [
        { name: 'init', image: 'quay.io/init:1', imagePullPolicy: 'IfNotPresent', resources: {} },
      ],
    },
  ],
])('the pod of %j', (fields, spec) => {
  expect(build(fields)).toEqual({ containers: [], ...spec });
});

test('containers of one server group share a pod', () => {
  const containers = ['web', 'side'].map((name) => ({ name, imageDescription: { repository: 'web' } }));
  expect(build({ containers })).toEqual({ containers: [plain, { ...plain, name: 'side' }] });
});

test.each<readonly [JsonObject, JsonObject]>([
  [{ type: 'HOSTPATH', hostPath: { path: '/data' } }, { hostPath: { path: '/data' } }],
  [{ type: 'EMPTYDIR', emptyDir: {} }, { emptyDir: {} }],
  [{ type: 'EMPTYDIR', emptyDir: { medium: 'MEMORY' } }, { emptyDir: { medium: 'Memory' } }],
  [
    { type: 'PERSISTENTVOLUMECLAIM', persistentVolumeClaim: { claimName: 'c', readOnly: 'true' } },
    { persistentVolumeClaim: { claimName: 'c', readOnly: true } },
  ],
  [{ type: 'SECRET', secret: { secretName: 's' } }, { secret: { secretName: 's' } }],
  [
    {
      type: 'CONFIGMAP',
      configMap: { configMapName: 'm', defaultMode: 420, items: [{ key: 'k', path: 'p', defaultMode: 256 }] },
    },
    { configMap: { name: 'm', defaultMode: 420, items: [{ key: 'k', path: 'p', mode: 256 }] } },
  ],
  [
    { type: 'AWSELASTICBLOCKSTORE', awsElasticBlockStore: { volumeId: 'v', fsType: 'ext4', partition: 0 } },
    { awsElasticBlockStore: { volumeID: 'v', fsType: 'ext4' } },
  ],
  [
    { type: 'NFS', nfs: { server: 'n', path: '/p', readOnly: false } },
    { nfs: { server: 'n', path: '/p', readOnly: false } },
  ],
])('the volume of %j', (source, volume) => {
  const { volumes } = build({ volumeSources: [{ name: 'v', ...source }] });
  expect(volumes).toEqual([{ name: 'v', ...volume }]);
});

const httpGetAction = { path: '/', port: '80', uriScheme: 'HTTP', httpHeaders: [] };
const late = { initialDelaySeconds: 0, timeoutSeconds: 2 };

test.each<readonly [JsonObject, JsonObject]>([
  [{ imagePullPolicy: 'ALWAYS' }, { imagePullPolicy: 'Always' }],
  [{ imagePullPolicy: 'NEVER' }, { imagePullPolicy: 'Never' }],
  [
    { requests: { cpu: 1, memory: '1Gi' }, limits: { cpu: '', memory: '2Gi' } },
    { resources: { requests: { cpu: '1', memory: '1Gi' }, limits: { memory: '2Gi' } } },
  ],
  [
    { ports: [{ name: 'http', containerPort: '80', protocol: 'TCP', hostIp: '', hostPort: 0 }] },
    { ports: [{ name: 'http', containerPort: 80, protocol: 'TCP' }] },
  ],
  [
    { ports: [{ containerPort: 80, hostIp: '10.0.0.1', hostPort: 8080 }] },
    { ports: [{ containerPort: 80, hostIP: '10.0.0.1', hostPort: 8080 }] },
  ],
  [
    { readinessProbe: { ...late, handler: { type: 'HTTP', httpGetAction }, periodSeconds: 0 } },
    { readinessProbe: { ...late, httpGet: { path: '/', port: 80, scheme: 'HTTP' } } },
  ],
  [
    {
      livenessProbe: { handler: { type: 'TCP', tcpSocketAction: { port: 80 } }, failureThreshold: 3 },
      lifecycle: { preStop: { type: 'EXEC', execAction: { commands: ['sleep', '1'] } } },
    },
    {
      livenessProbe: { tcpSocket: { port: 80 }, failureThreshold: 3 },
      lifecycle: { preStop: { exec: { command: ['sleep', '1'] } } },
    },
  ],
  [
    { volumeMounts: [{ name: 'v', mountPath: '/data', readOnly: true, subPath: '' }] },
    { volumeMounts: [{ name: 'v', mountPath: '/data', readOnly: true }] },
  ],
  [
    {
      envVars: [
        { name: 'A', value: 'a' },
        { name: 'B', value: '', envSource: { secretSource: { secretName: 's', key: 'k' } } },
        { name: 'C', envSource: { configMapSource: { configMapName: 'm', key: 'k', optional: false } } },
        { name: 'D', envSource: { fieldRef: { fieldPath: 'status.podIP' } } },
        { name: 'E', envSource: { resourceFieldRef: { resource: 'limits.cpu', divisor: '1' } } },
        { name: 'F', value: '' },
        { name: 'G' },
        { name: 'H', envSource: {} },
      ],
    },
    {
      env: [
        { name: 'A', value: 'a' },
        { name: 'B', valueFrom: { secretKeyRef: { name: 's', key: 'k', optional: true } } },
        { name: 'C', valueFrom: { configMapKeyRef: { name: 'm', key: 'k', optional: false } } },
        { name: 'D', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } },
        { name: 'E', valueFrom: { resourceFieldRef: { resource: 'limits.cpu', divisor: '1' } } },
        { name: 'F', value: '' },
      ],
    },
  ],
  same({
    envFrom: [{ prefix: 'P_', configMapRef: { name: 'm' }, secretRef: { name: 's', optional: true } }],
  }),
  same({ command: ['run'], args: ['--fast'] }),
  same({ securityContext: { capabilities: { add: ['NET_ADMIN'] }, runAsUser: 5 } }),
  [{ securityContext: { capabilities: {}, privileged: true } }, { securityContext: { privileged: true } }],
])('the container of %j', (fields, container) => {
  expect(buildContainer(fields)).toEqual({ ...plain, ...container });
});
