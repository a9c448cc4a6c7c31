import fc, { type Arbitrary } from 'fast-check';
import type { JsonObject, JsonValue } from '#core/json.ts';
import { maybe, pick, shuffle, shuffleSome, texts } from './generators.ts';
import { namePlaceholder } from './pair.ts';

const sources = pick<JsonObject>(
  { value: '1' },
  { value: '<&>' },
  { value: '' },
  {},
  { valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
  { valueFrom: { secretKeyRef: { name: 's', key: 'k', optional: true } } },
);
const variables = shuffle(['A', 'B', 'C', 'D'], sources).map((chosen) =>
  chosen.map(([name, source]) => ({ name, ...source })),
);
const ports = shuffleSome<JsonObject>(
  { name: 'web', containerPort: 8080 },
  { name: 'dns', containerPort: 53, protocol: 'UDP' },
  { name: 'dns-tcp', containerPort: 53, protocol: 'TCP' },
  { name: 'tls', containerPort: 443, protocol: 'TCP' },
  { containerPort: 9 },
);
const volumeNames = ['v1', 'v2', 'v3'];
const mounts = shuffle(['/a', '/b', '/c'], pick(...volumeNames)).map((chosen) =>
  chosen.map(([mountPath, name], index) => ({ name, mountPath, ...(index === 1 && { readOnly: true }) })),
);
const probes = pick<JsonObject>(
  { httpGet: { path: '/', port: 80 } },
  { httpGet: { path: '/x', port: 'web', scheme: 'HTTPS' }, periodSeconds: 3 },
  { exec: { command: ['true'] }, timeoutSeconds: 2 },
  { tcpSocket: { port: 80 } },
);
const resources = maybe({
  limits: maybe({ cpu: pick<JsonValue>('500m', '0.5', 1), memory: pick('1Gi', '1024Mi') }),
  requests: maybe({ cpu: pick<JsonValue>('100m', 0.25), memory: pick('64Mi', '0.5Gi') }),
});

/** @param special members that only some containers may have */
function containers(
  names: readonly string[],
  special: Record<string, Arbitrary<JsonValue>> = {},
): Arbitrary<JsonObject[]> {
  const members = maybe({
    ...special,
    env: variables,
    ports,
    volumeMounts: mounts,
    resources,
    command: pick<JsonValue>(['a'], ['a', 'b'], []),
    imagePullPolicy: pick('Always', 'IfNotPresent'),
    securityContext: maybe({
      runAsUser: pick(1, 2),
      privileged: fc.boolean(),
      capabilities: maybe({ add: shuffleSome('A', 'B') }),
    }),
    envFrom: shuffleSome<JsonObject>(
      { configMapRef: { name: 'a' } },
      { secretRef: { name: 'b' }, prefix: 'P_' },
    ),
  });
  const image = pick('registry.example/a:1', 'registry.example/a:2');
  return shuffle(names, fc.tuple(image, members)).map((chosen) =>
    chosen.map(([name, [image, rest]]) => ({ name, image, ...rest })),
  );
}

const volumeSources = pick<JsonObject>(
  { emptyDir: {} },
  { emptyDir: { medium: 'Memory' } },
  { configMap: { name: 'c' } },
  { configMap: { name: 'c', items: [{ key: 'a', path: 'b' }] } },
  { secret: { secretName: 's', defaultMode: 256 } },
  { hostPath: { path: '/x' } },
);
const volumes = fc
  .tuple(
    fc.shuffledSubarray(volumeNames, { minLength: 3 }),
    fc.array(volumeSources, { minLength: 4, maxLength: 4 }),
    fc.boolean(),
  )
  .map(([names, sources, hasExtra]) =>
    [...names, ...(hasExtra ? ['extra'] : [])].map((name, index) => ({ name, ...sources[index] })),
  );

const podSpecs = fc
  .tuple(
    containers(['a', 'b', 'c'], { livenessProbe: probes }).map((chosen) =>
      chosen.length > 0 ? chosen : [{ name: 'a', image: 'a' }],
    ),
    volumes,
    maybe({
      initContainers: containers(['i', 'j'], { restartPolicy: pick('Always') }),
      tolerations: shuffleSome<JsonObject>(
        { key: 'a', operator: 'Exists' },
        { key: 'b', value: '1', effect: 'NoSchedule' },
      ),
      imagePullSecrets: shuffleSome<JsonObject>({ name: 'x' }, { name: 'y' }, { name: 'z' }),
      hostAliases: shuffle(['10.0.0.1', '10.0.0.2'], pick<JsonValue>(['a'], ['a', 'b'])).map((chosen) =>
        chosen.map(([ip, hostnames]) => ({ ip, hostnames })),
      ),
      nodeSelector: maybe({ a: texts, b: texts }),
      serviceAccountName: pick('default', 'robot'),
      terminationGracePeriodSeconds: pick<JsonValue>(1, 30, null),
      securityContext: maybe({ runAsNonRoot: fc.boolean(), supplementalGroups: shuffleSome(1, 2, 3) }),
      topologySpreadConstraints: shuffleSome<JsonObject>(
        { topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule', maxSkew: 1 },
        { topologyKey: 'zone', whenUnsatisfiable: 'ScheduleAnyway', maxSkew: 2 },
        { topologyKey: 'host', whenUnsatisfiable: 'ScheduleAnyway', maxSkew: 1 },
      ),
    }),
  )
  .map(([containers, volumes, rest]) => ({ containers, volumes, ...rest }));

/** Templates of Pods that carry the label `app` with the object's name. */
export const podTemplates: Arbitrary<JsonObject> = fc
  .tuple(podSpecs, maybe({ x: texts, y: texts }), maybe({ z: texts }))
  .map(([spec, labels, annotations]) => ({
    metadata: { labels: { ...labels, app: namePlaceholder }, annotations },
    spec,
  }));

/** Specs of Deployments that start no Pods. */
export const deploymentSpecs: Arbitrary<JsonObject> = fc
  .tuple(
    podTemplates,
    maybe({
      replicas: pick<JsonValue>(0, 2, 3),
      strategy: pick<JsonObject>(
        { type: 'Recreate' },
        { type: 'RollingUpdate' },
        { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1 } },
        { rollingUpdate: { maxSurge: '50%', maxUnavailable: 0 }, type: 'RollingUpdate' },
      ),
      minReadySeconds: pick(1, 2),
      revisionHistoryLimit: pick<JsonValue>(1, null),
      progressDeadlineSeconds: pick(100, 600),
    }),
  )
  .map(([template, rest]) => ({
    paused: true,
    selector: { matchLabels: { app: namePlaceholder } },
    template,
    ...rest,
  }));
