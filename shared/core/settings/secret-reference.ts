import { InvalidInputError } from '../errors.ts';

/** A secret in AWS Secrets Manager, or one member of it. */
export interface SecretReference {
  /** Name or ARN. */
  readonly id: string;
  /** Left out, the region of this process. */
  readonly region?: string | undefined;
  /** Member of the secret, which then is a JSON object. Left out, the whole text. */
  readonly key?: string | undefined;
}

/** Reads secrets. */
export interface SecretReader {
  /** The secret's text, read anew. @throws Error that names the secret and says what to do, and never holds its text. */
  read(reference: SecretReference): Promise<string>;
}

const prefix = /^encrypted(File)?:secrets-manager(?=!|$)/i;

/** Whether a text is a reference to Secrets Manager in Spinnaker's syntax: `encrypted:secrets-manager!r:…!s:…!k:…`. */
export function isSecretReference(text: string): boolean {
  return prefix.test(text.trim());
}

/**
 * Reads a secret's name or ARN, or Spinnaker's syntax: `encrypted:secrets-manager!r:<region>!s:<name>!k:<key>`, where the key
 * may be missing, or the same with `encryptedFile`.
 *
 * @param at path of the setting, for errors.
 * @throws InvalidInputError naming the setting and what it lacks.
 */
export function parseSecretReference(text: string, at: string): SecretReference {
  const trimmed = text.trim();
  if (isSecretReference(trimmed)) return parseSpinnakerReference(trimmed, at);
  if (!/^[\w/+=.@:-]{1,2048}$/.test(trimmed) || /^(encrypted|secret)(file)?:/i.test(trimmed)) {
    throw new InvalidInputError(`${at}: expected the name or ARN of a secret in Secrets Manager`);
  }
  const [, region] = /^arn:[^:]+:secretsmanager:([^:]+):/.exec(trimmed) ?? [];
  return { id: trimmed, region };
}

function parseSpinnakerReference(text: string, at: string): SecretReference {
  const parameters = new Map(
    text
      .split('!')
      .slice(1)
      .map((part) => [part.split(':', 1)[0], part.slice(part.indexOf(':') + 1)]),
  );
  const id = parameters.get('s');
  const region = parameters.get('r');
  if (!id || !region) {
    throw new InvalidInputError(`${at}: expected encrypted:secrets-manager!r:<region>!s:<secret>!k:<key>`);
  }
  return { id, region, key: parameters.get('k') || undefined };
}
