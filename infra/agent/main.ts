import { type Hello, protocolVersion } from '#agents/protocol/messages.ts';
import { getErrorMessage } from '#core/errors.ts';
import type { Logger } from '#core/logger.ts';
import packageJson from '#package.json' with { type: 'json' };
import { readEnvironment } from '#platform/config.ts';
import { GarbageCollection } from '#platform/garbage.ts';
import { createLogger } from '#platform/services/logger.ts';
import {
  getHost,
  systemClock,
  systemRandomness,
  wallClock,
  watchStopSignals,
} from '#platform/services/system.ts';
import { journalFormat } from '#tasks/journal-format.ts';
import type { WorkerSystem } from '#tasks/process-message.ts';
import type { CacheFollowers } from './caching/cache-followers.ts';
import { openCaching } from './caching/open-caching.ts';
import { checkAgent } from './check/agent-check.ts';
import { formatCheck } from './check/check-table.ts';
import { ClusterFacts } from './cluster-facts.ts';
import { parseCommandLine } from './command-line.ts';
import { type AgentConfig, readAgentConfig } from './config/agent-config.ts';
import { GrantedAccounts } from './config/granted-accounts.ts';
import { HintKeeper } from './hint-keeper.ts';
import { SessionKeeper } from './hub/agent-session.ts';
import { openProof } from './hub/proof-source.ts';
import { ReturnPlace } from './hub/return-place.ts';
import { keepWarnings } from './kept-warnings.ts';
import { openHub } from './open-hub.ts';
import { RemoteTaskStore } from './remote-task-store.ts';
import { ServerClock } from './server-clock.ts';
import { startAgentStatus } from './status/agent-status.ts';
import { WorkLoop } from './work-loop.ts';

/** Busdriver publishes what is committed to the bus, and an agent has no queue. */
const nothingBeside: Pick<WorkerSystem, 'queue' | 'bus'> = {
  queue: { send: async () => undefined, extendVisibility: async () => undefined },
  bus: { publish: async () => undefined },
};

if (import.meta.main) process.exit(await main(process.argv.slice(2)).catch(explain));

/** Runs the command line. @returns the exit code */
async function main(args: readonly string[]): Promise<number> {
  const command = parseCommandLine(args);
  if (command.kind === 'refused') console.error(`${command.reason}\nTry '--help'.`);
  if (command.kind === 'refused') return 2;
  if (command.kind === 'text') process.stdout.write(`${command.text}\n`);
  if (command.kind === 'text') return 0;
  const config = await readAgentConfig(command.config, command);
  if (command.kind === 'check') return check(config);
  endAtFatalErrors(createLogger({ logLevel: 'ERROR', placement: 'local', format: config.log.format }));
  // Lists stream through when caching begins, and what they took is not needed any more.
  using _ = new GarbageCollection();
  await runAgent(config, watchStopSignals());
  return 0;
}

/** Looks at everything that an agent with this file needs. @returns 1 where something of it is missing */
async function check(config: AgentConfig): Promise<number> {
  const environment = readEnvironment();
  // Failures are in the table.
  const log = createLogger({ logLevel: 'SILENT', placement: 'local' });
  await using client = await openHub({ ...config, environment });
  const parts = { clock: systemClock, randomness: systemRandomness, log, environment };
  const proof = openProof(config.proof, wallClock);
  const hello = toHello(config, `${createAgentId()}-check`);
  const rows = await checkAgent({ ...parts, config, client, proof, hello });
  process.stdout.write(`${formatCheck(rows)}\n`);
  return rows.some(({ verdict }) => verdict === 'bad') ? 1 : 0;
}

