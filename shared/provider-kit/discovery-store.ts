/** What the API server of an account serves, as a process was told. */
export interface StoredDiscovery {
  /** The provider's own JSON; at most {@link discoveryTextMax} bytes. */
  readonly text: string;
  /** The ETag that the server gave with it; undefined where it gives none. */
  readonly etag: string | undefined;
  /** When the server last said so, wall time in ms. */
  readonly asOfMs: number;
}

/** Whose discovery it is. */
export interface DiscoveryKey {
  readonly account: string;
  /** Tells servers apart, so that an account that leads elsewhere by now finds nothing of its former cluster: a hash, no address. */
  readonly server: string;
}

/** Where processes share what API servers told them, for those that begin later. */
export interface DiscoveryStore {
  /** What is known; undefined when nothing is. It may be a moment old. @throws Error for what is not as it was written */
  find(key: DiscoveryKey): Promise<StoredDiscovery | undefined>;
  /** Replaces what is known. What is too large is not kept: each process then asks for itself. */
  put(key: DiscoveryKey, discovery: StoredDiscovery): Promise<void>;
}

/** Bytes of a discovery that is shared, as UTF-8. A cluster with a hundred operators has some 250,000. */
export const discoveryTextMax = 8 * 2 ** 20;
