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