/** Runs one agent until the signal is aborted. @throws Error when a file that it needs cannot be read */
export async function runAgent(config: AgentConfig, stop: AbortSignal): Promise<void> {
  const agentId = createAgentId();
  const { log, listWarnings } = keepWarnings(
    createLogger({ logLevel: config.log.level, placement: 'local', format: config.log.format }),
    systemClock,
  );
  const parts = { clock: systemClock, randomness: systemRandomness, log };
  const environment = readEnvironment();
  await using status = await startAgentStatus({ ...parts, config: config.status, environment });
  const { health, metrics } = status;
  stop.addEventListener('abort', () => health.stop());
  const place = new ReturnPlace(parts);
  await using client = await openHub({ ...config, environment, onConnectionEnd: () => place.doubt() });
  tellConfig(config, log);
  const clock = new ServerClock(systemClock);
  const caching = openCaching({
    ...{ ...parts, clock, agentId, metrics, place },
    session: { call: (call) => session.call(call) },
  });
  const accounts = new GrantedAccounts({
    ...{ ...parts, clock, cache: caching.access },
    accounts: config.accounts,
    environment,
  });
  const facts = new ClusterFacts({ ...parts, accounts: config.accounts, environment });
  let loop: WorkLoop | undefined;
  let keeper: HintKeeper | undefined;
  let followers: CacheFollowers | undefined;
  const session = new SessionKeeper({
    ...parts,
    ...{ client, place },
    listWarnings,
    getLoad: () => loop?.load,
    proof: openProof(config.proof, wallClock),
    backOff: config.backOff,
    hello: toHello(config, agentId),
    tellAccounts: () => facts.tell(),
    onWelcome: ({ accounts: grants, serverMs, limits }) => {
      clock.follow(serverMs);
      place.take(limits);
      accounts.take(grants);
    },
    onConnection(isConnected) {
      metrics.countConnection(isConnected);
      if (!isConnected) return;
      keeper?.tellBack();
      followers?.claimAll();
    },
    onTurn: () => health.turn(agentId),
  });
  health.watchSession(() => session.isOpen);
  // The store of tasks is Busdriver's.
  const store = new RemoteTaskStore({ ...parts, clock: place.clock, session });
  const system: WorkerSystem = { ...parts, ...nothingBeside, host: agentId, store };
  await session.open(stop);
  followers = caching.createFollowers(accounts);
  const onTurn = (): void => health.turn(agentId);
  const work = new WorkLoop({ session, system, accounts, followers, place, metrics, onTurn });
  loop = work;
  keeper = new HintKeeper({
    ...{ ...parts, session, client, place, transport: config.transport },
    onHint: (hint) => work.take(hint),
    onChange: (isConnected) => work.setConnected(isConnected),
  });
  await Promise.all([work.run(stop), followers.run(stop), keeper.run(stop)]);
  await session.close();
}

/** Names this process: replicas have hosts of their own, and one that begins again is another agent. */
function createAgentId(): string {
  return `${getHost()}-${systemRandomness.id().slice(-6).toLowerCase()}`;
}

function toHello({ zone, accounts }: AgentConfig, agentId: string): Hello {
  return {
    ...{ agentId, protocol: protocolVersion, journalFormat },
    version: packageJson.version,
    ...(zone !== undefined && { zone }),
    accounts: accounts.map(({ name }) => ({ name })),
  };
}

/**
 * Has the process end with 1 at an error that nothing catches, and the log say which: the state that it left is unknown, and another agent
 * goes on. Node would end it as well, and print whatever else the error holds, such as the headers of a call.
 */
function endAtFatalErrors(log: Logger): void {
  // Unhandled rejections come this way, too.
  process.on('uncaughtException', (reason: unknown) => {
    const error = reason instanceof Error ? reason : new Error(String(reason));
    log.error('the agent ends at an error that nothing caught', { error });
    process.exit(1);
  });
}

/** Tells what of the file does nothing, and what of it makes the agent less safe: one line each. */
function tellConfig({ keys, tls, accounts }: AgentConfig, log: Logger): void {
  for (const sentence of keys.unused) log.info(sentence);
  for (const sentence of keys.unknown) log.warn(sentence);
  if (tls.skipsVerification) {
    log.warn('clouddriver.tls.insecureSkipVerify: a man in the middle can pretend to be Busdriver');
  }
  for (const { name, insecure, permissions } of accounts) {
    if (insecure) {
      log.warn('insecure: a man in the middle can pretend to be the API server', { account: name });
    }
    if (permissions !== undefined) {
      log.info("permissions: Busdriver's definition of the account says who may use it", { account: name });
    }
  }
}

/** Tells the user why it did not run. @returns the exit code */
function explain(error: unknown): number {
  console.error(getErrorMessage(error));
  return 1;
}
