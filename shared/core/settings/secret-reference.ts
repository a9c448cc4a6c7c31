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

/** A secret's text as it was read. */
export interface SecretReading {
  readonly text: string;
  /** Names what was read in Secrets Manager: another text has another one. Not secret. */
  readonly versionId: string | undefined;
  /** When this was the secret's version, wall time in milliseconds. */
  readonly asOfMs: number;
  /** When to look again whether it still is, wall time in milliseconds. */
  readonly readAgainAtMs: number;
}

/** What is known of a secret by who asks for it again. */
export interface KnownSecret {
  readonly reading: SecretReading;
  /** Whether it did not work, so that only what the secret is now will do. */
  readonly isDoubted: boolean;
}

/** Reads secrets. Errors name the secret and say what to do, and never hold its text. */
export interface SecretReader {
  /** The secret's text, read anew. @throws Error when it cannot be read. */
  read(reference: SecretReference): Promise<string>;
  /**
   * The secret's text for who remembers it: what is known already where that is still the secret's version.
   *
   * @param known what this returned before; left out, nothing is known.
   * @throws Error when it cannot be read.
   */
  follow(reference: SecretReference, known?: KnownSecret): Promise<SecretReading>;
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
