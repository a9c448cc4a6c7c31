import type { Units } from '#test/support/engines/count-capacity.ts';
import type { FleetSize } from './fleet-world.ts';

export interface CapacityRow {
  readonly what: string;
  readonly units: Units;
  /** How long it took on the machine that ran it. */
  readonly tookMs: number;
  /** How many times it was done; units and time are of all of them. Default: once. */
  readonly times?: number;
}

export interface CapacityPart {
  /** Of each of its accounts. */
  readonly size: FleetSize;
  readonly accounts: number;
  /** By what everything was divided. */
  readonly divisor: number;
  /** The day, the commit as `readCommit` answers it, and the machine. */
  readonly made: string;
  readonly rows: readonly CapacityRow[];
}

export interface CapacityReport {
  readonly account: CapacityPart;
  readonly fleet: CapacityPart;
}

/** Objects of a cluster that are cached. */
export function countObjects({ deployments, replicaSetsEach, bareReplicaSets, pods }: FleetSize): number {
  return deployments * (1 + replicaSetsEach) + bareReplicaSets + pods;
}

export function formatCapacityReport({ account, fleet }: CapacityReport): string {
  const { largeDeployments, replicaSetsEach, bareReplicaSets } = account.size;
  return `${[
    '# Capacity',
    '',
    '`npm run capacity` wrote this page. A scripted API server told of the objects; the agents, their worker, the cache and the views',
    'are those of Busdriver, on the local DynamoDB, which counts units as AWS does and takes 400 KB an item. Times are those of a machine',
    'with two processors that ran all of it at once, and other work beside it: only units say something of AWS. No run failed, and the',
    'views showed everything.',
    '',
    '## One large account',
    '',
    ...formatMade(account),
    ...formatSize(account.size),
    '',
    `Its largest application has ${format(largeDeployments)} Deployments with ${format(largeDeployments * replicaSetsEach)} ReplicaSets. Another one has`,
    `${format(bareReplicaSets)} ReplicaSets without Deployments: each is a cluster of its own, and their names are more than an item holds.`,
    '',
    ...formatRows(account.rows),
    '',
    `## ${format(fleet.accounts)} accounts`,
    '',
    ...formatMade(fleet),
    ...formatSize(fleet.size),
    '',
    ...formatRows(fleet.rows),
  ].join('\n')}\n`;
}

function formatMade({ divisor, made }: CapacityPart): string[] {
  const size = divisor === 1 ? '' : ` Told \`--divisor ${divisor}\`: the suite has so many times more of it.`;
  return [`Measured on ${made}.${size}`, ''];
}

function formatSize(size: FleetSize): string[] {
  const { applications, deployments, replicaSetsEach, bareReplicaSets, pods } = size;
  const rows: readonly (readonly [string, number])[] = [
    ['applications', applications + (bareReplicaSets > 0 ? 1 : 0)],
    ['Deployments', deployments],
    ['ReplicaSets of Deployments', deployments * replicaSetsEach],
    ['other ReplicaSets', bareReplicaSets],
    ['pods', pods],
    ['**objects of an account**', countObjects(size)],
  ];
  return ['| What | Count |', '|---|---|', ...rows.map(([what, count]) => `| ${what} | ${format(count)} |`)];
}

function formatRows(rows: readonly CapacityRow[]): string[] {
  return [
    '| What | Times | Requests | Read units | Write units | Took |',
    '|---|---|---|---|---|---|',
    ...rows.map(({ what, units: { requests, readUnits, writeUnits }, tookMs, times = 1 }) => {
      const each = [requests, readUnits, writeUnits].map((count) => formatEach(count, times));
      return `| ${[what, format(times), ...each, formatTime(tookMs / times)].join(' | ')} |`;
    }),
    '',
    'Units and times are those of one time.',
  ];
}

function formatEach(count: number, times: number): string {
  const each = count / times;
  return each < 100 && !Number.isInteger(each) ? each.toFixed(1) : format(Math.round(each));
}

function formatTime(ms: number): string {
  if (ms < 10_000) return `${format(Math.round(ms))} ms`;
  return `${format(Math.round(ms / 1_000))} s`;
}

function format(count: number): string {
  return count.toLocaleString('en-US');
}
