import { InvalidInputError } from '#core/errors.ts';

/** A secret in a store, or one member of it. */
export interface SecretReference {
  /** Where it is stored. Left out, AWS Secrets Manager. */
  readonly engine?: 's3' | 'ssm' | 'noop' | undefined;
  /** Name or ARN; `bucket/key` of an object in S3; of `noop` its own name. */
  readonly id: string;
  /** Left out, the region of this process. */
  readonly region?: string | undefined;
  /** Member of the secret, which is then a JSON object; in an object of S3, a dotted path in its YAML. Left out, the whole text. */
  readonly key?: string | undefined;
  /** Whether tags of the secret name its encoding and its roles, as for Spinnaker's user secrets. */
  readonly isUserSecret?: true | undefined;
  /** The secret itself, with the engine `noop`: never log or show it. */
  readonly value?: string | undefined;
}

/** A secret's text as it was read. */
export interface SecretReading {
  readonly text: string;
  /** Identifies what was read in its store: another text has another one. Not secret. */
  readonly versionId: string | undefined;
  /** When this was the secret's version, wall time in milliseconds. */
  readonly asOfMs: number;
  /** When to check whether it still is, wall time in milliseconds. */
  readonly readAgainAtMs: number;
}

/** What a caller that asks again knows of a secret. */
export interface KnownSecret {
  readonly reading: SecretReading;
  /** Whether it did not work, so that only the current text will do. */
  readonly isDoubted: boolean;
}

/** Reads secrets. Errors name the secret and say what to do, and never hold its text. */
export interface SecretReader {
  /** Reads the secret's current text. @throws Error when it cannot be read. */
  read(reference: SecretReference): Promise<string>;
  /**
   * The secret's text for a caller that remembers it: the known text where that is still the secret's version.
   *
   * @param known the last result of this; left out, nothing is known.
   * @throws Error when it cannot be read.
   */
  follow(reference: SecretReference, known?: KnownSecret): Promise<SecretReading>;
  /**
   * Reads the roles of a user secret: callers with one of them may use it. Empty where it names none, undefined for a secret that is no
   * user secret.
   *
   * @throws Error when they cannot be read.
   */
  readRoles(reference: SecretReference): Promise<readonly string[] | undefined>;
}

type Parameters = ReadonlyMap<string, string>;

/** Supported engines, each with what it needs and how its references are written. */
const engines: {
  readonly [engine: string]: {
    readonly needs: readonly string[];
    readonly example: string;
    readonly make: (parameters: Parameters) => SecretReference;
  };
} = {
  'secrets-manager': {
    needs: ['r', 's'],
    example: 'r:<region>!s:<secret>!k:<key>',
    make: (given) => ({ id: read(given, 's'), ...pickRegion(given), key: given.get('k') || undefined }),
  },
  s3: {
    needs: ['r', 'b', 'f'],
    example: 'r:<region>!b:<bucket>!f:<object>!k:<path in YAML>',
    make: (given) => ({
      engine: 's3',
      id: `${read(given, 'b')}/${read(given, 'f')}`,
      ...pickRegion(given),
      key: given.get('k') || undefined,
    }),
  },
  ssm: {
    needs: ['n'],
    example: 'r:<region>!n:<parameter>',
    make: (given) => ({ engine: 'ssm', id: read(given, 'n'), ...pickRegion(given) }),
  },
  noop: {
    needs: ['v'],
    example: 'v:<value>',
    make: (given) => ({ engine: 'noop', id: 'noop', value: read(given, 'v') }),
  },
};

/** The engines, for messages. */
const engineNames = Object.keys(engines).join(', ');

/** Characters of a reference that are read. */
const referenceLengthMax = 8_192;

/**
 * Whether a text is a reference to a secret in one of Spinnaker's syntaxes, even to an unknown engine: `encrypted:<engine>!<parameters>`,
 * `encryptedFile:<engine>!<parameters>`, `secret://<engine>?<parameters>`.
 */
export function isSecretReference(text: string): boolean {
  return /^\s*(encrypted(File)?:[\w.-]*\s*(!|$)|secret(File)?:\/\/)/i.test(text.slice(0, referenceLengthMax));
}

/** Whether a text has the form of a reference but is the secret itself, by the engine `noop`: it must not be shown. */
export function isInlineSecret(text: string): boolean {
  return /^\s*(encrypted(File)?:|secret(File)?:\/\/)noop\s*([!?]|$)/i.test(text.slice(0, referenceLengthMax));
}

