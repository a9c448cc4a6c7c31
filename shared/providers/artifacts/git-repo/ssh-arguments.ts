import type { SshReference } from './git-reference.ts';
import type { SshIdentity } from './git-ssh-identity.ts';

/** What `ssh` is told. */
export interface SshCall {
  readonly reference: SshReference;
  /** The address of the host that is connected to: it was judged. */
  readonly address: string;
  readonly identity: SshIdentity;
  readonly connectTimeoutMs: number;
}

/**
 * The arguments of `ssh` for a call of `git-upload-pack`. They are all that counts: no file of options is read, nothing is forwarded,
 * nobody is asked for anything but a passphrase, and no key but the account's is offered.
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
export function hasPassphrase({ passphrase, passphraseProgram }: SshIdentity): boolean {
  return passphrase !== undefined || passphraseProgram !== undefined;
}

function toOptions({ reference, identity, connectTimeoutMs }: SshCall): Readonly<Record<string, string>> {
  const { isAnyHostTrusted, knownHostsFile } = identity;
  const knownHosts = isAnyHostTrusted ? '/dev/null' : knownHostsFile;
  return {
    // With it not even a passphrase is asked for.
    BatchMode: hasPassphrase(identity) ? 'no' : 'yes',
    StrictHostKeyChecking: isAnyHostTrusted ? 'no' : 'yes',
    ...(knownHosts !== undefined && { UserKnownHostsFile: `"${knownHosts}"` }),
    // The host is called by its address, and known by its name.
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

/** How files of known hosts name a host. */
function toKnownName({ host, port }: SshReference): string {
  return port === undefined || Number(port) === 22 ? host : `[${host}]:${port}`;
}

/** A text as one word of a shell, which the host's is: as git quotes it, for shells that are none of POSIX's, too. */
function quote(text: string): string {
  return `'${text.replaceAll(/['!]/g, (character) => `'\\${character}'`)}'`;
}
