import { expect, test } from 'vitest';
import type { JsonObject } from '#core/json.ts';
import { AttributeRules } from '#providers/kubernetes/v1/descriptions/attribute-rules.ts';
import {
  checkDeploy,
  checkResize,
  checkSwitch,
  deployField,
  resizeField,
  switchField,
} from '#providers/kubernetes/v1/descriptions/server-group.ts';
import { parseWith, requireField } from '#settings/coerce.ts';

const image = { repository: 'web' };
const web = { name: 'web', imageDescription: image };
const valid = {
  application: 'kub',
  stack: 'test',
  freeFormDetails: 'a-b',
  namespace: 'shop',
  targetSize: 2,
  containers: [web],
};
const name = '^[a-z0-9]+([-a-z0-9]*[a-z0-9])?$';
const must = (rule: string) => `invalid (Must match ${rule})`;

function listErrors(change: JsonObject): readonly string[] {
  const rules = new AttributeRules('deploy', ['shop']);
  checkDeploy(parseWith(requireField(deployField), { ...valid, ...change }, 'createServerGroup'), rules);
  return rules.errors;
}

/** A change by which the container `web` has these fields besides. */
const container = (fields: JsonObject): JsonObject => ({ containers: [{ ...web, ...fields }] });
const volume = (fields: JsonObject): JsonObject => ({ volumeSources: [{ name: 'v', ...fields }] });
const probe = (fields: JsonObject): JsonObject => container({ livenessProbe: fields });

/** A change, and what is wrong with it. */
type Wrong = readonly [JsonObject, string];
const ofContainer = (fields: JsonObject, what: string): Wrong => [container(fields), `container[0].${what}`];
const ofProbe = (fields: JsonObject, error: string): Wrong =>
  ofContainer({ livenessProbe: fields }, `livenessProbe.${error}`);
const ofVolume = (fields: JsonObject, error: string): Wrong => [volume(fields), `volumeSources[0].${error}`];

test.each<JsonObject>([
  {},
  { stack: null, freeFormDetails: '', namespace: null, targetSize: 0 },
  { targetSize: null, capacity: { desired: 0 } },
  { targetSize: null, source: { useSourceCapacity: true, serverGroupName: 'kub-v000' } },
  { loadBalancers: ['front'], securityGroups: ['a'], restartPolicy: 'Always' },
  { scalingPolicy: { cpuUtilization: { target: 50 } }, capacity: { min: 1, max: 2, desired: 1 } },
  container({ requests: { cpu: '250m', memory: '1.5Gi' }, ports: [{ containerPort: 80, hostPort: 0 }] }),
  container({
    volumeMounts: [{ name: 'v', mountPath: 'C:\\data' }],
    command: ['x'],
    envVars: [{ name: 'A_B' }],
  }),
  probe({ handler: { type: 'HTTP', httpGetAction: { port: 80, path: '/' } }, timeoutSeconds: 0 }),
  volume({ type: 'EMPTYDIR', emptyDir: {} }),
  volume({ type: 'NFS', nfs: { server: 'n', path: '/' } }),
])('%j is right', (change) => {
  expect(listErrors(change)).toEqual([]);
});

