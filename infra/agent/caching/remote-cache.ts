import {
  type EpochAnswer,
  epochAnswerSchema,
  type HeadsPage,
  headsSchema,
} from '#agents/protocol/cache-messages.ts';
import type {
  AccountEpoch,
  CacheStore,
  HeadOptions,
  ObjectHead,
  ObjectKey,
  StoredObject,
} from '#caching/store/cache-store.ts';
import { toRevision } from '#caching/store/revision.ts';
import { mapConcurrently } from '#core/concurrency.ts';
import type { CacheCalls } from './cache-calls.ts';

/** Objects that are asked for at a time. */
const objectsAtATime = 4;

/** Calls of an agent to the cache itself; changes go another way. */
type ReadableCache = Pick<CacheStore, 'getEpoch' | 'raiseEpoch' | 'listKinds' | 'listHeads' | 'getObjects'>;

/** The cache as an agent has it: it asks Busdriver. Calls that no agent makes are refused by name. */
export function openRemoteCache(calls: CacheCalls): CacheStore {
  const cache = new RemoteCache(calls);
  return new Proxy(cache as unknown as CacheStore, {
    get(_, name) {
      const member: unknown = Reflect.get(cache, name);
      if (typeof member === 'function') return member.bind(cache);
      // `await` asks whether it is a promise.
      if (name === 'then') return undefined;
      return () => {
        throw new Error(`an agent of a cluster has no ${String(name)} of the cache`);
      };
    },
  });
}

class RemoteCache implements ReadableCache {
  readonly #calls: CacheCalls;

  constructor(calls: CacheCalls) {
    this.#calls = calls;
  }

  async getEpoch(account: string): Promise<AccountEpoch | undefined> {
    return toEpoch((await this.#readEpoch(account)).current);
  }

  async raiseEpoch(account: string, epoch: AccountEpoch): Promise<AccountEpoch> {
    const body = { epoch: epoch.epoch, cluster: epoch.identity };
    const answer = await this.#calls.call(account, { method: 'PUT', what: 'epoch', body });
    return toEpoch(epochAnswerSchema.parse(answer).current) ?? epoch;
  }

  /** The storing side sees to that. */
  takeUnreadable(): boolean {
    return false;
  }

  async listKinds(account: string): Promise<readonly string[]> {
    return (await this.#readEpoch(account)).kinds;
  }

  async *listHeads(
    account: string,
    kind: string,
    { location: namespace, withGone = false }: HeadOptions = {},
  ): AsyncGenerator<readonly ObjectHead[]> {
    for (let page: string | undefined, isLast = false; !isLast; isLast = page === undefined) {
      const found = await this.#readHeads(account, { kind, namespace, withGone: String(withGone), page });
      yield found.heads.map((head) => toHead(head, { account, kind }));
      page = found.next;
    }
  }

  getObjects(keys: readonly ObjectKey[]): Promise<readonly (StoredObject | undefined)[]> {
    return mapConcurrently(keys, objectsAtATime, async ({ account, kind, location: namespace, name }) => {
      const { heads } = await this.#readHeads(account, { kind, namespace, name });
      const [head] = heads;
      return head && { ...toHead(head, { account, kind }), readBody: () => head.facts ?? '' };
    });
  }

  async #readEpoch(account: string): Promise<EpochAnswer> {
    return epochAnswerSchema.parse(await this.#calls.call(account, { method: 'GET', what: 'epoch' }));
  }

  async #readHeads(
    account: string,
    query: { readonly [name: string]: string | undefined },
  ): Promise<HeadsPage> {
    return headsSchema.parse(await this.#calls.call(account, { method: 'GET', what: 'heads', query }));
  }
}

function toEpoch(current: EpochAnswer['current']): AccountEpoch | undefined {
  if (current === undefined) return undefined;
  const { cluster: identity, ...epoch } = current;
  return { ...epoch, identity };
}

function toHead(
  { namespace, name, epoch, version, gone = false }: HeadsPage['heads'][number],
  { account, kind }: Pick<ObjectKey, 'account' | 'kind'>,
): ObjectHead {
  return { key: { account, kind, location: namespace, name }, revision: toRevision(epoch, version), gone };
}
