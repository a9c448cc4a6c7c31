import type { CacheStore, ObjectKey } from '#caching/store/cache-store.ts';
import { toRevision } from '#caching/store/revision.ts';
import type { Clock } from '#core/clock.ts';
import { waitAtMost } from '#core/deadline.ts';
import { getErrorMessage } from '#core/errors.ts';
import { asJsonObject, asString, getPath, type JsonObject } from '#core/json.ts';
import type { Logger } from '#core/logger.ts';
import { isV1Account, type KubernetesAccount } from '../account/account.ts';
import type { CacheSettings } from '../account/account-settings.ts';
import type { EpochMemory } from '../account/session.ts';
import type { KubernetesClient, ObjectRef, WriteOptions } from '../api/client.ts';
import type { Manifest } from '../api/manifest.ts';
import { getKindName } from '../kinds/name.ts';
import { listCachedKinds } from '../rows/cached-kinds.ts';
import type { ObjectFacts } from '../rows/facts.ts';
import { decodeFacts } from '../rows/facts-codec.ts';
import { toNamedObject } from '../rows/row-names.ts';
import { createAccountFilter, toAccountFacts } from '../rows/to-account-facts.ts';
import { isCachedV1Kind } from '../rows/v1-resources.ts';
import type { CacheWriter, ExpectedObject, ObjectChange } from './object-change.ts';

/** The options of bringing writes into the cache. */
export interface WrittenObjectsOptions {
  readonly account: KubernetesAccount;
  /** The cache settings of all accounts. */
  readonly settings: CacheSettings;
  readonly cache: CacheStore;
  readonly writer: CacheWriter;
  readonly clock: Clock;
  readonly log: Logger;
}

/** The longest that an operation waits for the cache. */
const settleTimeoutMs = 2_000;

/** How long the epoch of an account is not read again: writes in an older epoch have no effect. */
const epochMemoryMs = 30_000;

/** A tracked write: an object's new state, its new scale, or its deletion. */
type TrackedWrite =
  | { readonly object: Manifest }
  | { readonly scale: Manifest; readonly ref: ObjectRef }
  | { readonly goneUid: string; readonly ref: ObjectRef };

/**
 * Brings an operation's writes into the cache, so that clients that saw the operation complete can read its result. It follows the same
 * rules as the account's caching agent, without waiting for a run of that. It reads nothing before something is written.
 */
export class WrittenObjects {
  readonly #options: WrittenObjectsOptions;
  readonly #epochs: EpochMemory;
  #tracked: TrackedWrite[] = [];
  /** Resolves once the reads that can run beside writing calls have begun. */
  #expecting: Promise<unknown> = Promise.resolve();
  #writing: Promise<void> = Promise.resolve();

  constructor(options: WrittenObjectsOptions, epochs: EpochMemory) {
    this.#options = options;
    this.#epochs = epochs;
  }

  /** The same client, with its writes tracked. */
  watch(client: KubernetesClient): KubernetesClient {
    const tracked = async (
      writing: Promise<Manifest>,
      how?: Pick<WriteOptions, 'dryRun'>,
    ): Promise<Manifest> => {
      const object = await writing;
      if (!how?.dryRun) this.#track({ object });
      return object;
    };
    const writes: Partial<KubernetesClient> = {
      create: (resource, manifest, how) => {
        this.#expect(how, () => this.#toExpected(manifest));
        return tracked(client.create(resource, manifest, how), how);
      },
      replace: (resource, manifest, how) => {
        this.#expect(how, () => this.#toExpected(manifest));
        return tracked(client.replace(resource, manifest, how), how);
      },
      patch: async (ref, patch, how) => {
        this.#expect(patch, () => toNames(ref));
        if (patch.subresource !== 'scale') return tracked(client.patch(ref, patch, how), patch);
        const scale = await client.patch(ref, patch, how);
        this.#track({ scale, ref });
        return scale;
      },
    };
    return new Proxy(client, {
      get(target, name) {
        const member: unknown = Reflect.get(writes, name) ?? Reflect.get(target, name);
        return typeof member === 'function' ? member.bind(target) : member;
      },
    });
  }

  /** Notes that exactly this object is gone. */
  readonly recordDeletion = (ref: ObjectRef, uid: string): void => {
    this.#track({ goneUid: uid, ref });
  };