test.each<Wrong>([
  [{ application: '' }, 'application.empty'],
  [{ application: 'Kub' }, `application.${must('^[a-z0-9]+$')}`],
  [{ stack: 'a-b' }, `stack.${must('^[a-z0-9]+$')}`],
  [{ freeFormDetails: '-a' }, `details.${must(name)}`],
  [{ targetSize: -1 }, 'targetSize.negative'],
  [{ targetSize: null }, 'targetSize.empty'],
  [{ namespace: 'other' }, 'namespace.notRegistered'],
  [{ source: { namespace: 'other' } }, 'namespace.notRegistered'],
  [{ restartPolicy: 'never' }, 'restartPolicy.invalid (Must be one of [Always, OnFailure, Never])'],
  [{ loadBalancers: ['front', 'No'] }, `loadBalancers[1].${must(name)}`],
  [{ securityGroups: [''] }, 'securityGroups[0].empty'],
  [{ containers: [] }, 'containers.empty'],
  [{ scalingPolicy: {}, capacity: { min: 1, max: 1 } }, 'scalingPolicy.cpuUtilization.empty'],
  [
    { scalingPolicy: { cpuUtilization: { target: 0 } }, capacity: { min: 1, max: 1 } },
    'scalingPolicy.cpuUtilization.target.notPositive',
  ],
  [{ scalingPolicy: { cpuUtilization: { target: 5 } }, capacity: { max: 1 } }, 'capacity.min.empty'],
  ofContainer({ name: null }, 'name.empty'),
  ofContainer({ name: 'a'.repeat(5_000) }, `name.${must(name)}`),
  ofContainer({ imageDescription: null }, 'imageDescription.empty'),
  ofContainer(
    { limits: { cpu: 'much' } },
    `limits.cpu.${must('^([+-]?[0-9.]+)([eEimkKMGTP]*[-+]?[0-9]*)$')}`,
  ),
  ofContainer(
    { ports: [{ containerPort: 0 }] },
    'ports[0].containerPort.invalid (Must be in range [1, 65535])',
  ),
  ofContainer({ ports: [{ hostIp: '10.0.0' }] }, 'ports[0].hostIp.invalid (Not valid IPv4 address)'),
  ofContainer({ ports: [{ protocol: 'SCTP' }] }, 'ports[0].protocol.invalid (Must be one of [TCP, UDP])'),
  ofContainer({ envVars: [{ value: 'a' }] }, 'envVars[0].name.empty'),
  ofContainer({ volumeMounts: [{ mountPath: '/a' }] }, 'mounts[0].name.empty'),
  ofContainer(
    { volumeMounts: [{ name: 'v', mountPath: 'a' }] },
    `mounts[0].mountPath.${must('^\\/.*$ or ^[a-zA-Z]:(\\\\|\\/).*$')}`,
  ),
  ofContainer({ args: ['a', ''] }, 'args[1].empty'),
  ofProbe(
    { initialDelaySeconds: -1, handler: { type: 'EXEC', execAction: { commands: ['a'] } } },
    'initialDelaySeconds.negative',
  ),
  ofProbe(
    { periodSeconds: -1, handler: { type: 'TCP', tcpSocketAction: { port: 1 } } },
    'periodSeconds.notPositive',
  ),
  ofProbe({}, 'handler.empty'),
  ofProbe({ handler: {} }, 'handler.type.empty'),
  ofProbe({ handler: { type: 'EXEC' } }, 'handler.execAction.commands.empty'),
  ofProbe({ handler: { type: 'HTTP' } }, 'handler.httpGetAction.port.empty'),
  ofVolume({}, 'type.empty'),
  ofVolume({ type: 'EMPTYDIR' }, 'emptyDir.empty'),
  ofVolume({ type: 'UNSUPPORTED' }, 'type.invalid (UNSUPPORTED not supported)'),
  ofVolume({ type: 'SECRET' }, 'secret.secretName.empty'),
  ofVolume({ type: 'HOSTPATH', hostPath: {} }, 'hostPath.path.empty'),
  ofVolume(
    { type: 'CONFIGMAP', configMap: { configMapName: 'm', items: [{ key: 'k', path: '/p' }] } },
    `configMap.items[0].path.${must('^[^\\/].*$')}`,
  ),
  [{ initContainers: [{ ...web, name: 'No' }] }, `initContainer[0].name.${must(name)}`],
])('%j is wrong', (change, error) => {
  expect(listErrors(change)).toEqual([`deploy.${error}`]);
});

test('all that is wrong is told at once', () => {
  expect(listErrors({ application: '', containers: null, namespace: 'other' })).toEqual([
    'deploy.application.empty',
    'deploy.containers.empty',
    'deploy.namespace.notRegistered',
  ]);
});

test.each<readonly [JsonObject, readonly string[]]>([
  [{ serverGroupName: 'kub-v000', capacity: { desired: 0 } }, []],
  [{ serverGroupName: 'kub-v000', region: 'other', capacity: { desired: 0 } }, ['namespace.notRegistered']],
  [{ capacity: { desired: 0 } }, ['serverGroupName.empty']],
  [{ serverGroupName: 'kub-v000' }, ['capacity.empty']],
  [{ serverGroupName: 'kub-v000', capacity: {} }, ['capacity.desired.empty']],
  [{ serverGroupName: 'kub-v000', capacity: { desired: -1 } }, ['capacity.desired.negative']],
])('of the size %j is wrong %j', (description, errors) => {
  const rules = new AttributeRules('resize', ['shop']);
  checkResize(parseWith(requireField(resizeField), description, 'resizeServerGroup'), rules);
  expect(rules.errors).toEqual(errors.map((error) => `resize.${error}`));
});

test.each([-1, 101])('%d percent of a server group are none', (desiredPercentage) => {
  const rules = new AttributeRules('enable', []);
  const description = { serverGroupName: 'kub-v000', desiredPercentage };
  checkSwitch(parseWith(requireField(switchField), description, 'enableServerGroup'), rules);
  expect(rules.errors).toEqual(['enable.desiredPercent.invalid (Must be in range [0, 100])']);
});
