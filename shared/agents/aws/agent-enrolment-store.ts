import { ConflictError, UnavailableError } from '#core/errors.ts';
import { isJsonObject, type JsonObject } from '#core/json.ts';
import { MalformedItemError, taskReader as reader } from '#platform/aws/item-reader.ts';
import type { Item, ItemKey, TimedTable } from '#platform/aws/table.ts';
import {
  type AgentCluster,
  type AgentEnrolment,
  type AgentEnrolmentStore,
  type EnrolmentChange,
  enrolmentEvents,
  noEnrolment,
} from '../agent-enrolment.ts';

/** Tries to make a change while others make theirs. */
const triesMax = 10;

function getKey(account: string): ItemKey {
  return { pk: `ENROLMENT#${account}`, sk: '#' };
}

/** Enrolments of the agents of accounts, in DynamoDB: an item an account, which never expires. */
export function createEnrolmentStore({ table }: Pick<TimedTable, 'table'>): AgentEnrolmentStore {
  return {
    async find(account: string): Promise<AgentEnrolment> {
      return parseEnrolment(await table.get(getKey(account)));
    },
    async change(account, change) {
      for (let tries = 0; tries < triesMax; tries += 1) {
        const item = await table.get(getKey(account));
        const before = parseEnrolment(item);
        if (before.unreadable !== undefined)
          throw new ConflictError(`The enrolment of account ${account} cannot be read: ${before.unreadable}`);
        const after = change(before);
        if (after === undefined) return before;
        const revision = item === undefined ? 0 : reader.getNumber(item, 'revision');
        if (await write(account, after, revision)) return after;
      }
      throw new UnavailableError(`The agents of account ${account} are being changed by others; try again`);
    },
  };

  /** @param revision that of the item before; 0 for none. @returns false where it has another one by now */
  async function write(account: string, after: AgentEnrolment, revision: number): Promise<boolean> {
    const { generation, isRevoked, cluster, changes } = after;
    const item = {
      ...getKey(account),
      ...{ revision: revision + 1, generation, isRevoked },
      ...(cluster && { cluster: JSON.stringify(cluster) }),
      changes: JSON.stringify(changes),
    };
    return revision === 0 ? table.putNew(item, 0) : table.putOver(item, 'revision', revision);
  }
}

/** One that cannot be read lets no agent in: as an absent one it would let in any. */
function parseEnrolment(item: Item | undefined): AgentEnrolment {
  if (item === undefined) return noEnrolment;
  try {
    return readEnrolment(item);
  } catch (error) {
    if (!(error instanceof MalformedItemError)) throw error;
    return { ...noEnrolment, generation: -1, isRevoked: true, unreadable: error.message };
  }
}

function readEnrolment(item: Item): AgentEnrolment {
  reader.checkForm(item);
  const cluster = reader.findJson(item, 'cluster', isJsonObject);
  return {
    generation: reader.getNumber(item, 'generation'),
    isRevoked: reader.findBoolean(item, 'isRevoked') === true,
    cluster: cluster && parseCluster(cluster),
    changes: reader.getJson(item, 'changes', isChanges).map(parseChange),
  };
}

function isChanges(value: unknown): value is readonly JsonObject[] {
  return Array.isArray(value) && value.every(isJsonObject);
}

function parseCluster(cluster: JsonObject): AgentCluster {
  const toText = (name: keyof AgentCluster) => String(cluster[name] ?? '');
  return {
    uid: toText('uid'),
    host: toText('host'),
    certFingerprint: toText('certFingerprint'),
    version: toText('version'),
  };
}

function parseChange({ event, atMs, by, clusterUid }: JsonObject): EnrolmentChange {
  return {
    event: enrolmentEvents.find((known) => known === event) ?? 'revoked',
    atMs: Number(atMs),
    by: typeof by === 'string' ? by : undefined,
    clusterUid: String(clusterUid ?? ''),
  };
}
