import type { Dispatcher } from 'undici';
import Pool from 'undici/lib/dispatcher/pool.js';
import { getErrorMessage } from '#core/errors.ts';
import { headerBytesMax } from '../api/answer-limits.ts';
import { KubernetesConnectionError } from '../api/errors.ts';
import {
  type ClusterConnection,
  type ConnectionOptions,
  type KubernetesConnection,
  loadClusterConnection,
} from '../credentials/connection.ts';
import { type Credential, CredentialCache } from '../credentials/credentials.ts';
import { createProxyConnector } from '../credentials/proxy-tunnel.ts';

/** Everything a request needs now: its target, connections and headers. */
export interface Session {
  readonly connection: ClusterConnection;
  readonly credential: Credential;
  readonly dispatcher: Dispatcher;
  /** For requests that accept JSON; shared, never changed. */
  readonly headers: Readonly<Record<string, string | string[]>>;
}

/** The options of a session keeper. */
export interface SessionOptions extends ConnectionOptions {
  readonly connection: KubernetesConnection;
  /** Connections at once. Default: 16. */
  readonly maximumConnections?: number | undefined;
}

/** The contents of an account's files, and the credentials made from them. */
interface LoadedAccount {
  readonly connection: ClusterConnection;
  readonly credentials: CredentialCache;
}

/** Sent with every request. */
export const userAgent = 'busdriver/0.1.0';

const maximumConnections = 16;
const connectTimeoutMs = 10_000;
/** Files of a kubeconfig are checked no more often than this. */
const fileCheckIntervalMs = 3_000;
/**
 * Connections unused for this long are not used again: a load balancer, or a freeze of the function we run in, may
 * have cut them silently, and a create must not fail for that. API servers themselves close them after 90 s.
 */
const maximumIdleMs = 45_000;

/**
 * Keeps one account's session: connections, credentials, and the files both come from. Files that change, tokens that expire and
 * connections that grow old are replaced between two requests; requests in flight finish undisturbed.
 */
export class SessionKeeper {
  readonly #options: SessionOptions;
  #loaded: LoadedAccount | undefined;
  #session: Session | undefined;
  #opening: Promise<Session> | undefined;
  /** Identifies what the pool was made for; empty if it must not be used again. */
  #poolKey = '';
  #checkFilesAtMs = 0;
  #lastUsedMs = 0;
  #closed = false;

  constructor(options: SessionOptions) {
    this.#options = options;
  }

