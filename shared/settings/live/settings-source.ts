import { listArtifactStoreProblems } from '#artifact-store/artifact-store-settings.ts';
import type { JsonObject } from '#core/json.ts';
import { type Config, type Environment, variables } from '#platform/config.ts';
import type { SecretReader } from '../secret-reference.ts';
import { mergeDocuments } from '../spring-config.ts';
import { type CredentialFile, mergeCredentialFiles, readCredentialFiles } from './credential-files.ts';
import { onlyArtifacts, withoutArtifacts } from './divided-settings.ts';
import type { ParsedSettings } from './live-providers.ts';
import { parseSettings, readSettingsTexts, type SettingsText } from './settings.ts';
import { createSettingsSecret } from './settings-secret.ts';
import { findUnservedSettings, type UnservedSettings } from './unserved-settings.ts';

/** The texts of settings with credentials, as far as this process may know them. */
export interface CredentialTexts {
  /** Spinnaker's YAML. */
  readonly settings: readonly SettingsText[];
  /** The YAML with artifact accounts, where that is separate. */
  readonly artifacts: readonly SettingsText[];
  /** Go-clouddriver's files with artifact accounts. */
  readonly files: readonly CredentialFile[];
}

/** Reads the files and secrets that the environment names. @throws what `readSettingsTexts` throws. */
export async function readCredentialTexts(config: Config, secrets: SecretReader): Promise<CredentialTexts> {
  const {
    configFiles: files,
    configSecretArn,
    artifactsSecretArn,
    artifactsConfigDir,
    profiles,
    kubeconfig,
  } = config;
  const read = (arn: string | undefined, variable: string, others: readonly string[]) => {
    const secret = arn === undefined ? undefined : createSettingsSecret(arn, secrets, variable);
    return readSettingsTexts({ files: others, secret, profiles, kubeconfig });
  };
  const [settings, artifacts, credentialFiles] = await Promise.all([
    read(configSecretArn, variables.configSecretArn, files),
    artifactsSecretArn === undefined ? [] : read(artifactsSecretArn, variables.artifactsSecretArn, []),
    config.placement === 'local' && artifactsConfigDir !== undefined
      ? readCredentialFiles(artifactsConfigDir)
      : [],
  ]);
  return { settings, artifacts, files: credentialFiles };
}

/** The configuration of these texts. @param options.isDivided leaves out artifact accounts @throws what `parseSettings` throws */
export function parseCredentialTexts(
  texts: CredentialTexts,
  options: Pick<Config, 'profiles'> & { readonly environment: Environment; readonly isDivided: boolean },
): ParsedSettings {
  if (!options.isDivided) {
    const parsed = parseSettings([...texts.settings, ...texts.artifacts], options);
    const { settings, rejectedAccounts: files } = mergeCredentialFiles(parsed.settings, texts.files);
    const { rejectedAccounts, warnings } = findUnserved(settings, texts);
    return {
      settings,
      rejectedAccounts: [...files, ...rejectedAccounts],
      warnings: [...warnings, ...listArtifactStoreProblems(settings, false)],
    };
  }
  const { settings } = parseSettings(texts.settings, options);
  const artifacts = parseSettings(texts.artifacts, options);
  const parts = [
    withoutArtifacts(settings, toName(texts.settings)),
    onlyArtifacts(artifacts.settings, toName(texts.artifacts)),
  ];
  const merged = mergeDocuments(parts.map((part) => part.settings));
  const { rejectedAccounts, warnings } = findUnserved(merged, texts);
  return {
    settings: merged,
    rejectedAccounts: [...parts.flatMap((part) => part.rejectedAccounts), ...rejectedAccounts],
    warnings: [...warnings, ...listArtifactStoreProblems(merged, true)],
  };
}

function findUnserved(
  settings: JsonObject,
  { settings: texts, artifacts }: CredentialTexts,
): UnservedSettings {
  return findUnservedSettings(
    settings,
    [...texts, ...artifacts].map(({ text }) => text),
  );
}

function toName(texts: readonly SettingsText[]): string {
  return texts.at(-1)?.file ?? 'the settings';
}
