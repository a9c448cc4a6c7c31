import { isIPv4 } from 'node:net';
import type { z } from 'zod';
import {
  booleanField,
  enumField,
  intField,
  listOf,
  objectField,
  stringField,
  stringListField,
  stringMapField,
  withDefault,
} from '#settings/coerce.ts';
import { type AttributeRules, httpPathRule, nameRule, pathRule, quantityRule } from './attribute-rules.ts';

/** A field that may also be text with digits, such as a size in percent or the name of a port. */
const text = stringField;

const resourcesField = objectField({ cpu: text(), memory: text() });

/** Names an image, by a whole `uri` or by its parts. */
const imageField = objectField({
  uri: text(),
  registry: text(),
  repository: text(),
  tag: text(),
  digest: text(),
});

/** An action of a container's lifecycle, or of a probe. */
const handlerField = objectField({
  type: enumField(['EXEC', 'TCP', 'HTTP']),
  execAction: objectField({ commands: withDefault(stringListField(), []) }),
  httpGetAction: objectField({
    path: text(),
    port: intField(),
    host: text(),
    uriScheme: text(),
    httpHeaders: withDefault(listOf(objectField({ name: text(), value: text() })), []),
  }),
  tcpSocketAction: objectField({ port: intField() }),
}).meta({ id: 'KubernetesV1Handler' });

const probeField = objectField({
  handler: handlerField,
  initialDelaySeconds: intField(),
  timeoutSeconds: intField(),
  periodSeconds: intField(),
  successThreshold: intField(),
  failureThreshold: intField(),
}).meta({ id: 'KubernetesV1Probe' });

const portField = objectField({
  name: text(),
  containerPort: intField(),
  protocol: text(),
  hostIp: text(),
  hostPort: intField(),
});

const envVarField = objectField({
  name: text(),
  value: text(),
  envSource: objectField({
    secretSource: objectField({
      secretName: text(),
      key: text(),
      optional: withDefault(booleanField(), true),
    }),
    configMapSource: objectField({
      configMapName: text(),
      key: text(),
      optional: withDefault(booleanField(), true),
    }),
    fieldRef: objectField({ fieldPath: text() }),
    resourceFieldRef: objectField({ resource: text(), containerName: text(), divisor: text() }),
  }),
});

const envFromReference = objectField({ name: text(), optional: booleanField() });

/** The privileges of a container, or a pod, on its node. */
export const securityContextField = objectField({
  capabilities: objectField({
    add: withDefault(stringListField(), []),
    drop: withDefault(stringListField(), []),
  }),
  privileged: booleanField(),
  seLinuxOptions: objectField({ user: text(), role: text(), type: text(), level: text() }),
  runAsUser: intField({ max: Number.MAX_SAFE_INTEGER }),
  runAsNonRoot: booleanField(),
  readOnlyRootFilesystem: booleanField(),
});

/** One container of a pod, in the words of Spinnaker's V1 descriptions. */
export const containerField = objectField({
  name: text(),
  imageDescription: imageField,
  imagePullPolicy: enumField(['IFNOTPRESENT', 'ALWAYS', 'NEVER']),
  requests: resourcesField,
  limits: resourcesField,
  ports: withDefault(listOf(portField), []),
  livenessProbe: probeField,
  readinessProbe: probeField,
  lifecycle: objectField({ postStart: handlerField, preStop: handlerField }),
  volumeMounts: withDefault(
    listOf(objectField({ name: text(), readOnly: booleanField(), mountPath: text(), subPath: text() })),
    [],
  ),
  envVars: withDefault(listOf(envVarField), []),
  envFrom: withDefault(
    listOf(objectField({ prefix: text(), configMapRef: envFromReference, secretRef: envFromReference })),
    [],
  ),
  command: withDefault(stringListField(), []),
  args: withDefault(stringListField(), []),
  securityContext: securityContextField,
}).meta({ id: 'KubernetesV1Container' });

/** A map of texts; empty by default. */
export const textMap = withDefault(stringMapField(), {});

type Output<F extends z.ZodType> = Exclude<z.output<F>, undefined>;

