import { assumptions } from './assumption-data.ts';
import type { Capacity } from './capacity-page.ts';
import type { Values } from './formula.ts';
import type { Prices } from './prices.ts';
import type { TemplateCounts } from './template-counts.ts';

/** How accounts are cached: by runs at their interval all the time, by runs that come less often while nobody looks, or watched. */
export const modes = ['interval', 'adaptive', 'stream'] as const;

/** One of {@link modes}. */
export type Mode = (typeof modes)[number];

/** The way out of the VPC: a NAT gateway for Busdriver, endpoints of AWS' services, or what others pay for anyway. */
export const networks = ['nat', 'endpoints', 'existing'] as const;

/** One of {@link networks}. */
export type Network = (typeof networks)[number];

/** What an installation has to do. */
export interface Scenario {
  readonly accounts: number;
  /** Objects of an account that are cached. */
  readonly objects: number;
  /** Objects of an account that change in an hour. */
  readonly changesPerHour: number;
  /** How accounts are cached that are none of `streamAccounts`. */
  readonly mode: Mode;
  /** Accounts that are watched; all are in mode `stream`. */
  readonly streamAccounts: number;
  /** Secrets with kubeconfigs that accounts name. */
  readonly secrets: number;
  readonly deploysPerDay: number;
  /** Questions of Orca about a deploy, until it is stable. */
  readonly polls: number;
  /** Replicas of Gate and Fiat, each of which asks for credentials and applications each 30 seconds. */
  readonly pollers: number;
  readonly network: Network;
  /** Agents that are connected all the time, replicas included, each for one account. */
  readonly agents: number;
}

/** What a bill is reckoned from. */
export interface Basis {
  readonly prices: Prices;
  readonly counts: TemplateCounts;
  readonly capacity: Capacity;
}

/** Share of requests that X-Ray records beyond the first of each second. */
const tracedShare = 0.05;

/**
 * All that formulas name: prices, assumptions, counts, and what follows from the scenario. Quantities are those of a month, those of
 * calls, units and seconds in millions.
 */
export function toValues(scenario: Scenario, { prices, counts, capacity }: Basis): Values {
  const own = Object.entries(assumptions).map(([name, { value }]) => [name, value] as const);
  const amounts = [...prices].map(([name, { amount }]) => [name, amount] as const);
  const derived = Object.entries(derive(scenario, capacity));
  return new Map([...own, ...amounts, ...Object.entries(counts), ...derived]);
}

/** Name of a quantity that follows from a scenario. */
export type DerivedName = keyof ReturnType<typeof derive>;

function derive(scenario: Scenario, capacity: Capacity) {
  return {
    ...toCachingValues(scenario),
    ...toStreamValues(scenario),
    ...toRequestValues(scenario, capacity),
    ...toFillValues(scenario, capacity),
    ...toAgentValues(scenario),
    endpointServices: 5,
    kubeconfigs: scenario.secrets,
  };
}

/** Accounts that are run by turns. */
function countTurned({ accounts, streamAccounts }: Scenario): number {
  return accounts - streamAccounts;
}

function toCachingValues(scenario: Scenario) {
  const { accounts, objects, changesPerHour } = scenario;
  const { hours, minutes, seconds, interval, idleInterval, inUse, messagesPerSend, objectKb, agentKb } =
    valuesOf(assumptions);
  const { scheduleSeconds, agentSeconds } = valuesOf(assumptions);
  const turned = countTurned(scenario);
  const share = scenario.mode === 'interval' ? 1 : inUse;
  const turnsInUse = seconds / interval;
  const turnsIdle = seconds / idleInterval;
  const runsEach = share * turnsInUse + (1 - share) * turnsIdle;
  const changesEach = (changesPerHour * hours) / 1e6;
  const messages =
    turnsInUse * countMessages(turned * share) + turnsIdle * countMessages(turned * (1 - share));
  return {
    runs: turned * runsEach,
    messages,
    sends: Math.max(Math.min(messages, minutes), messages / messagesPerSend),
    messageTraces: countTraces(messages),
    changedRuns: turned * Math.min(runsEach, changesEach),
    changes: accounts * changesEach,
    cachedAccounts: accounts,
    changesByTurns: turned * changesEach,
    comparedByTurns: (turned * objects * hours) / 1e6,
    compared: (accounts * objects * hours) / 1e6,
    stored: (accounts * objects * objectKb) / 1e6,
    // Eventually consistent, at half the price; each of 16 shards costs half a unit at least.
    listUnits: Math.max(8, (0.5 * agentKb * accounts) / 4),
    turnSeconds: scheduleSeconds + agentSeconds * accounts,
  };
}

