import { InvalidInputError } from '#core/errors.ts';
import type { ProviderContext } from '#provider-kit/provider.ts';

/** The SSH settings of a git account, under Clouddriver's names. */
interface SshSettings {
  readonly sshPrivateKeyFilePath?: string | undefined;
  readonly sshPrivateKeyPassphrase?: string | undefined;
  /** Path of a program that prints the passphrase. */
  readonly sshPrivateKeyPassphraseCmd?: string | undefined;
  readonly sshKnownHostsFilePath?: string | undefined;
  readonly sshTrustUnknownHosts?: boolean | undefined;
}

/** An SSH key, and which hosts are trusted. */
export interface SshIdentity {
  /** Path of the private key. */
  readonly keyFile: string;
  /** Passphrase of the key; it may be a reference to a secret. */
  readonly passphrase: string | undefined;
  /** Path of a program that prints the passphrase. */
  readonly passphraseProgram: string | undefined;
  /** Path of the file of known hosts. Undefined for the system user's. */
  readonly knownHostsFile: string | undefined;
  /** Whether any host key is accepted. */
  readonly isAnyHostTrusted: boolean;
}

/** Characters that `ssh` interprets in the value of an option. */
const unusableInPath = /["\\%$\p{Cc}]/u;

/**
 * The key of an account; undefined if it has none.
 *
 * @param placement SSH needs the program `ssh`, which deployed functions do not have.
 * @throws InvalidInputError naming the invalid key.
 */
export function parseSshIdentity(
  settings: SshSettings,
  context: string,
  placement: ProviderContext['placement'],
): SshIdentity | undefined {
  const [key] = Object.entries(settings).find(([name, value]) => name.startsWith('ssh') && value) ?? [];
  if (key === undefined) return undefined;
  if (placement === 'deployed') {
    throw new InvalidInputError(
      `${context}: ${key}: deployed, repositories are read over HTTP alone: give a token, or user name and password`,
    );
  }
  const { sshPrivateKeyFilePath: keyFile, sshPrivateKeyPassphraseCmd: program } = settings;
  if (!keyFile) throw new InvalidInputError(`${context}: ${key}: expected sshPrivateKeyFilePath beside it`);
  const { sshKnownHostsFilePath, sshPrivateKeyPassphrase } = settings;
  for (const [name, path] of Object.entries({ sshPrivateKeyFilePath: keyFile, sshKnownHostsFilePath })) {
    if (path === undefined || !unusableInPath.test(path)) continue;
    throw new InvalidInputError(`${context}: ${name}: expected a path without quotes, backslashes, % and $`);
  }
  for (const [name, text] of Object.entries({
    sshPrivateKeyPassphrase,
    sshPrivateKeyPassphraseCmd: program,
  })) {
    if (text?.includes('\0')) throw new InvalidInputError(`${context}: ${name}: expected no zero bytes`);
  }
  return {
    keyFile,
    passphrase: sshPrivateKeyPassphrase || undefined,
    passphraseProgram: program || undefined,
    knownHostsFile: sshKnownHostsFilePath || undefined,
    isAnyHostTrusted: settings.sshTrustUnknownHosts ?? false,
  };
}
