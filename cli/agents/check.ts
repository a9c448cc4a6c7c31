import type { Command } from 'commander';
import packageJson from '#package.json' with { type: 'json' };
import { type CheckRow, describeHealth, hasFailed, printChecks } from '../check-table.ts';
import { type CliContext, isJsonWanted, openClient } from '../context.ts';
import { toLine } from '../terminal.ts';
import { formatDuration } from '../time.ts';
import { type AccountAgents, readAgents } from './agents-api.ts';
import { listVersions } from './listing.ts';

/** Milliseconds for which an operation may wait for an agent that is there. */
const waitingMsMax = 60_000;

/** Warnings that are printed. */
const warningsShown = 10;

/** Looks at the agents of an account. @returns the exit code: 1 when something failed */
export async function checkAgents(context: CliContext, account: string, command: Command): Promise<number> {
  const { terminal } = context;
  const client = openClient(context, command);
  const [agents, health] = await terminal.wait(
    () => `checking the agents of ${account}`,
    () =>
      Promise.all([
        readAgents(client, account),
        client.get(`/credentials/${encodeURIComponent(account)}/health`),
      ]),
  );
  const { state, found } = describeHealth(health);
  const rows: readonly CheckRow[] = [
    ...listRows(agents),
    { check: 'health', state: state === 'UP' ? 'ok' : 'failed', found },
  ];
  const warnings = agents.agents.flatMap((agent) =>
    agent.warnings.slice(-warningsShown).map((text) => `${agent.agentId}: ${toLine(text)}`),
  );
  if (isJsonWanted(command)) terminal.printJson({ rows, warnings });
  else {
    printChecks(terminal, rows);
    for (const line of warnings.slice(-warningsShown)) terminal.tell(`Warning of ${line}`);
  }
  return hasFailed(rows) ? 1 : 0;
}

function listRows(agents: AccountAgents): readonly CheckRow[] {
  return [
    checkEnrolment(agents),
    checkReplicas(agents),
    checkVersions(agents),
    checkCluster(agents),
    checkWaiting(agents),
  ];
}

function checkEnrolment({ account, state, history }: AccountAgents): CheckRow {
  const last = history.find(({ event }) => event === state);
  const by = last?.user ? ` by ${last.user}` : '';
  const found = last === undefined ? state : `${state} at ${new Date(last.timestamp).toISOString()}${by}`;
  if (state !== 'revoked') return { check: 'enrolment', state: 'ok', found };
  return { check: 'enrolment', state: 'failed', found, next: `busdriver agent enroll ${account}` };
}

function checkReplicas({ connected, minReplicas, agents }: AccountAgents): CheckRow {
  const names = agents.filter((agent) => agent.connected).map(({ agentId }) => agentId);
  const found = `${connected} of ${minReplicas} connected${names.length > 0 ? `: ${names.join(', ')}` : ''}`;
  if (connected >= minReplicas) return { check: 'replicas', state: 'ok', found };
  return { check: 'replicas', state: 'failed', found, next: 'look at their pods, and at what they log' };
}

/** Of another release than this command line, which is that of Busdriver as a rule, or of several. */
function checkVersions(agents: AccountAgents): CheckRow {
  const versions = listVersions(agents);
  const check = 'versions';
  if (versions.length === 0) return { check, state: 'unknown', found: 'no agent is connected' };
  const isSame = versions.every((version) => version === packageJson.version);
  const found = versions.join(', ');
  if (isSame) return { check, state: 'ok', found };
  const next = `install ${packageJson.version}, the release of this command line`;
  return { check, state: 'unknown', found: `${found}; this is ${packageJson.version}`, next };
}

function checkCluster({ clusterUid, clusterHost, clusterVersion }: AccountAgents): CheckRow {
  if (clusterUid === '')
    return { check: 'cluster', state: 'unknown', found: 'no agent has reported its UID' };
  const found = `${clusterHost} ${clusterVersion}, uid ${clusterUid}`.trim();
  return { check: 'cluster', state: 'ok', found };
}

function checkWaiting({ waiting, waitingSince }: AccountAgents): CheckRow {
  const check = 'waiting';
  if (waiting === 0 || waitingSince === undefined)
    return { check, state: 'ok', found: 'no operation is open' };
  const ageMs = Math.max(0, Date.now() - waitingSince);
  const found = `${waiting} operations are open, the oldest for ${formatDuration(ageMs)}`;
  return { check, state: ageMs > waitingMsMax ? 'unknown' : 'ok', found };
}
