import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { untilAborted } from '#core/deadline.ts';
import { FailedOperationError } from '#core/errors.ts';
import type { Logger } from '#core/logger.ts';
import { hostAddressesMax, type ResolveHost } from '#provider-kit/http-client/guarded-lookup.ts';
import type { DownloadLimits } from '../download/download-limits.ts';
import { createSystemResolver } from '../download/lookup-turns.ts';
import { toDownloadError } from '../download/response-body.ts';
import { assertAddressesAllowed, assertUrlAllowed } from '../download/url-guard.ts';
import type { UrlRestrictions } from '../download/url-restrictions.ts';
import { temporaryPrefix } from '../git/clone-folder.ts';
import { readPackets } from '../git/packets.ts';
import type { GitTransport } from '../git/refs.ts';
import type { SshReference } from './git-reference.ts';
import type { SshIdentity } from './git-ssh-identity.ts';
import { toSshArguments } from './ssh-arguments.ts';
import { SshSession } from './ssh-session.ts';

interface SshTransportOptions {
  /** Name of the artifact account. */
  readonly account: string;
  readonly identity: SshIdentity;
  readonly restrictions: UrlRestrictions;
  readonly limits: DownloadLimits;
  /** The environment of this process, from which `ssh` gets `PATH` and `HOME`. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly log: Logger;
  /** The passphrase of the key; undefined if it has none. */
  readonly readPassphrase: () => Promise<string | undefined>;
  /** How names are resolved. The system's resolver by default. */
  readonly resolve?: ResolveHost | undefined;
}

/** A transport to dispose of, which ends its calls. */
export interface SshTransport extends GitTransport, AsyncDisposable {}

/**
 * Calls a repository by the program `ssh`. It connects to an address that the account's restrictions allow, and verifies the host by its
 * name. One call serves the refs and one pack; another pack needs another call.
 */
export function createSshTransport(reference: SshReference, options: SshTransportOptions): SshTransport {
  const sessions: SshSession[] = [];
  const passphrase = new PassphraseFile(options);
  let current: SshSession | undefined;

  async function start(signal: AbortSignal): Promise<SshSession> {
    const address = await untilAborted(resolveAllowed(reference.host, options), signal);
    const environment = { ...toEnvironment(options), ...(await passphrase.write()) };
    signal.throwIfAborted();
    const { identity, account, log, limits } = options;
    const args = toSshArguments({ reference, address, identity, connectTimeoutMs: limits.connectTimeoutMs });
    const { bodyTimeoutMs, bytesMax } = limits;
    const program = { args, environment, account, host: reference.host, log, bodyTimeoutMs, bytesMax };
    const session = new SshSession(program, signal);
    sessions.push(session);
    return session;
  }

  /** A new call that skips the server's first message, which is already known. */
  async function startAgain(signal: AbortSignal): Promise<SshSession> {
    const session = await start(signal);
    for await (const packet of readPackets(session.read())) {
      if (packet.kind !== 'data') break;
    }
    return session;
  }

  return {
    async advertise(signal) {
      current = await start(signal);
      return current.read();
    },
    async request({ body, isLast }, signal) {
      const session = current ?? (await startAgain(signal));
      current = isLast ? undefined : session;
      session.write(body, isLast);
      return session.read();
    },
    async [Symbol.asyncDispose]() {
      for (const session of sessions.splice(0)) session[Symbol.dispose]();
      await passphrase[Symbol.asyncDispose]();
    },
  };
}

/** The host's address for the connection: the first, since the resolver sorts unreachable ones to the end. */
async function resolveAllowed(host: string, options: SshTransportOptions): Promise<string> {
  const { restrictions, limits } = options;
  const url = new URL(`https://${host.includes(':') ? `[${host}]` : host}/`);
  // The kind of account decides whether SSH is allowed.
  assertUrlAllowed(url, { ...restrictions, allowedSchemes: ['https'] });
  const resolve = options.resolve ?? createSystemResolver(limits.connectTimeoutMs);
  const found = await resolve(host).catch((error: unknown) => {
    throw toDownloadError(error, host);
  });
  const addresses = found.slice(0, hostAddressesMax).map(({ address }) => address);
  assertAddressesAllowed(host, addresses, restrictions);
  const [address] = addresses;
  if (address !== undefined) return address;
  throw toDownloadError(Object.assign(new Error('no addresses'), { code: 'ENOTFOUND' }), host);
}

/** Little of this process's environment: its variables are not meant for others. */
function toEnvironment({ environment, identity }: SshTransportOptions) {
  const { PATH, HOME } = environment;
  return {
    PATH,
    HOME,
    GIT_PROTOCOL: 'version=2',
    ...(identity.passphraseProgram !== undefined && toAskPass(identity.passphraseProgram)),
  };
}

/** Has `ssh` ask a program; older versions do so only with a display. */
function toAskPass(program: string) {
  return { SSH_ASKPASS: program, SSH_ASKPASS_REQUIRE: 'force', DISPLAY: ':0' };
}

/** Name of the variable with the passphrase. */
const passphraseVariable = 'SSH_KEY_PASSPHRASE';

/** A program that prints the passphrase. The passphrase is not in it, but in the environment of `ssh`. */
class PassphraseFile implements AsyncDisposable {
  readonly #options: SshTransportOptions;
  #folder: string | undefined;
  #written: Promise<Readonly<Record<string, string>>> | undefined;

  constructor(options: SshTransportOptions) {
    this.#options = options;
  }

  /** Writes it if there is a passphrase. @returns the environment with which `ssh` asks it. */
  write(): Promise<Readonly<Record<string, string>>> {
    this.#written ??= this.#write();
    return this.#written;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#written?.catch(() => {});
    if (this.#folder !== undefined) await rm(this.#folder, { recursive: true, force: true });
  }

  async #write(): Promise<Readonly<Record<string, string>>> {
    const { identity, readPassphrase } = this.#options;
    if (identity.passphrase === undefined || identity.passphraseProgram !== undefined) return {};
    const passphrase = (await readPassphrase()) ?? '';
    // An environment cannot hold a null character, and the error about that would quote the passphrase.
    if (passphrase.includes('\0')) {
      throw new FailedOperationError(
        'sshPrivateKeyPassphrase: the secret has zero bytes, which no passphrase has',
      );
    }
    this.#folder = await mkdtemp(join(tmpdir(), temporaryPrefix));
    const program = join(this.#folder, 'askpass');
    await writeFile(program, `#!/bin/sh\nprintf '%s\\n' "$${passphraseVariable}"\n`, { mode: 0o700 });
    // Regardless of the process' umask.
    await chmod(program, 0o700);
    return { ...toAskPass(program), [passphraseVariable]: passphrase };
  }
}