  /**
   * The session for a request now: at once in the usual case, else a promise of it, which callers share.
   *
   * @throws KubernetesConnectionError naming the account and what to do.
   */
  get(): Session | Promise<Session> {
    const { clock, connection } = this.#options;
    if (this.#closed)
      throw new KubernetesConnectionError(`account "${connection.name}": its client is closed`);
    const now = clock.now();
    if (now - this.#lastUsedMs > maximumIdleMs) this.#poolKey = '';
    this.#lastUsedMs = now;
    const session = this.#session;
    if (session !== undefined && this.#poolKey !== '' && clock.monotonic() < this.#checkFilesAtMs) {
      if (this.#loaded?.credentials.get() === session.credential) return session;
    }
    this.#opening ??= this.#open().finally(() => {
      this.#opening = undefined;
    });
    return this.#opening;
  }

  /** Forgets the credential of a session that the server refused, and checks its files again. */
  refuse(session: Session): void {
    this.#loaded?.credentials.discard(session.credential);
    session.connection.files.invalidate();
    this.#checkFilesAtMs = 0;
  }

  /** Whether the account's files now lead elsewhere. They are read again because no connection could be made. */
  async isOutdated(session: Session): Promise<boolean> {
    session.connection.files.invalidate();
    this.#checkFilesAtMs = 0;
    const { connection } = await this.get();
    return toTarget(connection) !== toTarget(session.connection);
  }

  /** Cuts the connections; requests in flight fail. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#session?.dispatcher.destroy();
  }

  async #open(): Promise<Session> {
    const { connection, credentials } = await this.#loadAccount();
    try {
      const credential = credentials.get() ?? (await credentials.renew());
      return this.#replaceSession(connection, credential);
    } catch (error) {
      throw new KubernetesConnectionError(`${connection.label}: ${getErrorMessage(error)}`, {
        cause: error,
        lacksCredentials: true,
      });
    }
  }

  async #loadAccount(): Promise<LoadedAccount> {
    this.#checkFilesAtMs = this.#options.clock.monotonic() + fileCheckIntervalMs;
    let loaded = this.#loaded;
    if (loaded === undefined) loaded = this.#toLoaded(await this.#loadConnection());
    else if (await loaded.connection.files.haveChanged()) loaded = await this.#reload(loaded);
    this.#loaded = loaded;
    return loaded;
  }

  /** Reads the account's files again. If they are unreadable now, perhaps half written, nothing changes. */
  async #reload(previous: LoadedAccount): Promise<LoadedAccount> {
    try {
      const connection = await this.#loadConnection();
      const isSame = connection.files.getFingerprint() === previous.connection.files.getFingerprint();
      return isSame ? { ...previous, connection } : this.#toLoaded(connection);
    } catch (error) {
      this.#options.log.warn('A changed kubeconfig cannot be read; the previous one stays in use', {
        account: this.#options.connection.name,
        error: getErrorMessage(error),
      });
      return previous;
    }
  }

  #loadConnection(): Promise<ClusterConnection> {
    return loadClusterConnection(this.#options.connection, this.#options);
  }

  #toLoaded(connection: ClusterConnection): LoadedAccount {
    return { connection, credentials: new CredentialCache(connection.credentialSource, this.#options.clock) };
  }

  #replaceSession(connection: ClusterConnection, credential: Credential): Session {
    if (this.#closed) throw new Error('its client is closed');
    const previous = this.#session;
    const { certificate, key } = credential;
    const poolKey = JSON.stringify([toTarget(connection), certificate, key]);
    const isSamePool = previous !== undefined && poolKey === this.#poolKey;
    const headers = getHeaders(connection, credential);
    const dispatcher = isSamePool
      ? previous.dispatcher
      : createPool(connection, credential, this.#options.maximumConnections);
    const session = { connection, credential, dispatcher, headers };
    this.#session = session;
    this.#poolKey = poolKey;
    if (previous !== undefined && !isSamePool) void previous.dispatcher.close();
    return session;
  }
}

/** Identifies the server of a connection. */
function toTarget({ origin, tls, proxyUrl }: ClusterConnection): string {
  return JSON.stringify([origin, tls, proxyUrl]);
}

/**
 * The headers of every request.
 *
 * @throws Error for text that is invalid in a header; the pool would lose a connection each time.
 */
function getHeaders(connection: ClusterConnection, credential: Credential): Session['headers'] {
  const headers = {
    accept: 'application/json',
    'user-agent': userAgent,
    ...(credential.authorization !== undefined && { authorization: credential.authorization }),
    ...connection.headers,
  };
  for (const [name, value] of Object.entries(headers)) {
    if (/[^\t\x20-\x7e\x80-\xff]/.test(String(value))) {
      throw new Error(`its ${name} header would hold characters that HTTP forbids, such as a line break`);
    }
  }
  return headers;
}

/** Connections to an account's server. @param connections how many at most */
export function createPool(
  connection: ClusterConnection,
  credential: Credential,
  connections = maximumConnections,
): Dispatcher {
  const tls = { ...connection.tls, cert: credential.certificate, key: credential.key };
  const { proxyUrl } = connection;
  return new Pool(connection.origin, {
    connections,
    allowH2: false,
    maxHeaderSize: headerBytesMax,
    keepAliveTimeout: maximumIdleMs,
    keepAliveMaxTimeout: maximumIdleMs,
    // The exchange's own time-out limits both, to the millisecond.
    headersTimeout: 0,
    bodyTimeout: 0,
    connect:
      proxyUrl === undefined
        ? { ...tls, timeout: connectTimeoutMs }
        : createProxyConnector({ proxyUrl, tls, connectTimeoutMs }),
  });
}
