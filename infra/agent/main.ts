import { parseArgs } from 'node:util';
import packageJson from '../../package.json' with { type: 'json' };
import { type Hello, journalFormat, protocolVersion } from '../../shared/agent-protocol/messages.ts';
import { getErrorMessage } from '../../shared/core/errors.ts';
import type { WorkerSystem } from '../../shared/core/tasks/process-message.ts';
import { readEnvironment } from '../../shared/runtime/config.ts';
import { createLogger } from '../../shared/runtime/services/logger.ts';
import { getHost, systemClock, systemRandomness } from '../../shared/runtime/services/system.ts';
import { type AgentConfig, readAgentConfig } from './agent-config.ts';
import { SessionKeeper } from './agent-session.ts';
import { GrantedAccounts } from './granted-accounts.ts';
import { openHubClient } from './hub-client.ts';
import { keepWarnings } from './kept-warnings.ts';
import { RemoteTaskStore } from './remote-task-store.ts';
import { startAgentStatus } from './status/agent-status.ts';
import { WorkLoop } from './work-loop.ts';

const help = `Usage: node dist/agent/main.js --config FILE

Runs the operations of accounts whose clusters Busdriver cannot reach: it asks Busdriver for them, and is never called.
FILE is YAML: see docs/agents.md. SIGTERM lets running operations reach a safe point and ends; another agent goes on.
Exit codes: 0 ended as told, 1 could not run, 2 wrong command line.`;

/** Busdriver tells the bus of what is committed, and an agent has no queue. */
const nothingBeside: Pick<WorkerSystem, 'queue' | 'bus'> = {
  queue: { send: async () => undefined, extendVisibility: async () => undefined },
  bus: { publish: async () => undefined },
};

if (import.meta.main) process.exit(await main(process.argv.slice(2)).catch(explain));

/** Runs the command line. @returns the exit code */
async function main(args: readonly string[]): Promise<number> {
  const options = parse(args);
  if (options === undefined) return 2;
  if (options.help) {
    process.stdout.write(`${help}\n`);
    return 0;
  }
  await runAgent(await readAgentConfig(options.config), watchSignals());
  return 0;
}

function parse(args: readonly string[]): { readonly help: boolean; readonly config: string } | undefined {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: { config: { type: 'string' }, help: { type: 'boolean', default: false } },
    });
    if (values.help || values.config) return { help: values.help, config: values.config ?? '' };
    console.error('--config FILE is missing');
  } catch (error) {
    console.error(getErrorMessage(error));
  }
  console.error("Try '--help'.");
  return undefined;
}

/** Runs one agent until the signal is aborted. @throws Error when a file that it needs cannot be read */
export async function runAgent(config: AgentConfig, stop: AbortSignal): Promise<void> {
  const agentId = `${getHost()}-${systemRandomness.id().slice(-6).toLowerCase()}`;
  const { log, takeWarnings } = keepWarnings(
    createLogger({ logLevel: 'INFO', placement: 'local' }),
    systemClock,
  );
  const parts = { clock: systemClock, randomness: systemRandomness, log };
  const environment = readEnvironment();
  await using status = await startAgentStatus({ ...parts, config: config.status, environment });
  const { health, metrics } = status;
  stop.addEventListener('abort', () => health.stop());
  await using client = await openHubClient(config.url, config.caFile);
  const accounts = new GrantedAccounts({
    ...parts,
    accounts: config.accounts,
    environment,
  });
  let loop: WorkLoop | undefined;
  const session = new SessionKeeper({
    ...parts,
    client,
    takeWarnings,
    getLoad: () => loop?.load,
    tokenFile: config.tokenFile,
    hello: toHello(config, agentId),
    onWelcome: ({ accounts: grants }) => accounts.take(grants),
    onConnection: (isConnected) => metrics.countConnection(isConnected),
    onTurn: () => health.turn(agentId),
  });
  health.watchSession(() => session.isOpen);
  const system: WorkerSystem = {
    ...parts,
    ...nothingBeside,
    host: agentId,
    store: new RemoteTaskStore({ ...parts, session }),
  };
  await session.open(stop);
  loop = new WorkLoop({ session, system, accounts, metrics, onTurn: () => health.turn(agentId) });
  await loop.run(stop);
  await session.close();
}

function toHello({ zone, accounts }: AgentConfig, agentId: string): Hello {
  return {
    ...{ agentId, protocol: protocolVersion, journalFormat },
    version: packageJson.version,
    ...(zone !== undefined && { zone }),
    accounts: accounts.map(({ name }) => ({ name })),
  };
}

/** Aborted by the first SIGTERM or SIGINT, or by the end of a parent that holds an IPC channel; a second signal ends the process. */
function watchSignals(): AbortSignal {
  const stopping = new AbortController();
  const stop = (): void => {
    if (stopping.signal.aborted) process.exit(1);
    stopping.abort(new Error('stopped'));
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, stop);
  if (process.channel !== undefined) process.once('disconnect', stop);
  return stopping.signal;
}

/** Tells the user why it did not run. @returns the exit code */
function explain(error: unknown): number {
  console.error(getErrorMessage(error));
  return 1;
}
