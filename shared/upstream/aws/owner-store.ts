import { toSeconds } from '#core/clock.ts';
import { taskReader } from '#platform/aws/item-reader.ts';
import type { Item, ItemKey, TimedTable } from '#platform/aws/table.ts';
import type { AccountOwner, GivenOperations, OwnerStore, Side } from '../account-owner.ts';

/** Seconds for which operations count that never became a task: ours are stored by then, and theirs have failed. */
const acceptSeconds: { readonly [side in Side]: number } = { ours: 120, theirs: 3_600 };

/** Seconds for which a task upstream counts whose end nobody asked for. */
const taskSeconds = 24 * 3_600;

const operationPrefix = 'OPERATIONS#';

/** Owners of accounts, in the table of tasks. */
export function createOwnerStore({ table, clock }: TimedTable): OwnerStore {
  const toExpiry = (seconds: number): number => toSeconds(clock.now()) + seconds;
  return {
    async find(account) {
      const item = await table.get(toKey(account, 'OWNER'));
      return item && parseOwner(item);
    },
    async replace(account, { seen, next }) {
      const version = (seen?.version ?? 0) + 1;
      const item = { ...toKey(account, 'OWNER'), ...next, version };
      const isWritten =
        seen === undefined ? await table.putNew(item, 0) : await table.putOver(item, 'version', seen.version);
      return isWritten ? { ...next, version } : undefined;
    },
    note: (account, { id, side }) =>
      table.putNew(
        { ...toKey(account, operationPrefix + id), side, expiresAt: toExpiry(acceptSeconds[side]) },
        toSeconds(clock.now()),
      ),
    async noteTask(accounts, { id, side, taskId }) {
      const expiresAt = toExpiry(taskSeconds);
      await table.put({ ...toTaskKey(taskId), accounts, expiresAt });
      await Promise.all(
        accounts.map((each) => table.put({ ...toKey(each, operationPrefix + id), side, taskId, expiresAt })),
      );
    },
    forget: (account, id) => table.delete(toKey(account, operationPrefix + id)),
    async list(account) {
      const items = await table.query(toKey(account, '').pk);
      return items
        .filter(({ expiresAt }) => expiresAt !== undefined && Number(expiresAt) > toSeconds(clock.now()))
        .map(parseOperations);
    },
    async findTaskAccounts(taskId) {
      const item = await table.get(toTaskKey(taskId));
      const isLive = Number(item?.['expiresAt']) > toSeconds(clock.now());
      return item && isLive ? taskReader.getTexts(item, 'accounts') : undefined;
    },
  };
}

function toKey(account: string, sk: string): ItemKey {
  return { pk: `OWNER#${account}`, sk };
}

function toTaskKey(taskId: string | undefined): ItemKey {
  return { pk: `UPSTREAM-TASK#${taskId}`, sk: 'ACCOUNTS' };
}

function parseOwner(item: Item): AccountOwner {
  const next = taskReader.findText(item, 'next');
  return {
    owner: toSide(taskReader.getText(item, 'owner')),
    ...(next !== undefined && { next: toSide(next) }),
    version: taskReader.getNumber(item, 'version'),
  };
}

function parseOperations(item: Item): GivenOperations {
  return {
    id: taskReader.getText(item, 'sk').slice(operationPrefix.length),
    side: toSide(taskReader.getText(item, 'side')),
    taskId: taskReader.findText(item, 'taskId'),
  };
}

function toSide(text: string): Side {
  return text === 'theirs' ? 'theirs' : 'ours';
}
