import type { Account } from '#accounts/model/account.ts';
import type { CachingAgent, CachingRun } from '#caching/scheduling/caching-agent.ts';
import type { ChangeReceiver } from '#caching/store/wire-changes.ts';
import type { JsonObject } from '#core/json.ts';
import type { Operation } from '#tasks/operation.ts';
import type { ImageViews } from '#views/images.ts';
import type { Inventories } from '#views/inventories.ts';
import type { ViewsOpener } from '#views/views.ts';
import type { LiveReads } from './live-reads.ts';

/**
 * A cloud provider: accounts, and what can be done with them. A capability left out is one it lacks. What is loaded is loaded once for each
 * opening, by the kit, when it is first needed: functions that only read load no operations.
 */
export interface CloudProvider {
  /** Its id in Spinnaker, `cloudProvider` of its accounts. Several may have the same: what is asked of an account is asked of its own. */
  readonly name: string;
  readonly accounts: readonly Account[];
  /** Whether an account's platform is called: it is not known to be unreachable, or a probe found it. Never rejects. Default: always. */
  isReachable?(account: string): Promise<boolean>;
  readonly operations?: OperationSource;
  readonly caching?: CachingSource;
  /** Opens the views of its accounts in the cache. */
  readonly openViews?: ViewsOpener;
  /** Loads reads from its accounts' platforms. */
  loadLiveReads?(): Promise<LiveReads>;
  /** Its images in the cache. */
  readonly images?: ImageViews;
  /** Its lists of what its platforms have besides, such as subnets. */
  readonly inventories?: Inventories;
}

/** The operations of a cloud provider. */
interface OperationSource {
  /** Another id under which only these are asked for: `POST /{alias}/ops`. Default: none. */
  readonly alias?: string;
  load(): Promise<readonly Operation[]>;
}

/** What keeps a cloud provider's accounts cached. */
interface CachingSource {
  /** Loads its accounts' caching agents, to be run or scheduled. */
  loadAgents(): Promise<readonly CachingAgent[]>;
  /** Loads the receiver of changes of its accounts that agents in clusters send. Default: there are no such agents. */
  loadChangeReceiver?(): Promise<ChangeReceiver>;
  /**
   * Finds the object that a stage has changed and waits to see. Default: stages wait for nothing, since the cache is current without.
   *
   * @param type sort of the object, an `OnDemandType` of Clouddriver in any case: `ServerGroup`
   * @param key identifies it, as Orca writes it: `{account, region, serverGroupName}`
   * @returns undefined where there is nothing to read
   */
  findRefresh?(type: string, key: JsonObject): Refresh | undefined;
}

/** One object to be read into the cache, while a caller waits. */
interface Refresh {
  /** What callers are shown that it is. */
  readonly id: string;
  /** Reads and caches it, or removes what is gone. It is given up after 5 seconds. @throws VisibleError when it cannot be read */
  run(run: Pick<CachingRun, 'cache' | 'signal'>): Promise<unknown>;
}
