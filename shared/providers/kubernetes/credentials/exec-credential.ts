import { spawn } from 'node:child_process';
import { asJsonObject, asString, getPath } from '#core/json.ts';
import type { Logger } from '#core/logger.ts';
import type { Credential } from './credentials.ts';
import type { ExecPlugin, KubeconfigCluster } from './kubeconfig.ts';

/** The options of running a program for credentials. */
export interface ProgramRun {
  /** The environment it inherits. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The account's name, for the log. */
  readonly account: string;
  /** The only place where the program's error output goes: it may hold credentials. */
  readonly log: Logger;
}

/** The options of running an exec plugin. */
export interface ExecPluginRun extends ProgramRun {
  /** Passed to the plugin if it asks for it (`provideClusterInfo`). */
  readonly cluster: KubeconfigCluster;
}

/** A program that prints an ExecCredential. */
export interface CredentialProgram {
  /** What it is in the kubeconfig. */
  readonly kind: 'exec plugin' | 'auth-provider';
  /** What errors and the log call it. */
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  /** Variables in addition to the inherited ones. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** Its standard input. Default: empty. */
  readonly input?: string | undefined;
  readonly installHint?: string | undefined;
}

/** Versions of the plugin protocol that kubectl 1.24 and later speak. */
const apiVersions = ['client.authentication.k8s.io/v1', 'client.authentication.k8s.io/v1beta1'];
const pluginTimeoutMs = 60_000;
/** How many characters of the end of a failed plugin's error output are logged. */
export const loggedPluginOutputMax = 2_000;
/**
 * The most bytes that an exec plugin may print on each of its outputs. A token has some kilobytes; a program that prints more than this is
 * killed.
 */
export const execOutputBytesMax = 2 ** 20;
/** How long a plugin's child processes may keep its outputs open after its end, milliseconds. */
const outputGraceMs = 1_000;

/**
 * Runs a kubeconfig's exec plugin and reads the ExecCredential it prints.
 *
 * @throws Error that says what went wrong and what to do. The plugin's stdout is never shown; its stderr goes only to the log, with control
 *   characters escaped.
 */
export async function loadExecCredential(plugin: ExecPlugin, run: ExecPluginRun): Promise<Credential> {
  if (!apiVersions.includes(plugin.apiVersion)) {
    throw new Error(
      `exec plugin "${plugin.command}" has the apiVersion "${plugin.apiVersion}": expected ${apiVersions.join(' or ')}`,
    );
  }
  if (plugin.interactiveMode === 'Always') {
    throw new Error(
      `exec plugin "${plugin.command}" needs a terminal (interactiveMode Always), which we have not`,
    );
  }
  const KUBERNETES_EXEC_INFO = JSON.stringify(toExecInfo(plugin, run.cluster));
  return await runCredentialProgram(
    { ...plugin, kind: 'exec plugin', name: plugin.command, env: { ...plugin.env, KUBERNETES_EXEC_INFO } },
    run,
  );
}

/**
 * Runs a program and reads the ExecCredential that it prints, within one minute and {@link execOutputBytesMax}.
 *
 * @throws Error like {@link loadExecCredential}
 */
export async function runCredentialProgram(program: CredentialProgram, run: ProgramRun): Promise<Credential> {
  return parseExecCredential(await runProgram(program, run), toLabel(program));
}

function runProgram(program: CredentialProgram, run: ProgramRun): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const child = spawn(program.command, program.args, {
    env: { ...run.environment, ...program.env },
    stdio: 'pipe',
    timeout: pluginTimeoutMs,
    killSignal: 'SIGKILL',
  });
  // A program that does not read its input closes it.
  child.stdin.on('error', () => undefined).end(program.input);
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
    if (stdout.length > execOutputBytesMax) {
      reject(new Error(`${toLabel(program)} printed more than ${execOutputBytesMax} bytes`));
      child.kill('SIGKILL');
      child.stdout.destroy();
    }
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    // The end is most informative.
    stderr = (stderr + text).slice(-loggedPluginOutputMax);
  });
  // The error itself contains the plugin's arguments, and would show them in the log.
  child.on('error', (error) => reject(new Error(describeSpawnError(program, error))));
  child.on('exit', () => {
    setTimeout(() => {
      child.stdout.destroy();
      child.stderr.destroy();
    }, outputGraceMs).unref();
  });
  child.on('close', (code, signal) => {
    const how = code === null ? `was ended by ${signal}` : `ended with status ${code}`;
    if (code === 0) resolve(stdout);
    else reject(new Error(reportExit(program, { how, stderr }, run)));
  });
  return promise;
}

function toLabel({ kind, name }: CredentialProgram): string {
  return `${kind} "${name}"`;
}

function describeSpawnError(program: CredentialProgram, error: NodeJS.ErrnoException): string {
  if (error.code !== 'ENOENT') return `${toLabel(program)} could not be started (${error.code})`;
  const hint = program.installHint === undefined ? '' : `: ${program.installHint.trim()}`;
  return `${toLabel(program)} was not found; install it or put it into PATH${hint}`;
}

/** Logs what a failed plugin printed, and returns a message that is safe to show. */
function reportExit(
  program: CredentialProgram,
  { how, stderr }: { readonly how: string; readonly stderr: string },
  { account, log }: ProgramRun,
): string {
  const label = toLabel(program);
  const words = escapeControls(stderr.trim());
  if (words === '') return `${label} ${how}`;
  const { kind, name } = program;
  log.warn('a credential program failed', { account, kind, command: name, how, stderr: words });
  return `${label} ${how}; what it said is in the log`;
}

/** The text with control characters as `\\u001b`, and those that change the direction of writing: terminals obey them. */
function escapeControls(text: string): string {
  return text.replace(
    /[\p{Cc}\p{Cf}\u2028\u2029]/gu,
    (character) => `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`,
  );
}

function toExecInfo(plugin: ExecPlugin, cluster: KubeconfigCluster): object {
  const info = {
    server: cluster.server,
    'tls-server-name': cluster.tlsServerName,
    'insecure-skip-tls-verify': cluster.skipTLSVerify || undefined,
    'certificate-authority-data': cluster.caData,
    'proxy-url': cluster.proxyUrl,
  };
  const spec = { interactive: false, ...(plugin.provideClusterInfo && { cluster: info }) };
  return { apiVersion: plugin.apiVersion, kind: 'ExecCredential', spec };
}

function parseExecCredential(text: string, label: string): Credential {
  let output: unknown;
  try {
    output = JSON.parse(text);
  } catch {
    throw new Error(`${label} printed no JSON`);
  }
  const status = asJsonObject(getPath(output, 'status'));
  const token = asString(status?.['token']) || undefined;
  const certificate = asString(status?.['clientCertificateData']) || undefined;
  const key = asString(status?.['clientKeyData']) || undefined;
  if (token === undefined && (certificate === undefined || key === undefined)) {
    throw new Error(`${label} printed neither a token nor a client certificate with its key`);
  }
  const expiresAtMs = Date.parse(asString(status?.['expirationTimestamp']) ?? '');
  return {
    authorization: token && `Bearer ${token}`,
    certificate,
    key,
    expiresAtMs: Number.isNaN(expiresAtMs) ? undefined : expiresAtMs,
  };
}
