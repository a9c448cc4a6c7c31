import type { Clock } from '#core/clock.ts';
import { mapConcurrently } from '#core/concurrency.ts';
import { isTexts, taskReader as reader } from '#platform/aws/item-reader.ts';
import { type Item, type ItemKey, type ItemTable, ItemUpdate, type TimedTable } from '#platform/aws/table.ts';
import type { SeenAgent } from '#tasks/task-inbox.ts';
import {
  type AgentLoad,
  type AgentReport,
  type AgentSession,
  type AgentSessionStore,
  isConnected,
  type SessionAccount,
  sessionLifeMs,
  sessionMemoryMs,
  sessionSilenceMs,
} from '../agent-session.ts';

/** Partition of the list of sessions. A row may outlive its session, or precede it. */
export const sessionListKey = 'SESSIONS';

/** Sessions of one account that are looked at, the newest first. Those that are over are removed: the next look sees others. */
const listedMax = 200;

/** Items that are read or written at a time. */
const callsMax = 16;

/** Times are counted down from here, so that the newest row comes first. */
const lastMs = 9_999_999_999_999;

function getSessionKey(id: string): ItemKey {
  return { pk: `SESSION#${id}`, sk: '#' };
}

/** A row of the sessions of an account. As those of the list it may outlive its session, or precede it. */
function getRowKey(account: string, { id, openedAtMs }: Pick<AgentSession, 'id' | 'openedAtMs'>): ItemKey {
  const sk = `${String(lastMs - openedAtMs).padStart(13, '0')}#${id}`;
  return { pk: getRowPartition(account), sk };
}

function getRowPartition(account: string): string {
  return `SEEN#${account}`;
}

function toSessionId(row: Item): string {
  return String(row['sk']).split('#').at(-1) ?? '';
}

/** Sessions of agents, in DynamoDB. */
export class DynamoAgentSessionStore implements AgentSessionStore {
  readonly #table: ItemTable;
  readonly #clock: Pick<Clock, 'now'>;

  constructor({ table, clock }: TimedTable) {
    this.#table = table;
    this.#clock = clock;
  }

  async open(session: AgentSession): Promise<void> {
    const { id, openedAtMs, seenAtMs, accounts, ...others } = session;
    const expiresAt = Math.floor((openedAtMs + sessionLifeMs + sessionMemoryMs) / 1000);
    await this.#table.put({ pk: sessionListKey, sk: `${session.agentId}#${id}`, expiresAt });
    await mapConcurrently(accounts, callsMax, ({ name }) =>
      this.#table.put({ ...getRowKey(name, session), expiresAt }),
    );
    await this.#table.put({
      ...getSessionKey(id),
      ...others,
      id,
      accounts: accounts.map(({ name }) => name),
      identities: accounts.map(({ identity }) => identity),
      keys: accounts.map(({ key = '' }) => key),
      generations: accounts.map(({ generation }) => String(generation)),
      openedAt: openedAtMs,
      seenAt: seenAtMs,
      expiresAt,
    });
  }

  async find(id: string): Promise<AgentSession | undefined> {
    const item = await this.#table.get(getSessionKey(id));
    if (item === undefined || reader.getNumber(item, 'expiresAt') * 1000 <= this.#clock.now())
      return undefined;
    return parseSession(item);
  }

  async touch(id: string, seenAtMs: number, { warnings, load }: AgentReport = {}): Promise<boolean> {
    const update = new ItemUpdate().set({ seenAt: seenAtMs }).require('isClosed', '=', false);
    if (warnings !== undefined) update.set({ warnings });
    if (load !== undefined) update.set({ load });
    return (await this.#table.update(getSessionKey(id), update)) !== undefined;
  }

  async close(id: string): Promise<void> {
    const update = new ItemUpdate().set({ isClosed: true }).require('isClosed', '=', false);
    await this.#table.update(getSessionKey(id), update);
  }

  async closeAllOf(account: string): Promise<readonly string[]> {
    const ids = (await this.#table.query(getRowPartition(account))).map(toSessionId);
    await mapConcurrently(ids, callsMax, (id) => this.close(id));
    return ids;
  }

  async listOf(account: string): Promise<readonly AgentSession[]> {
    const rows = await this.#table.query(getRowPartition(account), listedMax);
    const found = await mapConcurrently(rows.map(toSessionId), callsMax, (id) => this.find(id));
    const sessions = found.filter((each) => each?.accounts.some(({ name }) => name === account));
    const known = sessions.flatMap((each) => each ?? []);
    const live = known.filter((each) => !this.#isOver(each));
    const last = known.toSorted((one, other) => other.seenAtMs - one.seenAtMs).slice(0, 1);
    const kept = live.length > 0 ? live : last;
    // A row without a session may be of one that is about to be opened.
    const gone = known.filter((each) => !kept.includes(each));
    await mapConcurrently(gone, callsMax, (each) => this.#table.delete(getRowKey(account, each)));
    return kept;
  }

  async findSeen(account: string): Promise<SeenAgent | undefined> {
    const sessions = await this.listOf(account);
    return sessions.map((session) => this.#toSeen(session)).toSorted(compareSeen)[0];
  }

  #isOver({ isClosed, seenAtMs }: AgentSession): boolean {
    return isClosed || this.#clock.now() - seenAtMs > sessionSilenceMs;
  }

  /** An agent that closed its session is not there, however short ago that was. */
  #toSeen(session: AgentSession): SeenAgent {
    const { agentId, seenAtMs } = session;
    return { agentId, seenAtMs, isConnected: isConnected(session, this.#clock.now()) };
  }
}

/** Those that are connected first, then the last one. */
function compareSeen(one: SeenAgent, other: SeenAgent): number {
  return Number(other.isConnected) - Number(one.isConnected) || other.seenAtMs - one.seenAtMs;
}

function parseSession(item: Item): AgentSession {
  const names = reader.getTexts(item, 'accounts');
  const identities = reader.getTexts(item, 'identities');
  const generations = reader.findTexts(item, 'generations') ?? [];
  const keys = reader.findTexts(item, 'keys') ?? [];
  return {
    id: reader.getText(item, 'id'),
    agentId: reader.getText(item, 'agentId'),
    version: reader.getText(item, 'version'),
    zone: reader.getText(item, 'zone'),
    protocol: reader.findNumber(item, 'protocol') ?? 1,
    journalFormat: reader.findNumber(item, 'journalFormat') ?? 1,
    accounts: names.map(
      (name, index): SessionAccount => ({
        name,
        identity: identities[index] ?? '',
        key: keys[index] || undefined,
        generation: Number(generations[index] ?? 0),
      }),
    ),
    audience: reader.findText(item, 'audience'),
    openedAtMs: reader.getNumber(item, 'openedAt'),
    seenAtMs: reader.getNumber(item, 'seenAt'),
    isClosed: item['isClosed'] === true,
    warnings: isTexts(item['warnings']) ? item['warnings'] : [],
    load: parseLoad(reader.findMap(item, 'load')),
  };
}

function parseLoad(load: Item | undefined): AgentLoad | undefined {
  return load && { tasks: reader.getNumber(load, 'tasks'), reads: reader.getNumber(load, 'reads') };
}