  /** Waits, for at most two seconds, until all writes are in the cache. Never rejects: the caching agent's next run finds the rest. */
  async settle(): Promise<void> {
    const { clock, log, account } = this.#options;
    if (await waitAtMost(clock, settleTimeoutMs, this.#writing)) return;
    log.warn('the cache does not have what an operation wrote yet', { account: account.name });
  }

  /** Begins the reads for caching an object beside the call that writes it to the cluster. Failed reads are repeated when needed. */
  #expect({ dryRun }: Pick<WriteOptions, 'dryRun'> = {}, find: () => ExpectedObject | undefined): void {
    if (dryRun) return;
    const begin = async (): Promise<void> => {
      const expected = (await this.#findEpoch()) === undefined ? undefined : find();
      if (expected !== undefined) await this.#options.writer.expect(expected);
    };
    this.#expecting = Promise.all([this.#expecting, begin().catch(() => undefined)]);
  }

  /** Begins to write at once; writes tracked meanwhile are written together. */
  #track(note: TrackedWrite): void {
    this.#tracked.push(note);
    if (this.#tracked.length > 1) return;
    this.#writing = this.#writing.then(() => this.#write());
  }

  async #write(): Promise<void> {
    const notes = this.#tracked;
    this.#tracked = [];
    const { account, log, writer } = this.#options;
    await this.#expecting;
    try {
      const epoch = await this.#findEpoch();
      // Nothing of the account is cached yet: its first list will include it.
      if (epoch === undefined) return;
      const changes = await Promise.all(notes.map((note) => this.#toChange(note, epoch)));
      await writer.write(changes.filter((change) => change !== undefined));
    } catch (error) {
      const reason = getErrorMessage(error);
      log.warn('what an operation wrote was not cached: the next run of the agent finds it', {
        account: account.name,
        reason,
      });
    }
  }

  async #findEpoch(): Promise<number | undefined> {
    const { account, cache, clock } = this.#options;
    const known = this.#epochs.get(account.name);
    const now = clock.monotonic();
    if (known !== undefined && now - known.readAtMs < epochMemoryMs) return known.epoch;
    const epoch = (await cache.getEpoch(account.name))?.epoch;
    if (epoch !== undefined) this.#epochs.set(account.name, { epoch, readAtMs: now });
    return epoch;
  }

  async #toChange(note: TrackedWrite, epoch: number): Promise<ObjectChange | undefined> {
    if ('object' in note) return this.#toPut(note.object, epoch);
    const found = await this.#findCached(note.ref);
    if (found === undefined) return undefined;
    if ('scale' in note) return toScaleChange(found.facts, note.scale, epoch);
    // Another object may have taken its name.
    if (found.facts.uid !== note.goneUid) return undefined;
    const { facts, revision } = found;
    return { ...toNamedObject(facts), revision, seenAt: revision, facts: undefined };
  }

  #toPut(object: Manifest, epoch: number): ObjectChange | undefined {
    const facts = this.#findFacts(object);
    if (facts === undefined || !/^\d+$/.test(facts.resourceVersion)) return undefined;
    const revision = toRevision(epoch, facts.resourceVersion);
    return { ...toNamedObject(facts), revision, seenAt: revision, facts };
  }

  /** The facts to cache of an object; undefined for one that is not kept. */
  #findFacts(object: Manifest): ObjectFacts | undefined {
    const { account } = this.#options;
    const facts = toAccountFacts(object, account);
    const isKept = createAccountFilter(account, { kinds: [facts.kind] })(object, facts);
    return isKept && this.#isCached(facts.kind) ? facts : undefined;
  }

  #toExpected(manifest: Manifest): ExpectedObject | undefined {
    const facts = this.#findFacts(manifest);
    return facts && { ...toNamedObject(facts), facts };
  }

  #isCached(kind: string): boolean {
    const { account, settings } = this.#options;
    if (isV1Account(account)) return isCachedV1Kind(kind);
    const { kindRegistry: registry, caching: rules } = account;
    return listCachedKinds({ registry, definedKinds: [kind], rules, settings }).includes(kind);
  }

  async #findCached(ref: ObjectRef) {
    const { account, cache } = this.#options;
    const [found] = await cache.getObjects([{ account: account.name, ...toNames(ref) }], { toWrite: true });
    const facts = found === undefined || found.gone ? undefined : decodeFacts(found.readBody());
    return found === undefined || facts === undefined ? undefined : { revision: found.revision, facts };
  }
}

function toNames({ resource, namespace = '', name }: ObjectRef): Omit<ObjectKey, 'account'> {
  const kind = getKindName(resource.apiVersion, resource.kind);
  return { kind, location: resource.namespaced ? namespace : '', name };
}

/** The cached object with another number of replicas. The answer to a scaling has the object's own resource version. */
function toScaleChange(facts: ObjectFacts, scale: Manifest, epoch: number): ObjectChange | undefined {
  const { kind, namespace, name, workload } = facts;
  const resourceVersion = asString(getPath(scale, 'metadata', 'resourceVersion')) ?? '';
  const replicas = getPath(scale, 'spec', 'replicas') ?? 0;
  if (asString(getPath(scale, 'metadata', 'uid')) !== facts.uid) return undefined;
  if (!/^\d+$/.test(resourceVersion) || typeof replicas !== 'number') return undefined;
  const revision = toRevision(epoch, resourceVersion);
  const scaled = {
    ...facts,
    resourceVersion,
    ...(workload && { workload: { ...workload, replicas } }),
    ...(facts.object && { object: scaleObject(facts.object, replicas, resourceVersion) }),
  };
  return { kind, location: namespace, name, revision, seenAt: revision, facts: scaled };
}

function scaleObject(object: JsonObject, replicas: number, resourceVersion: string): JsonObject {
  const metadata = { ...asJsonObject(object['metadata']), resourceVersion };
  return { ...object, metadata, spec: { ...asJsonObject(object['spec']), replicas } };
}
