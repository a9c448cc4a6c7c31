/** Code that reads repositories, loaded with the first read. */
import { readUrlRestrictions } from '../download/account-downloader.ts';
import type { ConfiguredAccount } from '../download/account-settings.ts';
import { CredentialValues } from '../download/authorization.ts';
import { downloadLimits } from '../download/download-limits.ts';
import type { SourceOptions } from '../download/source.ts';
import type { GitTransport } from '../git/refs.ts';
import { createHttpTransport, type HttpTransportOptions } from './git-http-transport.ts';
import type { GitReference } from './git-reference.ts';
import type { SshIdentity } from './git-ssh-identity.ts';
import { createSshTransport, type SshTransport } from './git-ssh-transport.ts';

export { findThreads } from '../download/answer-reading.ts';
export { readRepository } from '../git/repository.ts';
export { parseGitReference, parseSubPath } from './git-reference.ts';

/** The account that reads a repository. */
interface GitCaller extends HttpTransportOptions {
  readonly account: ConfiguredAccount;
  readonly options: SourceOptions;
  /** Its key of SSH, if it has one. */
  readonly identity: SshIdentity | undefined;
}

/**
 * Opens the transport to a repository. Disposing of it ends calls in progress.
 *
 * @throws InvalidInputError if the reference cannot be called.
 */
export function openTransport(reference: GitReference, caller: GitCaller): GitTransport & AsyncDisposable {
  if ('ssh' in reference) return openSshTransport(reference, caller);
  return { ...createHttpTransport(reference.url, caller), async [Symbol.asyncDispose]() {} };
}

function openSshTransport(
  { ssh }: Extract<GitReference, { ssh: unknown }>,
  { account, options, identity }: GitCaller,
): SshTransport {
  if (identity === undefined) throw new TypeError('a reference of SSH was accepted without a key');
  const { log, environment = {} } = options;
  const values = new CredentialValues(account, options);
  const { passphrase } = identity;
  return createSshTransport(ssh, {
    account: account.name,
    identity,
    restrictions: readUrlRestrictions(account, options.settings),
    limits: { ...downloadLimits, ...options.limits },
    environment,
    log,
    readPassphrase: async () =>
      passphrase === undefined ? undefined : values.read('sshPrivateKeyPassphrase', passphrase),
  });
}
