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
  if (isLoopback(options.host)) return [];
  return [
    `Warning: ${options.host} is reachable from other machines. Whoever reaches it can deploy, and can name any user ` +
      'in X-SPINNAKER-USER: let only your Spinnaker through.',
  ];
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || host === '[::1]' || host.startsWith('127.');
}
