import type { SecretReader } from '../../core/settings/secret-reference.ts';
import { mergeDocuments } from '../../core/settings/spring-config.ts';
import { type Config, type Environment, variables } from '../config.ts';
import { onlyArtifacts, withoutArtifacts } from './divided-settings.ts';
import type { ParsedSettings } from './live-providers.ts';
import { parseSettings, readSettingsTexts, type SettingsText } from './settings.ts';
import { createSettingsSecret } from './settings-secret.ts';

/** The texts of settings with credentials, as far as this process may know them. */
export interface CredentialTexts {
  /** Spinnaker's YAML. */
  readonly settings: readonly SettingsText[];
  /** The YAML with artifact accounts, where that stands apart. */
  readonly artifacts: readonly SettingsText[];
}

/** Reads the files and secrets that the environment names. @throws what `readSettingsTexts` throws. */
export async function readCredentialTexts(config: Config, secrets: SecretReader): Promise<CredentialTexts> {
  const { configFiles: files, configSecretArn, artifactsSecretArn, profiles, kubeconfig } = config;
  const read = (arn: string | undefined, variable: string, others: readonly string[]) => {
    const secret = arn === undefined ? undefined : createSettingsSecret(arn, secrets, variable);
    return readSettingsTexts({ files: others, secret, profiles, kubeconfig });
  };
  const [settings, artifacts] = await Promise.all([
    read(configSecretArn, variables.configSecretArn, files),
    artifactsSecretArn === undefined ? [] : read(artifactsSecretArn, variables.artifactsSecretArn, []),
  ]);
  return { settings, artifacts };
}

/**
 * One configuration of them.
 *
 * @param options.isDivided whether artifact accounts must stand apart: those that do not are left out.
 * @throws what `parseSettings` throws.
 */
export function parseCredentialTexts(
  texts: CredentialTexts,
  options: Pick<Config, 'profiles'> & { readonly environment: Environment; readonly isDivided: boolean },
): ParsedSettings {
  if (!options.isDivided) {
    const { settings } = parseSettings([...texts.settings, ...texts.artifacts], options);
    return { settings, rejectedAccounts: [] };
  }
  const { settings } = parseSettings(texts.settings, options);
  const artifacts = parseSettings(texts.artifacts, options);
  const parts = [
    withoutArtifacts(settings, toName(texts.settings)),
    onlyArtifacts(artifacts.settings, toName(texts.artifacts)),
  ];
  return {
    settings: mergeDocuments(parts.map((part) => part.settings)),
    rejectedAccounts: parts.flatMap((part) => part.rejectedAccounts),
  };
}

function toName(texts: readonly SettingsText[]): string {
  return texts.at(-1)?.file ?? 'the settings';
}
