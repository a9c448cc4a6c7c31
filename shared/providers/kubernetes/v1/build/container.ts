import type {
  V1Container,
  V1EnvVar,
  V1LifecycleHandler,
  V1Probe,
  V1SecurityContext,
} from '@kubernetes/client-node';
import type {
  ContainerDescription,
  EnvVarDescription,
  HandlerDescription,
  ProbeDescription,
  SecurityContextDescription,
} from '../descriptions/container.ts';
import { type Draft, findItems, findMembers } from './draft.ts';
import { formatImage } from './image.ts';

const pullPolicies = { IFNOTPRESENT: 'IfNotPresent', ALWAYS: 'Always', NEVER: 'Never' } as const;

/**
 * A container of a pod.
 *
 * @param defaultRegistry the registry of images that name none
 * @throws FailedOperationError if its image has no repository.
 */
export function buildContainer(
  description: ContainerDescription,
  defaultRegistry: string,
): Draft<V1Container> {
  const { requests, limits, lifecycle, securityContext } = description;
  return {
    name: description.name,
    image: formatImage(description.imageDescription ?? {}, defaultRegistry),
    imagePullPolicy: pullPolicies[description.imagePullPolicy ?? 'IFNOTPRESENT'],
    ports: findItems(
      description.ports.map(({ name, containerPort, protocol, hostIp, hostPort }) => ({
        name: name || undefined,
        containerPort,
        protocol: protocol || undefined,
        hostIP: hostIp || undefined,
        hostPort: hostPort || undefined,
      })),
    ),
    resources: { requests: buildAmounts(requests), limits: buildAmounts(limits) },
    volumeMounts: findItems(
      description.volumeMounts.map((mount) => ({ ...mount, subPath: mount.subPath || undefined })),
    ),
    livenessProbe: description.livenessProbe && buildProbe(description.livenessProbe),
    readinessProbe: description.readinessProbe && buildProbe(description.readinessProbe),
    lifecycle: lifecycle && {
      postStart: lifecycle.postStart && buildHandler(lifecycle.postStart),
      preStop: lifecycle.preStop && buildHandler(lifecycle.preStop),
    },
    env: findItems(description.envVars.flatMap((variable) => buildEnvVar(variable) ?? [])),
    envFrom: findItems(
      description.envFrom.map(({ prefix, ...references }) => ({
        prefix: prefix || undefined,
        ...references,
      })),
    ),
    command: findItems(description.command),
    args: findItems(description.args),
    securityContext: securityContext && buildSecurityContext(securityContext),
  };
}

function buildAmounts(
  amounts: ContainerDescription['requests'],
): { readonly [resource: string]: string } | undefined {
  const { cpu, memory } = amounts ?? {};
  return findMembers({ ...(cpu && { cpu }), ...(memory && { memory }) });
}

/** Deck sends 0 for Kubernetes' defaults. */
function buildProbe(probe: ProbeDescription): Draft<V1Probe> {
  return {
    ...(probe.handler && buildHandler(probe.handler)),
    initialDelaySeconds: probe.initialDelaySeconds,
    timeoutSeconds: probe.timeoutSeconds || undefined,
    periodSeconds: probe.periodSeconds || undefined,
    successThreshold: probe.successThreshold || undefined,
    failureThreshold: probe.failureThreshold || undefined,
  };
}

function buildHandler(handler: HandlerDescription): Draft<V1LifecycleHandler> {
  const { type, execAction, tcpSocketAction, httpGetAction } = handler;
  if (type === 'EXEC') return { exec: { command: execAction?.commands } };
  if (type === 'TCP') return { tcpSocket: { port: tcpSocketAction?.port } };
  if (type !== 'HTTP') return {};
  return {
    httpGet: {
      path: httpGetAction?.path || undefined,
      port: httpGetAction?.port,
      host: httpGetAction?.host || undefined,
      scheme: httpGetAction?.uriScheme || undefined,
      httpHeaders: findItems(httpGetAction?.httpHeaders ?? []),
    },
  };
}

/** Undefined for a variable without a value. A source wins over an empty value, which Deck sends with it. */
function buildEnvVar({ name, value, envSource }: EnvVarDescription): Draft<V1EnvVar> | undefined {
  if (value) return { name, value };
  const { secretSource, configMapSource, fieldRef, resourceFieldRef } = envSource ?? {};
  if (secretSource?.secretName) {
    const { secretName, key, optional } = secretSource;
    return { name, valueFrom: { secretKeyRef: { name: secretName, key, optional } } };
  }
  if (configMapSource?.configMapName) {
    const { configMapName, key, optional } = configMapSource;
    return { name, valueFrom: { configMapKeyRef: { name: configMapName, key, optional } } };
  }
  if (fieldRef?.fieldPath) return { name, valueFrom: { fieldRef } };
  if (resourceFieldRef?.resource) return { name, valueFrom: { resourceFieldRef } };
  return value === undefined ? undefined : { name, value };
}

function buildSecurityContext(context: SecurityContextDescription): Draft<V1SecurityContext> {
  const { add = [], drop = [] } = context.capabilities ?? {};
  return {
    ...context,
    capabilities: findMembers({
      ...(add.length > 0 && { add }),
      ...(drop.length > 0 && { drop }),
    }),
  };
}
