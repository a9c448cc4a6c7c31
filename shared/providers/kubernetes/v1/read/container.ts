import type {
  V1Container,
  V1EnvVar,
  V1LifecycleHandler,
  V1Probe,
  V1SecurityContext,
} from '@kubernetes/client-node';
import { asJsonObject, asString, type JsonValue } from '#core/json.ts';
import { findNumber, readList, type Unchecked } from '../../api/unchecked.ts';
import { type Draft, findMembers } from '../build/draft.ts';
import { parseUri } from '../build/image.ts';
import type {
  ContainerDescription,
  EnvVarDescription,
  HandlerDescription,
  ProbeDescription,
  SecurityContextDescription,
} from '../descriptions/container.ts';
import { findAmount, findFlag, listTexts } from './values.ts';

const pullPolicies = new Map<JsonValue | undefined, ContainerDescription['imagePullPolicy']>([
  ['IfNotPresent', 'IFNOTPRESENT'],
  ['Always', 'ALWAYS'],
  ['Never', 'NEVER'],
]);

/** A pod's container in the form of V1 descriptions: the input of `buildContainer`. */
export function readContainer(container: Unchecked<V1Container>): Draft<ContainerDescription> {
  return {
    name: asString(container?.name),
    imageDescription: parseUri(asString(container?.image) ?? ''),
    imagePullPolicy: pullPolicies.get(container?.imagePullPolicy),
    requests: readAmounts(container?.resources?.requests),
    limits: readAmounts(container?.resources?.limits),
    ports: readList(container?.ports).map((port) => ({
      name: asString(port?.name),
      containerPort: findNumber(port?.containerPort),
      protocol: asString(port?.protocol),
      hostIp: asString(port?.hostIP),
      hostPort: findNumber(port?.hostPort),
    })),
    livenessProbe: container?.livenessProbe ? readProbe(container.livenessProbe) : undefined,
    readinessProbe: container?.readinessProbe ? readProbe(container.readinessProbe) : undefined,
    lifecycle: container?.lifecycle
      ? {
          postStart: findHandler(container.lifecycle.postStart),
          preStop: findHandler(container.lifecycle.preStop),
        }
      : undefined,
    volumeMounts: readList(container?.volumeMounts).map((mount) => ({
      name: asString(mount?.name),
      readOnly: findFlag(mount?.readOnly),
      mountPath: asString(mount?.mountPath),
      subPath: asString(mount?.subPath),
    })),
    envVars: readList(container?.env).map(readEnvVar),
    envFrom: readList(container?.envFrom).map((source) => ({
      prefix: asString(source?.prefix),
      configMapRef: readReference(source?.configMapRef),
      secretRef: readReference(source?.secretRef),
    })),
    command: listTexts(container?.command),
    args: listTexts(container?.args),
    securityContext: container?.securityContext ? readSecurityContext(container.securityContext) : undefined,
  };
}

function readAmounts(amounts: JsonValue | undefined): Draft<ContainerDescription['requests']> | undefined {
  const { cpu, memory } = asJsonObject(amounts) ?? {};
  const found = { cpu: findAmount(cpu), memory: findAmount(memory) };
  return found.cpu === undefined && found.memory === undefined ? undefined : found;
}

function readProbe(probe: NonNullable<Unchecked<V1Probe>>): Draft<ProbeDescription> {
  return {
    handler: findHandler(probe),
    initialDelaySeconds: findNumber(probe.initialDelaySeconds),
    timeoutSeconds: findNumber(probe.timeoutSeconds),
    periodSeconds: findNumber(probe.periodSeconds),
    successThreshold: findNumber(probe.successThreshold),
    failureThreshold: findNumber(probe.failureThreshold),
  };
}

/** Probes name their actions like lifecycle handlers. */
function findHandler(handler: Unchecked<V1LifecycleHandler>): Draft<HandlerDescription> | undefined {
  const { exec, tcpSocket, httpGet } = handler ?? {};
  if (exec) return { type: 'EXEC', execAction: { commands: listTexts(exec.command) } };
  if (tcpSocket) return { type: 'TCP', tcpSocketAction: { port: findNumber(tcpSocket.port) } };
  if (!httpGet) return undefined;
  return {
    type: 'HTTP',
    httpGetAction: {
      path: asString(httpGet.path),
      port: findNumber(httpGet.port),
      host: asString(httpGet.host),
      uriScheme: asString(httpGet.scheme),
      httpHeaders: readList(httpGet.httpHeaders).map((header) => ({
        name: asString(header?.name),
        value: asString(header?.value),
      })),
    },
  };
}

function readEnvVar(variable: Unchecked<V1EnvVar>): Draft<EnvVarDescription> {
  const name = asString(variable?.name);
  const { secretKeyRef, configMapKeyRef, fieldRef, resourceFieldRef } = variable?.valueFrom ?? {};
  if (secretKeyRef) {
    const { name: secretName, key, optional } = secretKeyRef;
    const source = { secretName: asString(secretName), key: asString(key), optional: findFlag(optional) };
    return { name, envSource: { secretSource: source } };
  }
  if (configMapKeyRef) {
    const { name: configMapName, key, optional } = configMapKeyRef;
    const source = {
      configMapName: asString(configMapName),
      key: asString(key),
      optional: findFlag(optional),
    };
    return { name, envSource: { configMapSource: source } };
  }
  if (fieldRef) return { name, envSource: { fieldRef: { fieldPath: asString(fieldRef.fieldPath) } } };
  if (!resourceFieldRef) return { name, value: asString(variable?.value) };
  const { resource, containerName, divisor } = resourceFieldRef;
  const source = {
    resource: asString(resource),
    containerName: asString(containerName),
    divisor: findAmount(divisor),
  };
  return { name, envSource: { resourceFieldRef: source } };
}

function readReference(reference: Unchecked<{ name?: string; optional?: boolean }>) {
  return reference ? { name: asString(reference.name), optional: findFlag(reference.optional) } : undefined;
}

function readSecurityContext(
  context: NonNullable<Unchecked<V1SecurityContext>>,
): Draft<SecurityContextDescription> {
  const { capabilities, seLinuxOptions } = context;
  return {
    capabilities: capabilities
      ? { add: listTexts(capabilities.add), drop: listTexts(capabilities.drop) }
      : undefined,
    privileged: findFlag(context.privileged),
    seLinuxOptions: seLinuxOptions
      ? findMembers({
          user: asString(seLinuxOptions.user),
          role: asString(seLinuxOptions.role),
          type: asString(seLinuxOptions.type),
          level: asString(seLinuxOptions.level),
        })
      : undefined,
    runAsUser: findNumber(context.runAsUser),
    runAsNonRoot: findFlag(context.runAsNonRoot),
    readOnlyRootFilesystem: findFlag(context.readOnlyRootFilesystem),
  };
}
