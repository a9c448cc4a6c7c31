import type { CacheStore } from '../../../core/cache/cache-store.ts';
import { toVersion } from '../../../core/cache/version.ts';
import type { Clock } from '../../../core/clock.ts';
import { getErrorMessage } from '../../../core/errors.ts';
import { asString, getPath } from '../../../core/json.ts';
import type { Logger } from '../../../core/logger.ts';
import type { KubernetesAccount } from '../account/account.ts';
import type { CacheSettings } from '../account/account-settings.ts';
import type { EpochMemory } from '../account/session.ts';
import type { KubernetesClient, ObjectRef, WriteOptions } from '../api/client.ts';
import type { Manifest } from '../api/manifest.ts';
import { getKindName } from '../kinds/name.ts';
import { listCachedKinds } from '../rows/cached-kinds.ts';
import { createCacheFilter } from '../rows/cached-objects.ts';
import type { ObjectFacts } from '../rows/facts.ts';
import { decodeFacts } from '../rows/facts-codec.ts';
import { toFacts } from '../rows/to-facts.ts';
import type { CacheWriter, ObjectChange } from './object-change.ts';

/** What bringing writes into the cache needs. */
export interface WrittenObjectsOptions {
  readonly account: KubernetesAccount;
  /** What is cached of all accounts. */
  readonly settings: CacheSettings;
  readonly cache: CacheStore;
  readonly writer: CacheWriter;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * Brings what an operation wrote into the cache, so that whoever saw the operation completed reads what it did. It obeys the same
 * rule as the account's caching agent, and needs no turn of it.
 */
export interface WrittenObjects {
  /** The same client; what is written through it is noted. */
  watch(client: KubernetesClient): KubernetesClient;
  /** Notes that this very object is gone. */
  readonly noteGone: (ref: ObjectRef, uid: string) => void;
  /** Waits, for two seconds at most, until all of it is in the cache. Never rejects: the next run of the agent finds the rest. */
  settle(): Promise<void>;
}

/** An operation waits no longer for the cache. */
const patienceMs = 2_000;

/** For so long the epoch of an account is not read again: what is written in an older one counts for nothing. */
const epochMemoryMs = 30_000;

/** Makes the notes of one operation. It reads nothing before something is written. */
export function noteWrittenObjects(options: WrittenObjectsOptions, epochs: EpochMemory): WrittenObjects {
  return new Notes(options, epochs);
}

/** What was noted: an object as it is now, the new scale of one, or one that is gone. */
type Note =
  | { readonly object: Manifest }
  | { readonly scale: Manifest; readonly ref: ObjectRef }
  | { readonly goneUid: string; readonly ref: ObjectRef };

class Notes implements WrittenObjects {
  readonly #options: WrittenObjectsOptions;
  readonly #epochs: EpochMemory;
  #notes: Note[] = [];
  #writing: Promise<void> = Promise.resolve();

  constructor(options: WrittenObjectsOptions, epochs: EpochMemory) {
    this.#options = options;
    this.#epochs = epochs;
  }

  watch(client: KubernetesClient): KubernetesClient {
    const noted = async (
      writing: Promise<Manifest>,
      how?: Pick<WriteOptions, 'dryRun'>,
    ): Promise<Manifest> => {
      const object = await writing;
      if (!how?.dryRun) this.#note({ object });
      return object;
    };
    return {
      ...bindMembers(client),
      create: (resource, manifest, how) => noted(client.create(resource, manifest, how), how),
      replace: (resource, manifest, how) => noted(client.replace(resource, manifest, how), how),
      patch: async (ref, patch, how) => {
        if (patch.subresource !== 'scale') return noted(client.patch(ref, patch, how), patch);
        const scale = await client.patch(ref, patch, how);
        this.#note({ scale, ref });
        return scale;
      },
    };
  }

  readonly noteGone = (ref: ObjectRef, uid: string): void => {
    this.#note({ goneUid: uid, ref });
  };

