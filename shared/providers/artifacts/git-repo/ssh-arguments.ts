import type { SshReference } from './git-reference.ts';
import type { SshIdentity } from './git-ssh-identity.ts';

interface SshCall {
  readonly reference: SshReference;
  /** The checked address of the host, to which it connects. */
  readonly address: string;
  readonly identity: SshIdentity;
  readonly connectTimeoutMs: number;
}

/**
 * The arguments of `ssh` for a call of `git-upload-pack`. Nothing else has effect: no configuration file is read, nothing is forwarded, no
 * prompt is answered but the passphrase's, and no key but the account's is offered.
 */
export function toSshArguments(call: SshCall): readonly string[] {
  const { reference, address, identity } = call;
  const { user, port, path } = reference;
  const options = Object.entries(toOptions(call)).flatMap(([name, value]) => ['-o', `${name}=${value}`]);
  const target = [...(port === undefined ? [] : ['-p', port]), ...(user === undefined ? [] : ['-l', user])];
  const command = `git-upload-pack ${quote(path)}`;
  return [
    '-F',
    '/dev/null',
    '-T',
    '-a',
    '-x',
    ...options,
    '-i',
    identity.keyFile,
    ...target,
    '--',
    address,
    command,
  ];
}

/** Whether the key needs a passphrase. */
function hasPassphrase({ passphrase, passphraseProgram }: SshIdentity): boolean {
  return passphrase !== undefined || passphraseProgram !== undefined;
}

function toOptions({ reference, identity, connectTimeoutMs }: SshCall): Readonly<Record<string, string>> {
  const { isAnyHostTrusted, knownHostsFile } = identity;
  const knownHosts = isAnyHostTrusted ? '/dev/null' : knownHostsFile;
  return {
    // In batch mode not even a passphrase is requested.
    BatchMode: hasPassphrase(identity) ? 'no' : 'yes',
    StrictHostKeyChecking: isAnyHostTrusted ? 'no' : 'yes',
    ...(knownHosts !== undefined && { UserKnownHostsFile: `"${knownHosts}"` }),
    // The host is called by its address, but verified by its name.
    HostKeyAlias: toKnownName(reference),
    CheckHostIP: 'no',
    UpdateHostKeys: 'no',
    IdentitiesOnly: 'yes',
    PreferredAuthentications: 'publickey',
    PasswordAuthentication: 'no',
    KbdInteractiveAuthentication: 'no',
    NumberOfPasswordPrompts: '1',
    ConnectTimeout: String(Math.max(1, Math.ceil(connectTimeoutMs / 1000))),
    ConnectionAttempts: '1',
    ClearAllForwardings: 'yes',
    LogLevel: 'ERROR',
    SendEnv: 'GIT_PROTOCOL',
  };
}

/** A host's name in files of known hosts. */
function toKnownName({ host, port }: SshReference): string {
  return port === undefined || Number(port) === 22 ? host : `[${host}]:${port}`;
}

/** A text as one word for the host's shell: quoted as in git, also for shells that do not follow POSIX. */
function quote(text: string): string {
  return `'${text.replaceAll(/['!]/g, (character) => `'\\${character}'`)}'`;
}
