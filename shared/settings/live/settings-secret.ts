import { variables } from '#platform/config.ts';
import { parseSecretReference, type SecretReader } from '../secret-reference.ts';
import type { SettingsSecret } from './settings.ts';

/**
 * A secret with settings in Spinnaker's YAML.
 *
 * @param id its ARN or name. Messages use its name.
 * @param variable the environment variable that names it.
 * @throws InvalidInputError when that is neither.
 */
export function createSettingsSecret(
  id: string,
  secrets: SecretReader,
  variable: string = variables.configSecretArn,
): SettingsSecret {
  const reference = parseSecretReference(id, `environment variable ${variable}`);
  return { name: `secret ${toSecretName(reference.id)}`, read: () => secrets.read(reference) };
}

/** The name within an ARN, without the six characters that AWS adds to it. */
function toSecretName(id: string): string {
  return /^arn:.*:secret:(.+)-\w{6}$/.exec(id)?.[1] ?? id;
}
