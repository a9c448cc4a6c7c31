import type { z } from 'zod';
import {
  intField,
  listOf,
  objectField,
  stringField,
  stringListField,
  stringMapField,
  withDefault,
} from '#settings/coerce.ts';
import {
  type AttributeRules,
  httpPathRule,
  nameRule,
  secretNameRule,
  type TextRule,
} from './attribute-rules.ts';

const text = stringField;

/** The Service that requests are sent to. */
const backendField = objectField({ serviceName: text(), port: intField() });

const pathField = objectField({ path: text(), ingress: backendField });

/** The description of `upsertSecurityGroup`, which in V1 is an Ingress. */
export const securityGroupField = objectField({
  securityGroupName: text().describe('Name of the Ingress.'),
  namespace: text().describe('Its namespace; left out, `default`.'),
  ingress: backendField.describe('The Service that answers where no rule fits.'),
  tls: withDefault(
    listOf(objectField({ hosts: withDefault(stringListField(), []), secretName: text() })),
    [],
  ).describe('Hosts with the Secrets of their certificates.'),
  rules: withDefault(
    listOf(
      objectField({
        host: text(),
        value: objectField({ http: objectField({ paths: withDefault(listOf(pathField), []) }) }),
      }),
    ),
    [],
  ).describe('Services by host and path.'),
  annotations: stringMapField().describe('Its annotations; left out, they stay.'),
  labels: stringMapField().describe('Its labels; left out, they stay.'),
});

/** The description of `deleteSecurityGroup`. */
export const deleteSecurityGroupField = objectField({
  securityGroupName: text().describe('Name of the Ingress.'),
  namespace: text().describe('Its namespace; left out, `default`.'),
});

/** A parsed description of `upsertSecurityGroup`. */
export type SecurityGroupDescription = Exclude<z.output<typeof securityGroupField>, undefined>;
/** A parsed description of `deleteSecurityGroup`. */
export type DeleteSecurityGroupDescription = Exclude<z.output<typeof deleteSecurityGroupField>, undefined>;
/** A Service that requests are sent to. */
export type BackendDescription = Exclude<z.output<typeof backendField>, undefined>;

/** Hosts have dots, which Spinnaker's rule for names does not allow; the first label may be a wildcard. */
const hostRule: TextRule = {
  pattern: /^(\*\.)?[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/,
  shown: '^(\\*\\.)?[a-z0-9]+([-\\.a-z0-9]*[a-z0-9])?$',
};

/** Reports what is wrong with the description of an Ingress. */
export function checkSecurityGroup(description: SecurityGroupDescription, rules: AttributeRules): void {
  checkDeleteSecurityGroup(description, rules);
  if (description.ingress?.serviceName) checkBackend(description.ingress, 'ingress', rules);
  rules.checkEach(description.tls, 'tls', ({ hosts, secretName }, at) => {
    rules.checkEach(hosts, `${at}.hosts`, (host, place) => rules.requireText(host, place, hostRule));
    rules.checkText(secretName, `${at}.secretName`, secretNameRule);
  });
  rules.checkEach(description.rules, 'rules', ({ host, value }, at) => {
    rules.checkText(host, `${at}.host`, hostRule);
    rules.checkEach(value?.http?.paths ?? [], `${at}.value.http.paths`, ({ path, ingress }, place) => {
      rules.checkText(path, `${place}.path`, httpPathRule);
      checkBackend(ingress, `${place}.ingress`, rules);
    });
  });
}

/** Reports what is wrong with how an Ingress is named. */
export function checkDeleteSecurityGroup(
  { securityGroupName, namespace }: DeleteSecurityGroupDescription,
  rules: AttributeRules,
): void {
  rules.requireText(securityGroupName, 'securityGroupName', nameRule);
  rules.checkNamespace(namespace);
}

function checkBackend(backend: BackendDescription | undefined, at: string, rules: AttributeRules): void {
  rules.requireText(backend?.serviceName, `${at}.serviceName`, nameRule);
  if (rules.checkPresent(backend?.port, `${at}.port`)) rules.checkPort(backend?.port, `${at}.port`);
}
