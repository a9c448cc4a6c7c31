import type { Clock } from '../../core/clock.ts';
import { mapConcurrently } from '../../core/concurrency.ts';
import {
  type AgentSession,
  type AgentSessionStore,
  type SessionAccount,
  sessionLifeMs,
  sessionMemoryMs,
} from '../../core/tasks/agent-session.ts';
import { agentSilenceMs, type SeenAgent } from '../../core/tasks/task-inbox.ts';
import { isTexts, taskReader as reader } from '../item-reader.ts';
import { type Item, type ItemKey, type ItemTable, ItemUpdate } from '../table.ts';

/** Partition of the list of sessions. A row may outlive its session, or precede it. */
const listKey = 'SESSIONS';

/** Sessions that are looked at for when an agent was last heard of. */
const listedMax = 5_000;

/** Sessions that are read at a time. */
const readsMax = 16;

function getSessionKey(id: string): ItemKey {
  return { pk: `SESSION#${id}`, sk: '#' };
}

/** Sessions of agents, in DynamoDB. */
export class DynamoAgentSessionStore implements AgentSessionStore {
  readonly #table: ItemTable;
  readonly #clock: Pick<Clock, 'now'>;

  constructor({ table, clock }: { readonly table: ItemTable; readonly clock: Pick<Clock, 'now'> }) {
    this.#table = table;
    this.#clock = clock;
  }

  async open(session: AgentSession): Promise<void> {
    const { id, openedAtMs, seenAtMs, accounts, ...others } = session;
    const expiresAt = Math.floor((openedAtMs + sessionLifeMs + sessionMemoryMs) / 1000);
    await this.#table.put({ pk: listKey, sk: `${session.agentId}#${id}`, expiresAt });
    await this.#table.put({
      ...getSessionKey(id),
      ...others,
      id,
      accounts: accounts.map(({ name }) => name),
      identities: accounts.map(({ identity }) => identity),
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

  async touch(id: string, seenAtMs: number, warnings?: readonly string[]): Promise<boolean> {
    const update = new ItemUpdate().set('seenAt', seenAtMs).require('isClosed', '=', false);
    if (warnings !== undefined) update.set('warnings', warnings);
    return (await this.#table.update(getSessionKey(id), update)) !== undefined;
  }

  async close(id: string): Promise<void> {
    const update = new ItemUpdate().set('isClosed', true).require('isClosed', '=', false);
    await this.#table.update(getSessionKey(id), update);
  }

  async findSeen(account: string): Promise<SeenAgent | undefined> {
    const rows = await this.#table.query(listKey, listedMax);
    const ids = rows.map((row) => String(row['sk']).split('#').at(-1) ?? '');
    const sessions = await mapConcurrently(ids, readsMax, (id) => this.find(id));
    const seen = sessions
      .filter((session) => session?.accounts.some(({ name }) => name === account))
      .flatMap((session) => (session === undefined ? [] : [this.#toSeen(session)]));
    return seen.toSorted(compareSeen)[0];
  }

  /** Who closed its session is not there, however short ago that was. */
  #toSeen({ agentId, seenAtMs, isClosed }: AgentSession): SeenAgent {
    return { agentId, seenAtMs, isConnected: !isClosed && this.#clock.now() - seenAtMs < agentSilenceMs };
  }
}

/** Those that are connected first, then the last one. */
function compareSeen(one: SeenAgent, other: SeenAgent): number {
  return Number(other.isConnected) - Number(one.isConnected) || other.seenAtMs - one.seenAtMs;
}

function parseSession(item: Item): AgentSession {
  const names = reader.getTexts(item, 'accounts');
  const identities = reader.getTexts(item, 'identities');
  return {
    id: reader.getText(item, 'id'),
    agentId: reader.getText(item, 'agentId'),
    version: reader.getText(item, 'version'),
    zone: reader.getText(item, 'zone'),
    accounts: names.map((name, index): SessionAccount => ({ name, identity: identities[index] ?? '' })),
    openedAtMs: reader.getNumber(item, 'openedAt'),
    seenAtMs: reader.getNumber(item, 'seenAt'),
    isClosed: item['isClosed'] === true,
    warnings: isTexts(item['warnings']) ? item['warnings'] : [],
  };
}
