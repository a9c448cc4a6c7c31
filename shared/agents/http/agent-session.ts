import { pickDefinitions } from '#accounts/account-facts.ts';
import { mapConcurrently } from '#core/concurrency.ts';
import { InvalidInputError, UnauthenticatedError } from '#core/errors.ts';
import { asJsonArray, asJsonObject, type JsonObject } from '#core/json.ts';
import { type ApiRequest, type ApiResponse, ok } from '#http/api-handler.ts';
import { plugins } from '#providers/index.ts';
import { parseWith } from '#settings/coerce.ts';
import { getSetting } from '#settings/spring-config.ts';
import { journalFormat } from '#tasks/journal-format.ts';
import {
  type AgentCluster,
  type AgentEnrolment,
  bindCluster,
  findEnrolmentFault,
} from '../agent-enrolment.ts';
import type { AgentSession, SessionAccount } from '../agent-session.ts';
import { toIdentity } from '../identity/agent-identity.ts';
import type { AgentEvidence } from '../identity/agent-proof.ts';
import {
  type AccountGrant,
  type Hello,
  helloSchema,
  protocolVersion,
  type Welcome,
} from '../protocol/messages.ts';
import type { AgentHub } from '../services/agent-hub.ts';
import { openConnectGates } from '../services/connect-gates.ts';
import { openSessionPlaces } from '../services/session-places.ts';
import { getHintUrl } from '../sessions/hint-port.ts';
import { isOutdated, isProved } from './agent-handler.ts';

/** Tasks that an agent may run at once, all together and of one account. */
const tasksMax = 20;
const accountTasksMax = 5;

/** Reads that it may make at once. */
const readsMax = 32;

/** The admission of an agent: a session, unless each of its accounts is refused. */
interface OpenedSession {
  readonly session: AgentSession | undefined;
  /** By the names of accounts of which it is the agent: why they are refused all the same. */
  readonly refused: Admission['refused'];
}

/**
 * Answers a request for a session.
 *
 * @throws InvalidInputError for a hello that is malformed; UnauthenticatedError where the evidence proves the agent of no account;
 *   OverloadError where too many who prove who they are open sessions
 */
export async function answerHello(
  request: Pick<ApiRequest, 'parseJson'>,
  hub: AgentHub,
  evidence: AgentEvidence,
): Promise<ApiResponse> {
  const hello = parseWith(helloSchema, request.parseJson(), '');
  const { session, refused } = await openSession(hub, hello, evidence);
  const accounts = new Set(session?.accounts.map(({ name }) => name));
  const names = [...new Set(hello.accounts.map(({ name }) => name))];
  return ok(await toWelcome(hub, session, { names, accounts, hello, refused, proof: toProof(evidence) }));
}

/** Names of evidence in answers. */
function toProof({ token, signer }: AgentEvidence): string {
  if (signer !== undefined) return 'role';
  return token === undefined ? 'certificate' : 'token';
}

/**
 * Opens a session for an agent that proves who it is.
 *
 * @throws UnauthenticatedError where it is of no account: then nothing is said of any; OverloadError
 */
async function openSession(hub: AgentHub, hello: Hello, evidence: AgentEvidence): Promise<OpenedSession> {
  if (hello.protocol !== protocolVersion) {
    throw new InvalidInputError(`protocol: expected ${protocolVersion}, got ${hello.protocol}`);
  }
  const proved = await prove(hub, hello, evidence);
  if (proved.length === 0)
    throw new UnauthenticatedError(`The ${toProof(evidence)} proves the agent of none of these accounts`);
  openConnectGates(hub.all).sessions.enter();
  const { accounts, refused } = await admit(hub, hello, proved);
  if (accounts.length === 0) return { session: undefined, refused };
  const nowMs = hub.clock.now();
  const session: AgentSession = {
    id: hub.randomness.id(),
    agentId: hello.agentId,
    version: hello.version,
    zone: hello.zone ?? '',
    protocol: hello.protocol,
    journalFormat: hello.journalFormat,
    accounts,
    audience: hub.proofs.audience,
    openedAtMs: nowMs,
    seenAtMs: nowMs,
    isClosed: false,
    warnings: [],
  };
  await hub.sessions.open(session);
  await checkUnrevoked(hub, session);
  hub.log.info('an agent opened a session', {
    agentId: session.agentId,
    session: session.id,
    accounts: accounts.map(({ name }) => name),
  });
  return { session, refused };
}

