import type { CliOptions } from './cli-options.ts';
import type { Engines } from './environment.ts';

/** What there is to tell once the system is ready. */
export interface Ready {
  readonly url: string;
  readonly engines: Engines;
  /** Names of the accounts. */
  readonly accounts: readonly string[];
  readonly options: CliOptions;
}

/** One line of JSON for programs, with its line end. */
export function formatReadyLine({ url, engines, accounts, options }: Ready): string {
  const { dataDir, kubeconfig } = options;
  return `${JSON.stringify({ ready: true, url, pid: process.pid, engines, dataDir, kubeconfig, accounts })}\n`;
}

/** A few lines for people, with line ends. */
export function formatReadyMessage({ url, accounts, options }: Ready): string {
  const shown = accounts.length === 0 ? 'none' : accounts.join(', ');
  return [
    `Busdriver answers at ${url}`,
    `  accounts  ${shown}`,
    `  data      ${options.dataDir}`,
    ...(options.kubeconfig === undefined ? [] : [`  kubectl   export KUBECONFIG=${options.kubeconfig}`]),
    'Point Spinnaker at it in spinnaker-local.yml:',
    `  services.clouddriver.baseUrl: ${url}`,
    'Ctrl-C stops it.',
    '',
  ].join('\n');
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
