import { createPrivateKey, type KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { InvalidInputError } from '#core/errors.ts';
import type { JsonObject } from '#core/json.ts';
import type { ProviderContext } from '#provider-kit/provider.ts';
import { stringField, stringListField } from '#settings/coerce.ts';
import { parseSettings } from '../download/account-settings.ts';
import { assertCredentialsUsable } from '../download/authorization.ts';
import { hasUserInfo } from '../download/url-guard.ts';

/** A GitHub App that an account authenticates as. */
export interface GitHubApp {
  readonly appId: string;
  readonly privateKey: KeyObject;
  /** Undefined to find the installation by the repository that is read. */
  readonly installationId: string | undefined;
  /** Without a slash at its end. */
  readonly apiBaseUrl: string;
  /** Owners whose repositories may be read if the installation is found by repository; lower case. Empty: any. */
  readonly allowedOrganizations: readonly string[];
}

const appFields = {
  appId: stringField(),
  appPrivateKey: stringField(),
  appPrivateKeyPath: stringField(),
  appInstallationId: stringField(),
  apiBaseUrl: stringField(),
  allowedOrganizations: stringListField(),
};

/**
 * Reads `githubApp`. In addition to Clouddriver's keys there is `appPrivateKey`, the PEM itself, for environments without files.
 *
 * @throws InvalidInputError naming the missing or invalid key.
 */
export function parseGitHubApp(
  input: JsonObject,
  context: string,
  placement: ProviderContext['placement'],
): GitHubApp {
  const settings = parseSettings(appFields, input, context);
  assertCredentialsUsable(settings, context, placement);
  const appId = settings.appId?.trim() ?? '';
  const installationId = settings.appInstallationId?.trim() || undefined;
  const apiBaseUrl = settings.apiBaseUrl?.trim() || 'https://api.github.com';
  if (appId === '') throw new InvalidInputError(`${context}: appId: expected a value`);
  if (!/^\d*$/.test(installationId ?? '')) {
    throw new InvalidInputError(`${context}: appInstallationId: expected a number`);
  }
  const url = URL.parse(apiBaseUrl);
  if (url === null || !/^https?:$/.test(url.protocol) || hasUserInfo(url)) {
    throw new InvalidInputError(`${context}: apiBaseUrl: expected an http or https URL`);
  }
  return {
    appId,
    installationId,
    apiBaseUrl: trimSlashes(apiBaseUrl),
    privateKey: readPrivateKey(settings, context),
    allowedOrganizations: (settings.allowedOrganizations ?? [])
      .map((organization) => organization.trim().toLowerCase())
      .filter((organization) => organization !== ''),
  };
}

function trimSlashes(text: string): string {
  let end = text.length;
  while (text[end - 1] === '/') end -= 1;
  return text.slice(0, end);
}

/** The RSA key, from PKCS #1 or PKCS #8. */
function readPrivateKey(
  {
    appPrivateKey,
    appPrivateKeyPath,
  }: { appPrivateKey?: string | undefined; appPrivateKeyPath?: string | undefined },
  context: string,
): KeyObject {
  if (!appPrivateKey && !appPrivateKeyPath) {
    throw new InvalidInputError(`${context}: expected appPrivateKeyPath or appPrivateKey`);
  }
  try {
    const key = createPrivateKey(appPrivateKey || readFileSync(appPrivateKeyPath ?? ''));
    if (key.asymmetricKeyType === 'rsa') return key;
  } catch (cause) {
    throw new InvalidInputError(`${context}: the private key cannot be read`, { cause });
  }
  throw new InvalidInputError(`${context}: the private key must be an RSA key`);
}
