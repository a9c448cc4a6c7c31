import { join } from 'node:path';
import { asString, getPath } from '../../../core/json.ts';
import type { Logger } from '../../../core/logger.ts';
import type { Credential, CredentialSource } from './credentials.ts';
import { loadExecCredential } from './exec-credential.ts';
import type { KubeconfigCluster, KubeconfigUser } from './kubeconfig.ts';

/** A kubeconfig user whose files were read: the PEM texts of its client certificate, its token. */
export interface LoadedUser extends KubeconfigUser {
  readonly certificate: string | undefined;
  readonly key: string | undefined;
}

/** What else decides about a user's credentials. */
export interface CredentialChoice {
  /** Replaces whatever the user has for a header. */
  readonly token: string | undefined;
  /** Our own source in the place of the user's exec plugin. */
  readonly ownSource: CredentialSource | undefined;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** What a plugin's relative path is relative to. */
  readonly pluginDirectory: string;
  readonly cluster: KubeconfigCluster;
  /** The account's name, for the log. */
  readonly account: string;
  readonly log: Logger;
}

/**
 * The one way in which a user proves itself, in kubectl's order: a bearer token, a password, an exec plugin, an
 * auth provider. A client certificate goes along with each of them.
 *
 * @throws Error for a way that nobody supports any more.
 */
export function selectCredentialSource(user: LoadedUser, choice: CredentialChoice): CredentialSource {
  const { certificate, key, exec, authProvider } = user;
  const token = choice.token || user.token;
  if (token !== undefined) return toConstant({ authorization: `Bearer ${token}`, certificate, key });
  if (user.username !== undefined) {
    const pair = Buffer.from(`${user.username}:${user.password ?? ''}`).toString('base64');
    return toConstant({ authorization: `Basic ${pair}`, certificate, key });
  }
  if (choice.ownSource !== undefined) return choice.ownSource;
  if (exec !== undefined) {
    const command = isRelativePath(exec.command) ? join(choice.pluginDirectory, exec.command) : exec.command;
    const { environment, cluster, account, log } = choice;
    const run = { environment, cluster, account, log };
    return async () => {
      const own = await loadExecCredential({ ...exec, command }, run);
      return own.certificate === undefined ? { ...own, certificate, key } : own;
    };
  }
  if (authProvider !== undefined) return selectAuthProvider(authProvider);
  return toConstant({ certificate, key });
}

function toConstant(credential: Credential): CredentialSource {
  return async () => credential;
}

/** A plugin's command with a slash in it is a path, one without is looked up in PATH. */
function isRelativePath(command: string): boolean {
  return command.includes('/') && !command.startsWith('/');
}

/**
 * Of the auth providers kubectl knows only `oidc` still. It renews the id-token in the kubeconfig file itself, and
 * we read that file again whenever it changes.
 */
function selectAuthProvider({ name, config }: NonNullable<KubeconfigUser['authProvider']>): CredentialSource {
  const token = asString(config['id-token']);
  if (name !== 'oidc' || !token) {
    throw new Error(
      `its kubeconfig has the auth-provider "${name}", which cannot be used: use an exec plugin or a token`,
    );
  }
  const expiresAtMs = readTokenExpiry(token);
  return toConstant({ authorization: `Bearer ${token}`, ...(expiresAtMs !== undefined && { expiresAtMs }) });
}

/** The expiry of a JSON Web Token, or undefined when it is none. */
function readTokenExpiry(token: string): number | undefined {
  try {
    const payload: unknown = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8'));
    const seconds = getPath(payload, 'exp');
    return typeof seconds === 'number' ? seconds * 1000 : undefined;
  } catch {
    return undefined;
  }
}
