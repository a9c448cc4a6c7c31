import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, mkdir, readFile, rmdir, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { userInfo } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { describe, test } from 'vitest';
import { findFreePort } from '../network/free-port.ts';
import { makeTempDir } from '../run/temp-dir.ts';

const run = promisify(execFile);

/** Folders of programs that are for administrators, which are not in everybody's `PATH`. */
const administrators = ['/usr/sbin', '/usr/local/sbin', '/sbin'];

/** Where `sshd` of an administrator keeps nothing: it must be there. */
const emptyFolder = '/run/sshd';

const programs = {
  sshd: await findProgram('sshd'),
  ssh: await findProgram('ssh'),
  keygen: await findProgram('ssh-keygen'),
};

/** `describe` for tests that need a real server of SSH. Where OpenSSH is not installed they are skipped, with the reason as title. */
export function describeWithSshServer(name: string, define: () => void): void {
  const missing = Object.entries(programs).find(([, path]) => path === undefined);
  if (missing === undefined) describe(name, define);
  else describe(name, () => test.skip("skipped: OpenSSH's server or client is not installed"));
}

/** A key of SSH. */
export interface SshKey {
  /** Path of the private key. */
  readonly path: string;
  /** The public key, as files of keys have it. */
  readonly publicKey: string;
}

/** How a server is started. */
export interface SshServerOptions {
  /** Whether it takes over `GIT_PROTOCOL`. */
  readonly takesVariables: boolean;
  /** Whose keys it lets in. */
  readonly authorized: readonly SshKey[];
}

/** A running `sshd`, which lets the user of this process in. Disposing ends it. */
export interface SshServer extends AsyncDisposable {
  readonly port: number;
  /** The user who is let in. */
  readonly user: string;
  /** The server's own key. */
  readonly hostKey: string;
}

/** Makes a key. @param path of the private key @param passphrase of the key; none by default */
export async function createSshKey(path: string, passphrase = ''): Promise<SshKey> {
  const options = ['-q', '-t', 'ed25519', '-C', 'test', '-N', passphrase, '-f', path];
  await run(programs.keygen ?? '', options);
  return { path, publicKey: (await readFile(`${path}.pub`, 'utf8')).trim() };
}

/** Starts the `sshd` of this machine on a free port. */
export async function startSshServer({ takesVariables, authorized }: SshServerOptions): Promise<SshServer> {
  await using cleanup = new AsyncDisposableStack();
  const dir = cleanup.use(await makeTempDir());
  const host = await createSshKey(join(dir.path, 'host'));
  await writeFile(join(dir.path, 'authorized'), authorized.map(({ publicKey }) => `${publicKey}\n`).join(''));
  const port = await findFreePort();
  const settings = [
    `ListenAddress 127.0.0.1:${port}`,
    `HostKey ${host.path}`,
    `AuthorizedKeysFile ${join(dir.path, 'authorized')}`,
    ...['PidFile none', 'StrictModes no', 'PermitRootLogin prohibit-password', 'UsePAM no'],
    ...['AuthenticationMethods publickey', ...(takesVariables ? ['AcceptEnv GIT_PROTOCOL'] : [])],
  ];
  const config = join(dir.path, 'config');
  await writeFile(config, `${settings.join('\n')}\n`);
  if (userInfo().uid === 0 && (await mkdir(emptyFolder, { recursive: true })) !== undefined) {
    cleanup.defer(() => rmdir(emptyFolder).catch(() => {}));
  }
  const child = spawn(programs.sshd ?? '', ['-D', '-e', '-f', config], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = once(child, 'exit');
  cleanup.defer(async () => {
    child.kill();
    await ended;
  });
  let words = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    words += text;
  });
  while (!(await isListening(port))) {
    if (child.exitCode !== null) throw new Error(`sshd ended: ${words}`);
    await sleep(20);
  }
  const started = cleanup.move();
  return {
    ...{ port, user: userInfo().username, hostKey: host.publicKey },
    [Symbol.asyncDispose]: () => started.disposeAsync(),
  };
}

async function isListening(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  return once(socket, 'connect').then(
    () => {
      socket.destroy();
      return true;
    },
    () => false,
  );
}

/** `sshd` must be called by its whole path. */
async function findProgram(name: string): Promise<string | undefined> {
  for (const folder of [...(process.env['PATH'] ?? '').split(delimiter), ...administrators]) {
    const path = join(folder, name);
    if (
      await access(path).then(
        () => folder !== '',
        () => false,
      )
    )
      return path;
  }
  return undefined;
}