/** Messages for the agents of so many accounts in an interval: those of a slot share them. */
function countMessages(accounts: number): number {
  const { agentsPerMessage, turnSlots } = valuesOf(assumptions);
  const slots = turnSlots * (1 - (1 - 1 / turnSlots) ** accounts);
  return Math.max(accounts / agentsPerMessage, Math.min(accounts, slots));
}

function toStreamValues({ streamAccounts, changesPerHour }: Scenario) {
  const { seconds, minutes, flushSeconds, agentsPerStream } = valuesOf(assumptions);
  // After each write it takes the pause and then until the next change; bookmarks are stored each minute.
  const flushes = changesPerHour === 0 ? 0 : seconds / (flushSeconds + 3600 / changesPerHour);
  return {
    flushes: streamAccounts * (flushes + minutes),
    streamWorkers: Math.ceil(streamAccounts / agentsPerStream),
  };
}

function toRequestValues(scenario: Scenario, { applications, listApplications }: Capacity) {
  const { accounts, deploysPerDay, polls, pollers } = scenario;
  const { hours, minutes, applicationsEach, agentKb, operationsEach, taskPolls } = valuesOf(assumptions);
  const deploys = (deploysPerDay * hours) / 24 / 1e6;
  const questions = deploys * polls;
  const polled = 4 * pollers * minutes;
  const asked = operationsEach * deploys + questions;
  const pollTraces = countTraces(polled);
  const deployTraces = countTraces(polled + asked) - pollTraces;
  const questionShare = asked === 0 ? 0 : questions / asked;
  const directory = (applicationsEach * listApplications.readUnits) / applications;
  return {
    pollers,
    deploys,
    questions,
    taskQuestions: taskPolls * questions,
    manifestQuestions: (1 - taskPolls) * questions,
    pollTraces,
    deployTraces: (1 - questionShare) * deployTraces,
    questionTraces: questionShare * deployTraces,
    operationTraces: countTraces(operationsEach * deploys),
    // The directory, and how fresh each account is.
    directoryUnits: accounts * (directory + agentKb / 8),
  };
}

/** All in millions. Of each account's agents one keeps it cached. */
function toAgentValues({ agents }: Scenario) {
  const { minutes, agentReplicas, agentPingMinutes, agentRenewalMinutes } = valuesOf(assumptions);
  const { agentQuestionsMinute, agentKeepsMinute, agentClaimsMinute } = valuesOf(assumptions);
  const keeping = agents / agentReplicas;
  const agentQuestions = agents * minutes * agentQuestionsMinute;
  const agentKeeps = keeping * minutes * agentKeepsMinute;
  const agentClaims = (agents - keeping) * minutes * agentClaimsMinute;
  const agentRenewals = (agents * minutes) / agentRenewalMinutes;
  return {
    connectedMinutes: agents * minutes,
    agentFrames: (2 * agents * minutes) / agentPingMinutes,
    ...{ agentQuestions, agentKeeps, agentClaims, agentRenewals },
    agentCalls: agentQuestions + agentKeeps + agentClaims + agentRenewals,
  };
}

function toFillValues({ objects }: Scenario, { firstFill, objects: filled }: Capacity) {
  const { storeSeconds, concurrentWrites } = valuesOf(assumptions);
  const share = objects / filled / 1e6;
  return {
    fillWrites: share * firstFill.writeUnits,
    fillReads: share * firstFill.readUnits,
    fillRequests: share * firstFill.requests,
    fillSeconds: (share * firstFill.requests * storeSeconds) / concurrentWrites,
    listed: objects / 1e6,
  };
}

/** Traces, in millions, of so many requests of one kind that come by chance: the first of each second, and a share of the others. */
function countTraces(requests: number): number {
  const seconds = assumptions.seconds.value;
  const first = seconds * (1 - Math.exp(-requests / seconds));
  return first + tracedShare * (requests - first);
}

function valuesOf<Name extends string>(
  from: { readonly [name in Name]: { readonly value: number } },
): { readonly [name in Name]: number };
function valuesOf(from: { readonly [name: string]: { readonly value: number } }) {
  return Object.fromEntries(Object.entries(from).map(([name, { value }]) => [name, value]));
}
