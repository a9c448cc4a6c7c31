/** What an account's API server serves, as a process has read it. */
export interface StoredDiscovery {
  /** The provider's own JSON; at most {@link discoveryTextMax} bytes. */
  readonly text: string;
  /** The ETag that the server gave with it; undefined where it gives none. */
  readonly etag: string | undefined;
  /** When the server last said so, wall time in ms. */
  readonly asOfMs: number;
}

/** The key of a discovery. */
export interface DiscoveryKey {
  readonly account: string;
  /** Identifies the server, so that an account with a new cluster finds nothing of its former one: a hash, no address. */
  readonly server: string;
}

/** Where processes share what API servers serve, for those that start later. */
export interface DiscoveryStore {
  /** The known discovery; undefined when there is none. It may be a moment old. @throws Error for a damaged one */
  find(key: DiscoveryKey): Promise<StoredDiscovery | undefined>;
  /** Replaces the known discovery. One that is too large is not stored: each process then asks for itself. */
  put(key: DiscoveryKey, discovery: StoredDiscovery): Promise<void>;
}

/** Bytes of a shared discovery, as UTF-8. A cluster with a hundred operators has some 250,000. */
export const discoveryTextMax = 8 * 2 ** 20;
