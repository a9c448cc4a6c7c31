import { stripVTControlCharacters } from 'node:util';
import type { RejectedAccount } from '../../shared/core/account.ts';
import type { CliOptions } from './cli-options.ts';
import type { Engines } from './environment.ts';

/** Accounts that are left out of which the message tells. */
const leftOutMax = 20;

/** What there is to tell once the system is ready. */
export interface Ready {
  readonly url: string;
  readonly engines: Engines;
  /** Names of the accounts. */
  readonly accounts: readonly string[];
  /** Accounts that are left out since their settings are wrong. */
  readonly leftOut: readonly RejectedAccount[];
  readonly options: CliOptions;
}

/** One line of JSON for programs, with its line end. */
export function formatReadyLine({ url, engines, accounts, options }: Ready): string {
  const { dataDir, kubeconfig } = options;
  return `${JSON.stringify({ ready: true, url, pid: process.pid, engines, dataDir, kubeconfig, accounts })}\n`;
}

/** A few lines for people, with line ends. */
export function formatReadyMessage({ url, accounts, leftOut, options }: Ready): string {
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
    '',
  ].join('\n');
}

function formatLeftOut(leftOut: readonly RejectedAccount[]): readonly string[] {
  if (leftOut.length === 0) return [];
  const count = leftOut.length === 1 ? 'One account is' : `${leftOut.length} accounts are`;
  const shown = leftOut
    .slice(0, leftOutMax)
    .map(({ name, reason }) => `  ${toLine(name)}: ${toLine(reason)}`);
  const further = leftOut.length - shown.length;
  return [
    `${count} left out because of wrong settings. The files are read again within 10 seconds of a change:`,
    ...shown,
    ...(further > 0 ? [`  and ${further} more: the log has them`] : []),
  ];
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
