import { createHash } from 'node:crypto';
import { parseBoundedJson } from '#core/bounded-json.ts';
import { type Clock, clockErrorMsMax } from '#core/clock.ts';
import { getErrorMessage } from '#core/errors.ts';
import { asJsonArray } from '#core/json.ts';
import type { Logger } from '#core/logger.ts';
import type { DiscoveryStore, StoredDiscovery } from '#provider-kit/discovery-store.ts';
import { answerJsonBounds, discoveryResourcesMax } from '../api/answer-limits.ts';
import type { ApiResource } from '../api/client.ts';
import type { ClusterConnection } from '../credentials/connection.ts';

/** A resource of a cluster, without what every process knows anyway. */
export type FoundResource = Omit<ApiResource, 'builtIn'>;

/** What a cluster serves, in order of preference, and the ETag of its document. */
export interface FoundDiscovery {
  readonly resources: readonly FoundResource[];
  readonly etag: string | undefined;
}

/** The parts of an account's shared discovery. */
export interface SharedDiscoveryOptions {
  readonly account: string;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Pick<Logger, 'warn'>;
  readonly openStore: () => Promise<DiscoveryStore>;
  /** Returns where requests go now. */
  readonly getServer: () => Promise<ServerIdentity>;
}

/** Identifies an API server. */
export type ServerIdentity = Pick<ClusterConnection, 'origin' | 'basePath' | 'tls' | 'proxyUrl'>;

/** How long what another process has read is valid, milliseconds; the same as for go-clouddriver's files on disk. */
export const storedDiscoveryLifetimeMs = 600_000;

/** Unchanged discovery is written again at this age, milliseconds, so that it stays valid while it is used. */
export const storedDiscoveryRenewalMs = 300_000;

/** The shortest time between two writes of a process, milliseconds, whatever its server answers. */
export const storedDiscoveryPauseMs = 60_000;

const groupVersion = /^[a-z0-9][a-z0-9.-]*\/[a-z0-9]+$/;
const pluralName = /^[a-z0-9][a-z0-9-]*$/;

/**
 * What an account's API server serves, shared with processes that start later. Any problem with the store, or its content, costs only a
 * request to the server.
 */
export class SharedDiscovery {
  readonly #options: SharedDiscoveryOptions;
  #lastPutMs = Number.NEGATIVE_INFINITY;

  constructor(options: SharedDiscoveryOptions) {
    this.#options = options;
  }

  /** The server of current requests, as a hash. @throws what is wrong with the account, as each request does */
  async getServer(): Promise<string> {
    return hashServer(await this.#options.getServer());
  }

  /** What another process has read from a server, and how long it is valid, milliseconds; at most 0 if only its ETag is of use. */
  async find(server: string): Promise<(FoundDiscovery & { readonly goodForMs: number }) | undefined> {
    const { account, clock, openStore } = this.#options;
    return this.#unlessFailing(async () => {
      const stored = await (await openStore()).find({ account, server });
      if (stored === undefined) return undefined;
      const ageMs = clock.now() - stored.asOfMs;
      // A time further in the future than clocks can differ counts as old.
      const goodForMs = ageMs > -clockErrorMsMax ? storedDiscoveryLifetimeMs - Math.max(ageMs, 0) : 0;
      return { resources: parseResources(stored.text), etag: findEtag(stored.etag), goodForMs };
    });
  }

  /**
   * Stores what a server just returned, if it is new or the stored version is old.
   *
   * @param server from `getServer` before the request: if requests go elsewhere by now, it is unknown which server answered.
   */
  async put(found: FoundDiscovery, server: string): Promise<void> {
    const { account, clock, openStore } = this.#options;
    const now = clock.now();
    if (now - this.#lastPutMs < storedDiscoveryPauseMs) return;
    await this.#unlessFailing(async () => {
      if ((await this.getServer()) !== server) return;
      const store = await openStore();
      const stored = await this.#unlessFailing(() => store.find({ account, server }));
      const next = { text: toText(found.resources), etag: found.etag, asOfMs: now };
      if (stored !== undefined && !isNews(next, stored)) return;
      this.#lastPutMs = now;
      await store.put({ account, server }, next);
    });
  }

  async #unlessFailing<T>(call: () => Promise<T>): Promise<T | undefined> {
    try {
      return await call();
    } catch (error) {
      const { account, log } = this.#options;
      log.warn('what an API server serves cannot be shared', { account, error: getErrorMessage(error) });
      return undefined;
    }
  }
}

/** The ETag of an answer, if it is valid in a header; at most 200 characters. API servers send a hash of 128. */
export function findEtag(value: unknown): string | undefined {
  return typeof value === 'string' && value.length <= 200 && /^(W\/)?"[\x21\x23-\x7e]*"$/.test(value)
    ? value
    : undefined;
}

function hashServer({ origin, basePath, tls, proxyUrl }: ServerIdentity): string {
  return createHash('sha256')
    .update(JSON.stringify([origin, basePath, tls.ca, tls.servername, withoutUser(proxyUrl)]))
    .digest('base64url');
}

function withoutUser(proxyUrl: string | undefined): string | undefined {
  return proxyUrl === undefined ? undefined : new URL(proxyUrl).host;
}

function isNews(next: StoredDiscovery, stored: StoredDiscovery): boolean {
  const isSame = next.text === stored.text && next.etag === stored.etag;
  return !isSame || Math.abs(next.asOfMs - stored.asOfMs) >= storedDiscoveryRenewalMs;
}

function toText(resources: readonly FoundResource[]): string {
  return JSON.stringify(
    resources.map(({ apiVersion, kind, plural, namespaced }) => [apiVersion, kind, plural, namespaced]),
  );
}

/** Leaves out anything but an API server's resources outside the core group: it would misdirect requests. */
function parseResources(text: string): FoundResource[] {
  const rows = asJsonArray(parseBoundedJson(text, answerJsonBounds).value);
  if (rows.length > discoveryResourcesMax)
    throw new Error(`it has more than ${discoveryResourcesMax} resources`);
  return rows.flatMap((row): FoundResource[] => {
    const [apiVersion, kind, plural, namespaced] = asJsonArray(row);
    if (typeof apiVersion !== 'string' || !groupVersion.test(apiVersion)) return [];
    if (typeof plural !== 'string' || !pluralName.test(plural)) return [];
    if (typeof kind !== 'string' || kind === '' || typeof namespaced !== 'boolean') return [];
    return [{ apiVersion, kind, plural, namespaced }];
  });
}
