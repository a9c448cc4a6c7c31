import type { RejectedAccount } from '#accounts/model/account.ts';
import { asJsonArray, asJsonObject, type JsonObject, type JsonValue } from '#core/json.ts';
import { plugins } from '#providers/index.ts';
import { findMember, toCanonicalKey } from '../spring-config.ts';
import type { ParsedSettings } from './live-providers.ts';

/** Settings that are in the secret of artifacts when deployed: those below the names of plug-ins that say so. */
const artifactKeys: readonly string[] = plugins
  .filter(({ settingsSecret }) => settingsSecret === 'artifacts')
  .map(({ name }) => name);

/**
 * The settings of the secret with Spinnaker's YAML, without artifacts. Those that it still has are reported as rejected accounts, so that
 * none is lost silently.
 *
 * @param source name of the secret in messages.
 */
export function withoutArtifacts(settings: JsonObject, source: string): ParsedSettings {
  const kept = Object.entries(settings).filter(([key]) => !isArtifactKey(key));
  const reason =
    `artifact accounts are read from a secret of their own: move them from ${source} to <prefix>-<stage>-artifacts, ` +
    'or to the one that the option artifactsSecretArn names';
  const rejectedAccounts = artifactKeys.flatMap((key) =>
    listAccounts(key, findMember(settings, key)).map(
      ({ name, path }): RejectedAccount => ({ name, reason: `${path}: ${reason}` }),
    ),
  );
  return { settings: Object.fromEntries(kept), rejectedAccounts };
}

/** The settings of the secret of artifacts: other accounts in it are rejected. @param source name of the secret in messages */
export function onlyArtifacts(settings: JsonObject, source: string): ParsedSettings {
  const kept = Object.entries(settings).filter(([key]) => isArtifactKey(key));
  const foreign = plugins
    .filter(({ name }) => !isArtifactKey(name))
    .filter(({ name }) => hasAccounts(findMember(settings, name)))
    .map(({ name }) => `${name}.accounts`);
  return {
    settings: Object.fromEntries(kept),
    rejectedAccounts: foreign.map((name) => ({
      name,
      reason:
        `${name}: ${source} is for artifact accounts: move them to <prefix>-<stage>-config, or to the one that the option ` +
        'configSecretArn names',
    })),
  };
}

function hasAccounts(settings: JsonValue | undefined): boolean {
  return asJsonArray(findMember(asJsonObject(settings) ?? {}, 'accounts')).length > 0;
}

function isArtifactKey(key: string): boolean {
  return artifactKeys.includes(toCanonicalKey(key));
}

/** The accounts that are switched on below a setting; settings for all of them by their path. */
function listAccounts(key: string, value: JsonValue | undefined): { name: string; path: string }[] {
  return Object.entries(asJsonObject(value) ?? {}).flatMap(([kind, settings]) => {
    const path = `${key}.${kind}`;
    const members = asJsonObject(settings);
    const enabled = members === undefined ? undefined : findMember(members, 'enabled');
    // Halyard writes every existing kind.
    if (members !== undefined && enabled !== undefined && !isTrue(enabled)) return [];
    const accounts = asJsonArray(members === undefined ? undefined : findMember(members, 'accounts'));
    if (accounts.length === 0) return [{ name: path, path }];
    return accounts.map((account, index) => {
      const at = `${path}.accounts[${index}]`;
      return { name: findName(account) ?? at, path: at };
    });
  });
}

function isTrue(value: JsonValue): boolean {
  return String(value).trim().toLowerCase() === 'true';
}

function findName(account: JsonValue): string | undefined {
  const name = findMember(asJsonObject(account) ?? {}, 'name');
  return typeof name === 'string' && name.trim() !== '' ? name.trim() : undefined;
}
