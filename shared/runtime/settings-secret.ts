import { parseSecretReference, type SecretReader } from '../core/secret-reference.ts';
import { variables } from './config.ts';
import type { SettingsSecret } from './settings.ts';

/**
 * The secret with Spinnaker's YAML.
 *
 * @param id its ARN or name. Messages call it by its name.
 * @throws InvalidInputError when that is neither.
 */
export function createSettingsSecret(id: string, secrets: SecretReader): SettingsSecret {
  const reference = parseSecretReference(id, `environment variable ${variables.configSecretArn}`);
  return { name: `secret ${toSecretName(reference.id)}`, read: () => secrets.read(reference) };
}

/** The name within an ARN, without the six characters that AWS adds to it. */
function toSecretName(id: string): string {
  return /^arn:.*:secret:(.+)-\w{6}$/.exec(id)?.[1] ?? id;
}
