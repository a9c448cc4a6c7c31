import { sessionAccountsMax } from '#agents/protocol/messages.ts';
import { isJsonObject, type JsonValue } from '#core/json.ts';
import {
  booleanField,
  type Field,
  intField,
  jsonField,
  listOf,
  nameListField,
  requireField,
  settingsField,
  stringField,
  stringListField,
  withDefault,
} from '#settings/coerce.ts';

const portField = intField({ min: 0, max: 65_535 });
const flag = withDefault(booleanField(), false);
const names = withDefault(nameListField(), []);
const nanoseconds = intField({ min: 1_000_000, max: 3_600_000_000_000 });

/** A number as it is written, a text of one as well. */
const numberField: Field<number | undefined> = jsonField().transform((value, context) => {
  if (value === undefined) return undefined;
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  if (typeof number === 'number' && Number.isFinite(number)) return number;
  context.issues.push({ code: 'custom', message: 'expected a number', input: value });
  return undefined;
});

const accountField = settingsField({
  name: requireField(stringField()),
  kubeConfigFile: stringField(),
  context: stringField(),
  serviceAccount: flag,
  insecure: flag,
  noProxy: flag,
  namespaces: names,
  omitNamespaces: names,
  kinds: names,
  omitKinds: names,
  onlyNamespacedResources: flag,
  onlySpinnakerManaged: flag,
  metrics: withDefault(booleanField(), true),
  permissions: jsonField(),
});

const clouddriverField = settingsField({
  grpc: stringField(),
  insecure: flag,
  noProxy: flag,
  keepAliveHeartbeatSeconds: intField({ min: 0, max: 86_400 }),
  tls: settingsField({
    serverName: stringField(),
    insecureSkipVerify: flag,
    clientCertFile: stringField(),
    clientKeyFile: stringField(),
    clientKeyFilePassword: stringField(),
    cacertFile: stringField(),
  }),
  auth: settingsField({
    token: stringField(),
    tokenCommand: settingsField({
      command: stringField(),
      args: withDefault(stringListField(), []),
      format: stringField(),
      refreshIntervalSeconds: withDefault(intField({ min: 0, max: 86_400 }), 0),
    }),
  }),
  backoff: settingsField({
    baseDelay: nanoseconds,
    multiplier: numberField,
    jitter: numberField,
    maxDelay: nanoseconds,
  }),
});

/** The file of an agent, ours or Armory's, as far as it is read. */
export const fileSchema = requireField(
  settingsField({
    busdriver: settingsField({
      url: stringField(),
      transport: stringField(),
      auth: stringField(),
      region: stringField(),
      tokenFile: stringField(),
      caFile: stringField(),
      zone: stringField(),
      noProxy: flag,
    }),
    clouddriver: clouddriverField,
    kubernetes: requireField(
      settingsField({
        noProxy: flag,
        dynamicAccountsOnly: flag,
        accounts: requireField(listOf(accountField, { itemsMax: sessionAccountsMax })),
      }),
    ),
    server: settingsField({
      host: stringField(),
      port: portField,
      ssl: settingsField({
        enabled: flag,
        certFile: stringField(),
        keyFile: stringField(),
        keyPassword: stringField(),
        keyFilePassword: stringField(),
        caCertFile: stringField(),
        clientAuth: stringField(),
      }),
    }),
    prometheus: settingsField({ enabled: withDefault(booleanField(), true), port: portField }),
    logging: settingsField({ level: stringField(), format: stringField() }),
    zoneId: stringField(),
  }),
);

/** The content of a file, as far as it is read. */
export type AgentFile = ReturnType<typeof fileSchema.parse>;

/** Levels of a file that are looked at for references. */
const depthMax = 20;

/** Paths of texts that refer to a secret elsewhere, which an agent does not read. */
export function findReferences(value: JsonValue, path = '', depth = 0): readonly string[] {
  if (typeof value === 'string') return /^\s*(encrypted|encryptedfile):/i.test(value) ? [path] : [];
  if (depth > depthMax) return [];
  if (Array.isArray(value))
    return value.flatMap((item, index) => findReferences(item, `${path}[${index}]`, depth + 1));
  if (!isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([key, member]) =>
    findReferences(member, path === '' ? key : `${path}.${key}`, depth + 1),
  );
}