/**
 * A revocation is first stored, then ends the sessions that there are. This one is there by now: either it is among them, or it sees
 * here that it must end itself.
 *
 * @throws UnauthenticatedError where agents of an account of it were revoked since it was opened
 */
export async function checkUnrevoked(hub: AgentHub, { id, accounts }: AgentSession): Promise<void> {
  const left = await listUnrevoked(hub, accounts);
  if (left.length === accounts.length) return;
  await hub.sessions.close(id);
  throw new UnauthenticatedError('The session is over: open another one');
}

/**
 * Looks at keys that accounts have at URLs, which no other call does.
 *
 * @throws UnauthenticatedError where one is not there any more that proved the agent: then the session is closed
 */
export async function checkKeys(hub: AgentHub, session: AgentSession): Promise<void> {
  if (await isProved(hub, session, true)) return;
  await hub.sessions.close(session.id);
  throw new UnauthenticatedError('The session is over: open another one');
}

type ProvedAccount = Omit<SessionAccount, 'generation'>;

/** The accounts whose agent the evidence proves, of those that a hello names. */
async function prove(
  hub: AgentHub,
  hello: Hello,
  evidence: AgentEvidence,
): Promise<readonly ProvedAccount[]> {
  const names = new Set(hello.accounts.map(({ name }) => name));
  const proved: ProvedAccount[] = [];
  const faults = new Set<string>();
  const shown = hub.proofs.examine(evidence);
  for (const name of names) {
    const home = hub.providers.findAccount(name)?.agentHome;
    if (home === undefined) continue;
    const outcome = await shown.prove(home.auth);
    if (outcome.fault === undefined)
      proved.push({ name, identity: toIdentity(outcome.proved), key: outcome.key });
    else faults.add(outcome.fault);
  }
  if (proved.length === 0) {
    // The log says why; the answer tells strangers nothing of accounts.
    const reasons = faults.size === 0 ? ['none of the accounts has agents'] : [...faults].slice(0, 5);
    hub.log.warn('an agent was refused', {
      agentId: hello.agentId,
      accounts: [...names].slice(0, 20),
      reasons,
    });
  }
  return proved;
}

/** Has the connections of a session closed that is over. Never rejects: they end by themselves. */
export async function closeConnections(
  { hints }: Pick<AgentHub, 'hints'>,
  { id, accounts }: Pick<AgentSession, 'id' | 'accounts'>,
): Promise<void> {
  // Each connection has a row for every account of its session.
  const [first] = accounts;
  if (first !== undefined) await hints?.send({ kind: 'CLOSE', account: first.name, id });
}

/** The grants of an agent that named these accounts. */
export async function toWelcome(
  hub: AgentHub,
  session: AgentSession | undefined,
  { names, accounts, hello, refused: refusals, proof = 'token' }: GrantInputs,
): Promise<Welcome> {
  const none = { token: '', expiresMs: hub.clock.now() };
  const { token, expiresMs } = session === undefined ? none : await hub.tokens.sign(session.id);
  const { pollIdleMs, pollBusyMs, pollConnectedMs, returnIntervalMs } = hub.agentSettings;
  const find = createDefinitionFinder(hub, accounts);
  const refusal = hello.journalFormat === journalFormat ? undefined : describeFormat(hello.journalFormat);
  const operations = session === undefined || !isOutdated(session, hub.agentSettings);
  if (!operations) tellOutdated(hub, session);
  const grants = names.map((name): AccountGrant => {
    const stranger = `account ${name} is none whose agent this ${proof} proves`;
    const refused = accounts.has(name) ? refusal : (refusals?.get(name) ?? stranger);
    if (refused !== undefined) return { name, operations: false, caching: false, refused };
    return { name, operations, caching: true, definition: JSON.stringify(find(name)) };
  });
  return {
    ...{ session: session?.id ?? '', token, expiresMs },
    serverMs: hub.clock.now(),
    hintUrl: getHintUrl(hub.all),
    accounts: grants,
    limits: {
      ...{ tasks: tasksMax, accountTasks: accountTasksMax, reads: readsMax },
      ...{ pollIdleMs, pollBusyMs, pollConnectedMs },
      ...(session !== undefined && openSessionPlaces(hub.all).note(session.id, returnIntervalMs)),
    },
  };
}

