import { type ChildProcess, spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose';
import { buildAgent } from '#infra/agent/build.ts';
import { agentNodeOptions, memorySettings } from '#infra/local/memory-settings.ts';
import { makeTempDir } from '../run/temp-dir.ts';

export { findFreePort } from '../network/free-port.ts';

const root = path.resolve(import.meta.dirname, '../../..');
const stopTimeoutMs = 30_000;

/** Milliseconds for an agent to write what it is waited for, on a machine that does much else. */
const loggedMs = 120_000;

/** Who signs tokens of service accounts, as a cluster does. */
export interface TokenSigner {
  readonly issuer: string;
  readonly subject: string;
  readonly jwks: { readonly keys: readonly JWK[] };
  /** A token; claims that are given win over those of a good one. */
  sign(claims?: TokenClaims): Promise<string>;
}

/** What of a token may be wrong. */
export interface TokenClaims {
  readonly issuer?: string;
  readonly subject?: string;
  readonly audience?: string;
  /** Seconds from now until its end. */
  readonly lifeSeconds?: number;
}

/** A cluster's signer of tokens, with keys of its own. */
export async function createTokenSigner(
  subject = 'system:serviceaccount:busdriver:agent',
): Promise<TokenSigner> {
  const { privateKey, publicKey } = await generateKeyPair('RS256');
  const issuer = 'https://kubernetes.default.svc';
  return {
    issuer,
    subject,
    jwks: { keys: [{ ...(await exportJWK(publicKey)), kid: 'one', alg: 'RS256', use: 'sig' }] },
    sign: (claims = {}) =>
      new SignJWT({})
        .setProtectedHeader({ alg: 'RS256', kid: 'one' })
        .setIssuer(claims.issuer ?? issuer)
        .setSubject(claims.subject ?? subject)
        .setAudience(claims.audience ?? 'busdriver:local')
        .setIssuedAt()
        .setExpirationTime(Math.floor(Date.now() / 1000) + (claims.lifeSeconds ?? 600))
        .sign(privateKey),
  };
}

/** The settings of an account that the agents of a signer serve. */
export function toAgentAccount(
  name: string,
  { issuer, subject, jwks }: Pick<TokenSigner, 'issuer' | 'subject' | 'jwks'>,
  waitSeconds = 120,
): object {
  return { name, agent: { auth: { type: 'serviceAccount', issuer, subject, jwks }, waitSeconds } };
}

/** How to start an agent. */
export interface StartAgentOptions {
  /** Where Busdriver answers. */
  readonly url: string;
  readonly token: string;
  readonly accounts: readonly { readonly name: string; readonly kubeConfigFile: string }[];
  /** `busdriver.transport`. Default: it is left out. */
  readonly transport?: string;
  /** `clouddriver.tls`. Default: it is left out. */
  readonly tls?: object;
  /** Beside what this process has. */
  readonly environment?: NodeJS.ProcessEnv;
}

/** A process of `node dist/agent/main.js`. Disposing stops it. */
export interface AgentProcess extends AsyncDisposable {
  readonly pid: number;
  /** What it wrote so far. */
  readonly log: string;
  /** The exit code, once it has ended. */
  readonly exited: Promise<number | null>;
  /** Resolves once it has written a text so many times. @throws Error, with all that it wrote, where it does not */
  untilLogged(text: string, times?: number): Promise<void>;
  /** Resolves once it has a session, and a connection by which it is told of work. */
  untilConnected(times?: number): Promise<void>;
  /** Sends a signal and waits for the end. */
  kill(signal: NodeJS.Signals): Promise<number | null>;
}

/** Starts an agent, built from the present sources. It need not have a session yet. */
export async function startAgent(options: StartAgentOptions): Promise<AgentProcess> {
  const { url, token, accounts, transport, tls, environment } = options;
  const dir = await makeTempDir();
  await writeFile(path.join(dir.path, 'token'), token, { mode: 0o600 });
  // Any free ports: several agents run beside each other.
  const ports = { server: { port: 0 }, prometheus: { port: 0 } };
  const busdriver = { url, tokenFile: 'token', transport };
  const config = { busdriver, clouddriver: { tls }, kubernetes: { accounts }, ...ports };
  const file = path.join(dir.path, 'busdriver-agent.yaml');
  await writeFile(file, JSON.stringify(config));
  return runAgentProgram(['--config', file], { environment, onEnd: () => dir[Symbol.asyncDispose]() });
}

/** How the program of agents is run. */
export interface AgentProgramOptions {
  /** Beside what this process has. */
  readonly environment?: NodeJS.ProcessEnv | undefined;
  /** The folder in which it runs. Default: this process's. */
  readonly cwd?: string | undefined;
  /** Called when it is disposed of. */
  onEnd?(): PromiseLike<void>;
}

/** Runs `dist/agent/main.js`, built from the present sources, by the memory settings of its image. @param args without the program's own name */
export async function runAgentProgram(
  args: readonly string[],
  { environment, cwd, onEnd = async (): Promise<void> => undefined }: AgentProgramOptions = {},
): Promise<AgentProcess> {
  const main = await buildAgent(root);
  // With the IPC channel it ends when this process ends, however that happens.
  const child = spawn(process.execPath, [...agentNodeOptions, main, ...args], {
    ...{ cwd, env: { ...process.env, ...memorySettings, ...environment } },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  return new RunningAgent(child, { [Symbol.asyncDispose]: onEnd });
}

class RunningAgent implements AgentProcess {
  log = '';
  readonly #written = new EventEmitter();
  readonly #child: ChildProcess;
  readonly #dir: AsyncDisposable;
  readonly exited: Promise<number | null>;

  constructor(child: ChildProcess, dir: AsyncDisposable) {
    this.#child = child;
    this.#dir = dir;
    this.exited = new Promise((resolve) => child.once('close', (code) => resolve(code)));
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        this.log += text;
        this.#written.emit('text');
      });
    }
  }

  async untilLogged(text: string, times = 1): Promise<void> {
    const signal = AbortSignal.timeout(loggedMs);
    for (let isOver = false; this.log.split(text).length <= times; ) {
      if (isOver) throw new Error(`an agent did not write '${text}' ${times} times, but:\n${this.log}`);
      const isLate = once(this.#written, 'text', { signal }).then(
        () => false,
        () => true,
      );
      isOver = await Promise.race([isLate, this.exited.then(() => true)]);
    }
  }

  async untilConnected(times = 1): Promise<void> {
    await this.untilLogged('connected: Busdriver tells of work', times);
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  async kill(signal: NodeJS.Signals): Promise<number | null> {
    this.#child.kill(signal);
    return this.exited;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), stopTimeoutMs);
    await this.kill('SIGTERM');
    clearTimeout(timer);
    await this.#dir[Symbol.asyncDispose]();
  }
}

/** The port at which an agent tells how it is, as its log says it; undefined before. */
export function findStatusPort(log: string, what: 'health' | 'metrics'): number | undefined {
  const line = log.split('\n').find((each) => each.includes(`"${what} is served"`));
  return line === undefined ? undefined : (JSON.parse(line) as { port: number }).port;
}
