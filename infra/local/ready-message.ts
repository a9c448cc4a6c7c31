import { stripVTControlCharacters } from 'node:util';
import type { AccountWarning, RejectedAccount } from '#accounts/model/account.ts';
import type { CliOptions } from './cli-options.ts';

/** Accounts that are left out, and settings that may be meant otherwise, of which the message tells. */
const toldMax = 20;

/** What there is to tell once the system is ready. */
export interface Ready {
  readonly url: string;
  /** Names of the accounts. */
  readonly accounts: readonly string[];
  /** Accounts that are left out since their settings are wrong. */
  readonly leftOut: readonly RejectedAccount[];
  /** Settings that may not be as they were meant. */
  readonly doubts: readonly AccountWarning[];
  readonly options: CliOptions;
}

/** One line of JSON for programs, with its line end. */
export function formatReadyLine({ url, accounts, options }: Ready): string {
  const { dataDir, kubeconfig } = options;
  return `${JSON.stringify({ ready: true, url, pid: process.pid, dataDir, kubeconfig, accounts })}\n`;
}

/** A few lines for people, with line ends. */
export function formatReadyMessage({ url, accounts, leftOut, doubts, options }: Ready): string {
  const shown = accounts.length === 0 ? 'none' : accounts.join(', ');
  return [
    `Busdriver answers at ${url}`,
    `  accounts  ${shown}`,
    `  data      ${options.dataDir}`,
    ...(options.kubeconfig === undefined ? [] : [`  kubectl   export KUBECONFIG=${options.kubeconfig}`]),
    'Point Spinnaker at it in spinnaker-local.yml:',
    `  services.clouddriver.baseUrl: ${url}`,
    'Ctrl-C stops it.',
    ...formatLeftOut(leftOut),
    ...formatDoubts(doubts),
    '',
  ].join('\n');
}

function formatLeftOut(leftOut: readonly RejectedAccount[]): readonly string[] {
  if (leftOut.length === 0) return [];
  const count = leftOut.length === 1 ? 'One account is' : `${leftOut.length} accounts are`;
  return [
    `${count} left out because of wrong settings. The files are read again within 10 seconds of a change:`,
    ...formatProblems(leftOut.map(({ name, reason }) => ({ account: name, reason }))),
  ];
}

function formatDoubts(doubts: readonly AccountWarning[]): readonly string[] {
  if (doubts.length === 0) return [];
  const count = doubts.length === 1 ? 'One setting' : `${doubts.length} settings`;
  return [`${count} may not be as meant:`, ...formatProblems(doubts)];
}

function formatProblems(
  problems: readonly { readonly account?: string; readonly reason: string }[],
): readonly string[] {
  const shown = problems
    .slice(0, toldMax)
    .map(
      ({ account, reason }) => `  ${account === undefined ? '' : `${toLine(account)}: `}${toLine(reason)}`,
    );
  const further = problems.length - shown.length;
  return further > 0 ? [...shown, `  and ${further} more: the log has them`] : shown;
}

/** What stands in somebody's settings must not write on the terminal what it likes. */
function toLine(text: string): string {
  return stripVTControlCharacters(text).replaceAll(/\p{Cc}+/gu, ' ');
}

/** What the user should worry about. */
export function formatWarnings({ options }: Ready): readonly string[] {
  const { host, tokenFile, tlsCert, tlsClientCa } = options;
  if (isLoopback(host) || tlsClientCa !== undefined) return [];
  if (tokenFile === undefined) {
    return [
      `Warning: ${host} is reachable from other machines. Whoever reaches the port can deploy, and can forge the headers by ` +
        'which Spinnaker says who asks (X-SPINNAKER-USER, X-SPINNAKER-ACCOUNTS): pass --tls-client-ca or --token-file, or ' +
        'let only your Spinnaker through.',
    ];
  }
  if (tlsCert !== undefined) return [];
  return [
    `Warning: ${host} is reachable from other machines, and the token crosses the network unencrypted: pass --tls-cert and ` +
      '--tls-key, too.',
  ];
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || host === '[::1]' || host.startsWith('127.');
}