interface GrantInputs {
  /** The accounts that the agent named. */
  readonly names: readonly string[];
  /** Those of them that are its own. */
  readonly accounts: ReadonlySet<string>;
  readonly hello: Pick<Hello, 'journalFormat'>;
  /** Why some of them are not, though the agent proved that it is theirs. Default: none. */
  readonly refused?: Admission['refused'];
  /** The evidence that the agent showed for them: `token`, which is the default, `certificate` or `role`. */
  readonly proof?: string;
}

function tellOutdated({ log, agentSettings }: AgentHub, { agentId, version }: AgentSession): void {
  const { minimumVersion } = agentSettings;
  log.warn('an agent is outdated: it gets no operations', { agentId, version, minimumVersion });
}

function describeFormat(format: number): string {
  return `journal format ${format} of the agent is not ${journalFormat}, which this server has: install the agent of its release`;
}

/** Finds what each of some accounts is opened with elsewhere: its provider, the settings that hold for all, and its own, without secrets. */
function createDefinitionFinder(
  { providers, settings, storedAccounts }: AgentHub,
  names: ReadonlySet<string>,
): (name: string) => JsonObject {
  const known = new Map<string, JsonObject>();
  return (name) => {
    const provider = providers.getAccount(name).cloudProvider;
    const all = known.get(provider) ?? toPublic(provider);
    known.set(provider, all);
    const path = `${provider}.accounts`;
    const account = asJsonArray(getSetting(all, path)).find((each) => asJsonObject(each)?.['name'] === name);
    return { provider, settings: withoutAccounts(all, provider), account: account ?? null };
  };

  function toPublic(name: string): JsonObject {
    const plugin = plugins.find((each) => each.name === name);
    if (plugin === undefined) return {};
    // Others are not read: there may be a thousand, and each of their agents asks for its own.
    const shown = providers.getOpenedAccounts(name, names);
    return plugin.toPublicSettings(settings, shown, pickDefinitions(storedAccounts, name));
  }
}

function withoutAccounts(settings: JsonObject, provider: string): JsonObject {
  const { accounts: _, ...shared } = asJsonObject(settings[provider]) ?? {};
  return { ...settings, [provider]: shared };
}

/** Accounts that are looked up at a time. */
const accountsAtOnce = 16;

/** The accounts that are let in, and those that are not though the proof is good. */
interface Admission {
  readonly accounts: readonly SessionAccount[];
  /** By the names of accounts: why they are refused. */
  readonly refused: ReadonlyMap<string, string>;
}

/**
 * Lets agents in to the accounts whose agents they have proved to be, but where these are revoked, or were enrolled for another cluster.
 * The first agent that reports an account's cluster binds the account to it.
 */
async function admit(
  { enrolments, clock, log }: Pick<AgentHub, 'enrolments' | 'clock' | 'log'>,
  hello: Hello,
  proved: readonly Omit<SessionAccount, 'generation'>[],
): Promise<Admission> {
  const told = new Map(hello.accounts.map((account) => [account.name, toCluster(account)]));
  const refused = new Map<string, string>();
  const accounts = await mapConcurrently(proved, accountsAtOnce, async ({ name, ...proof }) => {
    const cluster = told.get(name) ?? toCluster({});
    const before = await enrolments.find(name);
    const change = (state: AgentEnrolment) => bindCluster(state, cluster, { atMs: clock.now() });
    const state = change(before) === undefined ? before : await enrolments.change(name, change);
    const fault = findEnrolmentFault(name, state, cluster);
    if (fault === undefined) return [{ name, ...proof, generation: state.generation }];
    log.warn('an agent was refused', { agentId: hello.agentId, account: name, reason: fault });
    refused.set(name, fault);
    return [];
  });
  return { accounts: accounts.flat(), refused };
}

/** The accounts whose agents are still those that were let in: neither revoked since, nor moved to another cluster. */
async function listUnrevoked(
  { enrolments }: Pick<AgentHub, 'enrolments'>,
  accounts: readonly SessionAccount[],
): Promise<readonly SessionAccount[]> {
  const states = await mapConcurrently(accounts, accountsAtOnce, ({ name }) => enrolments.find(name));
  return accounts.filter(({ generation }, index) => states[index]?.generation === generation);
}

function toCluster({
  clusterUid = '',
  kubeHost = '',
  certFingerprint = '',
  kubeVersion = '',
}: Partial<Hello['accounts'][number]>): AgentCluster {
  return { uid: clusterUid, host: kubeHost, certFingerprint, version: kubeVersion };
}
