import { onceAborted } from '#core/deadline.ts';
import { getErrorMessage } from '#core/errors.ts';
import { formatHelp, UsageError } from '#infra/options.ts';
import { addProviders } from '#infra/provider-packages.ts';
import { readEnvironment } from '#platform/config.ts';
import { watchStopSignals } from '#platform/services/system.ts';
import { hostProgram, parseHostOptions } from './cli-options.ts';
import type { Peer } from './peers/peer-addresses.ts';

/** What invocations under way get when the process stops, in milliseconds: the Deployment gives the pod longer. */
const shutdownTimeoutMs = 20_000;

// Functions keep connections open for their next invocation, as in Lambda, where nothing closes them either.
process.exit(await main(process.argv.slice(2)).catch(explain));

/** Runs the command line. @returns the exit code */
async function main(args: readonly string[]): Promise<number> {
  const options = parseHostOptions(args);
  if (options.help) {
    process.stdout.write(`${formatHelp(hostProgram)}\n`);
    return 0;
  }
  const stop = watchStopSignals();
  const environment = readEnvironment();
  const toPeerUrl = ({ baseUrl }: Peer): string => {
    const { host } = new URL(baseUrl);
    return `http://${options.peerAddresses.get(host) ?? host}`;
  };
  const settings = { ...options, environment, shutdownTimeoutMs, toPeerUrl };
  await addProviders(options.providers, import.meta.url);
  const { startHost } = await import('./runtime.ts');
  await using host = await startHost(settings);
  console.error(`Busdriver answers at ${host.url}`);
  process.send?.({ url: host.url, grpcPort: host.grpcPort });
  await onceAborted(stop);
  console.error('Stopping: running operations reach a safe point first. Once more ends at once.');
  return 0;
}

/** Tells the user why it did not run. @returns the exit code */
function explain(error: unknown): number {
  console.error(getErrorMessage(error));
  return error instanceof UsageError ? 2 : 1;
}