/** A parsed container. */
export type ContainerDescription = Output<typeof containerField>;
/** A parsed name of an image. */
export type ImageDescription = Output<typeof imageField>;
/** A parsed probe. */
export type ProbeDescription = Output<typeof probeField>;
/** A parsed handler. */
export type HandlerDescription = Output<typeof handlerField>;
/** A parsed variable of a container's environment. */
export type EnvVarDescription = Output<typeof envVarField>;
/** A parsed security context. */
export type SecurityContextDescription = Output<typeof securityContextField>;

const protocols = ['TCP', 'UDP'];
const schemes = ['HTTP', 'HTTPS'];

/** Reports what is wrong with a container. @param at its path, in Spinnaker's form: `container[0]` */
export function checkContainer(container: ContainerDescription, at: string, rules: AttributeRules): void {
  rules.requireText(container.name, `${at}.name`, nameRule);
  if (container.imageDescription === undefined) rules.reject(`${at}.imageDescription`, 'empty');
  for (const part of ['limits', 'requests'] as const) {
    rules.checkText(container[part]?.cpu, `${at}.${part}.cpu`, quantityRule);
    rules.checkText(container[part]?.memory, `${at}.${part}.memory`, quantityRule);
  }
  rules.checkEach(container.ports, `${at}.ports`, checkPort);
  rules.checkEach(container.envVars, `${at}.envVars`, ({ name }, place) =>
    rules.checkPresent(name, `${place}.name`),
  );
  rules.checkEach(container.volumeMounts, `${at}.mounts`, ({ name, mountPath }, place) => {
    rules.requireText(name, `${place}.name`, nameRule);
    rules.requireText(mountPath, `${place}.mountPath`, pathRule);
  });
  for (const part of ['livenessProbe', 'readinessProbe'] as const)
    checkProbe(container[part], `${at}.${part}`, rules);
  for (const part of ['command', 'args'] as const)
    rules.checkEach(container[part], `${at}.${part}`, (word, place) => rules.checkPresent(word, place));
}

function checkPort(port: ContainerDescription['ports'][number], at: string, rules: AttributeRules): void {
  rules.checkText(port.name, `${at}.name`, nameRule);
  rules.checkPort(port.containerPort, `${at}.containerPort`);
  rules.checkPort(port.hostPort || undefined, `${at}.hostPort`);
  checkIpv4(port.hostIp, `${at}.hostIp`, rules);
  rules.checkOneOf(port.protocol, `${at}.protocol`, protocols);
}

/** Rejects anything but an IPv4 address; a missing one is fine. */
export function checkIpv4(value: string | undefined, attribute: string, rules: AttributeRules): void {
  if (value && !isIPv4(value)) rules.reject(attribute, 'invalid (Not valid IPv4 address)');
}

function checkProbe(probe: ProbeDescription | undefined, at: string, rules: AttributeRules): void {
  if (probe === undefined) return;
  rules.checkNotNegative(probe.initialDelaySeconds, `${at}.initialDelaySeconds`);
  for (const part of ['timeoutSeconds', 'periodSeconds', 'successThreshold', 'failureThreshold'] as const)
    rules.checkPositive(probe[part] || undefined, `${at}.${part}`);
  if (probe.handler === undefined) rules.reject(`${at}.handler`, 'empty');
  else checkHandler(probe.handler, `${at}.handler`, rules);
}

function checkHandler(handler: HandlerDescription, at: string, rules: AttributeRules): void {
  const { type, execAction, tcpSocketAction, httpGetAction } = handler;
  if (!rules.checkPresent(type, `${at}.type`)) return;
  if (type === 'EXEC') rules.checkPresent(execAction?.commands, `${at}.execAction.commands`);
  if (type === 'TCP' && rules.checkPresent(tcpSocketAction?.port, `${at}.tcpSocketAction.port`))
    rules.checkPort(tcpSocketAction?.port, `${at}.tcpSocketAction.port`);
  if (type !== 'HTTP') return;
  if (rules.checkPresent(httpGetAction?.port, `${at}.httpGetAction.port`))
    rules.checkPort(httpGetAction?.port, `${at}.httpGetAction.port`);
  rules.checkText(httpGetAction?.path, `${at}.httpGetAction.path`, httpPathRule);
  rules.checkOneOf(httpGetAction?.uriScheme, `${at}.httpGetAction.uriScheme`, schemes);
}