  async settle(): Promise<void> {
    const { clock, log, account } = this.#options;
    const waiting = new AbortController();
    const tired = clock.sleep(patienceMs, waiting.signal).then(
      () => log.warn('the cache does not have what an operation wrote yet', { account: account.name }),
      () => undefined,
    );
    await Promise.race([this.#writing, tired]);
    waiting.abort();
  }

  /** Begins to write at once; what is noted meanwhile is written together. */
  #note(note: Note): void {
    this.#notes.push(note);
    if (this.#notes.length > 1) return;
    this.#writing = this.#writing.then(() => this.#write());
  }

  async #write(): Promise<void> {
    const notes = this.#notes;
    this.#notes = [];
    const { account, log, writer } = this.#options;
    try {
      const epoch = await this.#findEpoch();
      // Nothing of the account is cached yet: its first list will have it.
      if (epoch === undefined) return;
      const changes = await Promise.all(notes.map((note) => this.#toChange(note, epoch)));
      await writer.write(coalesce(changes.filter((change) => change !== undefined)));
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

  async #toChange(note: Note, epoch: number): Promise<ObjectChange | undefined> {
    if ('object' in note) return this.#toPut(note.object, epoch);
    const found = await this.#findCached(note.ref);
    if (found === undefined) return undefined;
    if ('scale' in note) return toScaleChange(found.facts, note.scale, epoch);
    // Another object may have come to have its name.
    if (found.facts.uid !== note.goneUid) return undefined;
    const { kind, namespace, name } = found.facts;
    return { kind, namespace, name, version: found.version, seenAt: found.version, facts: undefined };
  }

  #toPut(object: Manifest, epoch: number): ObjectChange | undefined {
    const { account, settings } = this.#options;
    const { kindRegistry: registry, caching: rules } = account;
    const facts = toFacts(object, registry);
    const { kind, namespace, name, resourceVersion } = facts;
    const kinds = listCachedKinds({ registry, definedKinds: [kind], rules, settings });
    if (!createCacheFilter({ registry, kinds: [kind], rules })(object)) return undefined;
    if (!kinds.includes(kind) || !/^\d+$/.test(resourceVersion)) return undefined;
    const version = toVersion(epoch, resourceVersion);
    return { kind, namespace, name, version, seenAt: version, facts };
  }

  async #findCached(ref: ObjectRef) {
    const { account, cache } = this.#options;
    const { resource, name } = ref;
    const kind = getKindName(resource.apiVersion, resource.kind);
    const namespace = resource.namespaced ? (ref.namespace ?? '') : '';
    const [found] = await cache.getObjects([{ account: account.name, kind, namespace, name }], {
      consistent: true,
    });
    const facts = found === undefined || found.gone ? undefined : decodeFacts(found.readBody());
    return found === undefined || facts === undefined ? undefined : { version: found.version, facts };
  }
}

/** The cached object with another number of replicas. The answer to a scaling has the object's own resource version. */
function toScaleChange(facts: ObjectFacts, scale: Manifest, epoch: number): ObjectChange | undefined {
  const { kind, namespace, name, workload } = facts;
  const resourceVersion = asString(getPath(scale, 'metadata', 'resourceVersion')) ?? '';
  const replicas = getPath(scale, 'spec', 'replicas') ?? 0;
  if (asString(getPath(scale, 'metadata', 'uid')) !== facts.uid) return undefined;
  if (!/^\d+$/.test(resourceVersion) || typeof replicas !== 'number') return undefined;
  const version = toVersion(epoch, resourceVersion);
  const scaled = { ...facts, resourceVersion, ...(workload && { workload: { ...workload, replicas } }) };
  return { kind, namespace, name, version, seenAt: version, facts: scaled };
}

/** The last change of each object. */
function coalesce(changes: readonly ObjectChange[]): ObjectChange[] {
  const last = new Map<string, ObjectChange>();
  for (const change of changes) {
    const key = JSON.stringify([change.kind, change.namespace, change.name]);
    const found = last.get(key);
    if (found === undefined || found.version <= change.version) last.set(key, change);
  }
  return [...last.values()];
}

/** A client's methods as members of a plain object, which spreading an instance of a class would lose. */
function bindMembers(client: KubernetesClient): KubernetesClient {
  return {
    getResource: (...call) => client.getResource(...call),
    getResourceOfKind: (...call) => client.getResourceOfKind(...call),
    getDefaultNamespace: (...call) => client.getDefaultNamespace(...call),
    get: (...call) => client.get(...call),
    list: (...call) => client.list(...call),
    create: (...call) => client.create(...call),
    replace: (...call) => client.replace(...call),
    patch: (...call) => client.patch(...call),
    delete: (...call) => client.delete(...call),
    getJson: (...call) => client.getJson(...call),
    getText: (...call) => client.getText(...call),
    [Symbol.asyncDispose]: () => client[Symbol.asyncDispose](),
  };
}
