import { join } from 'node:path';
import type { Clock } from '#core/clock.ts';
import { asString } from '#core/json.ts';
import type { Credential, CredentialSource } from './credentials.ts';
import { type ExecPluginRun, loadExecCredential } from './exec-credential.ts';
import type { KubeconfigUser } from './kubeconfig.ts';

/** A kubeconfig user whose files were read: the PEM texts of its client certificate, and its token. */
export interface LoadedUser extends KubeconfigUser {
  readonly certificate: string | undefined;
  readonly key: string | undefined;
  /** PEM of the authorities to trust for an auth provider's identity provider. */
  readonly identityProviderCa: string | undefined;
}

/** What else decides on a user's credentials. */
export interface CredentialChoice extends ExecPluginRun {
  /** Our own source that replaces the user's exec plugin. */
  readonly ownSource: CredentialSource | undefined;
  /** Folder to which a plugin's relative path is relative. */
  readonly pluginDirectory: string;
  readonly clock: Clock;
}

/**
 * The way in which a user authenticates, in kubectl's order: a bearer token, a password, an exec plugin, an auth provider. A client
 * certificate is added to each of them.
 *
 * @throws Error for a way that is not supported any more.
 */
export function selectCredentialSource(user: LoadedUser, choice: CredentialChoice): CredentialSource {
  const { certificate, key, exec, authProvider, token } = user;
  if (token !== undefined) return toConstant({ authorization: `Bearer ${token}`, certificate, key });
  if (user.username !== undefined) {
    const pair = Buffer.from(`${user.username}:${user.password ?? ''}`).toString('base64');
    return toConstant({ authorization: `Basic ${pair}`, certificate, key });
  }
  if (choice.ownSource !== undefined) return choice.ownSource;
  if (exec !== undefined) {
    const command = isRelativePath(exec.command) ? join(choice.pluginDirectory, exec.command) : exec.command;
    return async () => {
      const own = await loadExecCredential({ ...exec, command }, choice);
      return own.certificate === undefined ? { ...own, certificate, key } : own;
    };
  }
  if (authProvider !== undefined) return selectAuthProvider(user, choice);
  return toConstant({ certificate, key });
}

function toConstant(credential: Credential): CredentialSource {
  return async () => credential;
}

/** A plugin's command with a slash is a path; one without is looked up in PATH. */
function isRelativePath(command: string): boolean {
  return command.includes('/') && !command.startsWith('/');
}

/**
 * Of the auth providers kubectl still supports only `oidc`. Its id-token is renewed here when it expires; one that kubectl renews in the
 * kubeconfig file is read from there, as that file is read again whenever it changes. Others are left to `@kubernetes/client-node`. Both
 * are loaded late: hardly any account needs them, and deployed ones never do.
 */
function selectAuthProvider(user: LoadedUser, choice: CredentialChoice): CredentialSource {
  const { name = '', config = {} } = user.authProvider ?? {};
  const { certificate, key } = user;
  const open = name === 'oidc' ? selectOidc(user, choice) : openLibrarySource;
  let source: Promise<CredentialSource> | undefined;
  return async (request) => {
    source ??= open();
    const credential = await (await source)(request);
    const isWhole = certificate === undefined || credential.certificate !== undefined;
    return isWhole ? credential : { ...credential, certificate, key };
  };

  async function openLibrarySource(): Promise<CredentialSource> {
    const { createLibrarySource } = await import('./library-credential.ts');
    return createLibrarySource({ name, config }, choice);
  }
}

/** @throws Error for a user without an id-token and without the means to get one */
function selectOidc(
  user: LoadedUser,
  { clock, environment }: CredentialChoice,
): () => Promise<CredentialSource> {
  const read = (field: string): string | undefined => asString(user.authProvider?.config[field]) || undefined;
  const oidcUser = {
    idToken: read('id-token'),
    refreshToken: read('refresh-token'),
    clientId: read('client-id'),
    clientSecret: read('client-secret'),
    issuer: read('idp-issuer-url'),
  };
  const { idToken, refreshToken, clientId, issuer } = oidcUser;
  if (idToken === undefined && [refreshToken, clientId, issuer].includes(undefined)) {
    throw new Error(
      'its kubeconfig has the auth-provider "oidc" without an id-token, or refresh-token, client-id and idp-issuer-url: log in again',
    );
  }
  return async () => {
    const { createOidcSource } = await import('./oidc.ts');
    return createOidcSource(oidcUser, { clock, environment, ca: user.identityProviderCa });
  };
}
