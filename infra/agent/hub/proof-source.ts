import { type ExecFileException, execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import type { Hello } from '#agents/protocol/messages.ts';
import type { Clock } from '#core/clock.ts';
import { getPath, parseJson } from '#core/json.ts';
import { readEnvironment } from '#platform/config.ts';
import type { HubCall, RequestSigner } from './hub-client.ts';

/** Milliseconds and bytes that a program which prints a token may take. */
const commandMs = 10_000;
const outputBytesMax = 64 * 1024;

/** Characters of a token at most. */
const tokenLengthMax = 16 * 1024;

/** The proof of an agent's identity. */
export type Proof =
  /** A file, absolute, which is read at each use: the kubelet replaces it. */
  | { readonly kind: 'file'; readonly file: string }
  /** The token itself, from the file of Armory's agent. */
  | { readonly kind: 'text'; readonly token: string }
  | TokenCommand
  /** The certificate of the connection, and no token. */
  | { readonly kind: 'certificate' }
  /** A role of IAM, by which requests are signed. Without a region the URL of Busdriver says it, or the environment. */
  | { readonly kind: 'iam'; readonly region: string | undefined };

/** A program that prints a token. */
export interface TokenCommand {
  readonly kind: 'command';
  readonly command: string;
  readonly args: readonly string[];
  /** `json`: an object with a member `token`. */
  readonly format: 'raw' | 'json';
  /** Seconds for which a token is used again; 0: it is asked for at each use. */
  readonly refreshSeconds: number;
}

/** The source of a token. */
export interface ProofSource {
  /** The token of now; empty where something else proves it. @throws Error, which has nothing of the token in it */
  read(): Promise<string>;
  /** Signs requests by a role of IAM. Default: that proves nothing. */
  readonly sign?: RequestSigner;
}

/** The call that opens a session. @throws what the source throws */
export async function toOpeningCall(proof: ProofSource, hello: Hello): Promise<HubCall> {
  const { sign } = proof;
  const path = sign === undefined ? '/agent/v1/sessions' : '/agent/v1/iam-sessions';
  return { method: 'POST', path, token: await proof.read(), body: hello, ...(sign && { sign }) };
}

/** Opens what proves who an agent is. */
export function openProof(proof: Proof, clock: Pick<Clock, 'now' | 'monotonic'>): ProofSource {
  if (proof.kind === 'certificate') return { read: async () => '' };
  if (proof.kind === 'iam') return { read: async () => '', sign: openSigner(proof.region, clock) };
  if (proof.kind === 'text') return { read: async () => proof.token };
  if (proof.kind === 'file')
    return { read: async () => checkToken(await readFile(proof.file, 'utf8'), proof.file) };
  let kept = { token: '', untilMs: Number.NEGATIVE_INFINITY };
  return {
    async read() {
      if (clock.monotonic() < kept.untilMs) return kept.token;
      const token = await runCommand(proof);
      kept = { token, untilMs: clock.monotonic() + proof.refreshSeconds * 1_000 };
      return token;
    },
  };
}

/** The signer is large, and loaded only where it is needed. */
function openSigner(region: string | undefined, clock: Pick<Clock, 'now'>): RequestSigner {
  let signer: Promise<RequestSigner> | undefined;
  return async (request) => {
    signer ??= import('#platform/aws/identity/gateway-signer.ts').then(({ createGatewaySigner }) =>
      createGatewaySigner({ clock, region, environment: readEnvironment() }),
    );
    return (await signer)(request);
  };
}

/** Runs the program without a shell. Its output is in no message: it may be half of a token. */
async function runCommand({ command, args, format }: TokenCommand): Promise<string> {
  const where = `clouddriver.auth.tokenCommand (${command})`;
  const options = { timeout: commandMs, maxBuffer: outputBytesMax, killSignal: 'SIGKILL' } as const;
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const child = execFile(command, [...args], options, (error, stdout) => {
    if (error === null) resolve(stdout);
    else reject(new Error(`${where} failed: ${describeFailure(error)}`));
  });
  child.stdin?.end();
  const output = await promise;
  return checkToken(format === 'raw' ? output : readMember(output, where), where);
}

function describeFailure({ code, killed, signal }: ExecFileException): string {
  if (code === 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER') return `it printed more than ${outputBytesMax} bytes`;
  if (killed === true) return `it did not end within ${commandMs / 1_000} s`;
  return typeof code === 'number'
    ? `it ended with code ${code}`
    : `it cannot be run (${String(code ?? signal)})`;
}

function readMember(output: string, where: string): string {
  // An error of the parser would have the output in its message.
  const token = getPath(parseJson(output), 'token');
  if (typeof token === 'string') return token;
  throw new Error(`${where} printed no JSON object with a text 'token'`);
}

/** It becomes a header. */
function checkToken(text: string, where: string): string {
  const token = text.trim();
  if (/^[\x21-\x7e]+$/.test(token) && token.length <= tokenLengthMax) return token;
  throw new Error(`${where} holds no token: expected one word of at most ${tokenLengthMax} characters`);
}