/**
 * Reads a reference in one of Spinnaker's syntaxes, or a secret's name or ARN in Secrets Manager.
 *
 * @param at path of the setting, for errors.
 * @throws InvalidInputError naming the setting and what it lacks, or the engine that is not supported.
 */
export function parseSecretReference(text: string, at: string): SecretReference {
  const trimmed = text.trim();
  if (trimmed.length <= referenceLengthMax) {
    if (/^secret(file)?:\/\//i.test(trimmed)) return parseUserSecret(trimmed, at);
    if (isSecretReference(trimmed)) return parseEncrypted(trimmed, at);
  }
  if (!/^[\w/+=.@:-]{1,2048}$/.test(trimmed) || /^(encrypted|secret)(file)?:/i.test(trimmed)) {
    throw new InvalidInputError(`${at}: expected the name or ARN of a secret in Secrets Manager`);
  }
  const [, region] = /^arn:[^:]+:secretsmanager:([^:]+):/.exec(trimmed) ?? [];
  return { id: trimmed, region };
}

/** What is wrong with a reference, each a sentence that begins with the path of the setting. */
export function findReferenceProblems(text: string, at: string): readonly string[] {
  try {
    parseSecretReference(text, at);
    return [];
  } catch (error) {
    if (error instanceof InvalidInputError) return error.errors;
    throw error;
  }
}

/** The name of a secret in messages. Never its value. */
export function describeSecret({ engine, id }: SecretReference): string {
  const kinds = { s3: `object ${id} in S3`, ssm: `parameter ${id}`, noop: 'secret of the engine noop' };
  return engine === undefined ? `secret ${id}` : kinds[engine];
}

function parseEncrypted(text: string, at: string): SecretReference {
  const [head = '', ...parts] = text.split('!');
  const name = head
    .slice(head.indexOf(':') + 1)
    .trim()
    .toLowerCase();
  const parameters = new Map(
    parts.map((part) => [part.split(':', 1)[0] ?? '', part.slice(part.indexOf(':') + 1)]),
  );
  const engine = findEngine(name, at);
  if (engine.needs.every((parameter) => parameters.get(parameter))) return engine.make(parameters);
  throw new InvalidInputError(`${at}: expected encrypted:${name}!${engine.example}`);
}

/** `secret://secrets-manager?r=…&s=…&k=…`. Of Spinnaker's engines for user secrets this one is supported. */
function parseUserSecret(text: string, at: string): SecretReference {
  const [head = '', query = ''] = text.split('?', 2);
  const name = head.slice(head.indexOf('//') + 2).toLowerCase();
  const isFile = !/^secret:/i.test(text);
  const parameters = parseQuery(query);
  if (name !== 'secrets-manager') {
    findEngine(name, at);
    throw new InvalidInputError(
      `${at}: user secrets of the engine ${name} are not supported: ${userSecretForm}`,
    );
  }
  if (isFile || !parameters?.get('r') || !parameters.get('s')) {
    throw new InvalidInputError(`${at}: ${userSecretForm}`);
  }
  const reference = {
    id: read(parameters, 's'),
    ...pickRegion(parameters),
    key: parameters.get('k') || undefined,
  };
  return { ...reference, isUserSecret: true };
}

const userSecretForm = 'expected secret://secrets-manager?r=<region>&s=<secret>&k=<key>';

/** Undefined for a query that cannot be decoded. */
function parseQuery(query: string): Parameters | undefined {
  try {
    return new Map(
      query.split('&').map((pair) => {
        const [name = '', value = ''] = pair.split('=', 2);
        return [decodeURIComponent(name), decodeURIComponent(value)];
      }),
    );
  } catch {
    return undefined;
  }
}

/** Spinnaker's other engines: messages name them. Any other text may be a secret by itself. */
const foreignEngines: readonly string[] = [
  'azure-key-vault',
  'gcs',
  'google-secrets-manager',
  'k8s',
  'vault',
];

function findEngine(name: string, at: string): (typeof engines)[string] {
  const engine = Object.hasOwn(engines, name) ? engines[name] : undefined;
  if (engine !== undefined) return engine;
  const told = foreignEngines.includes(name) ? ` ${name}` : '';
  throw new InvalidInputError(
    `${at}: the secret engine${told} is not supported: expected one of ${engineNames}`,
  );
}

function read(parameters: Parameters, name: string): string {
  return parameters.get(name) ?? '';
}

function pickRegion(parameters: Parameters): Pick<SecretReference, 'region'> {
  const region = parameters.get('r');
  return region ? { region } : {};
}
