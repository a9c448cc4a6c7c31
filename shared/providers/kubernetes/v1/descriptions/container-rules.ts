import { isIPv4 } from 'node:net';
import { type AttributeRules, httpPathRule, nameRule, pathRule, quantityRule } from './attribute-rules.ts';
import type { ContainerDescription, HandlerDescription, ProbeDescription } from './container.ts';

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
