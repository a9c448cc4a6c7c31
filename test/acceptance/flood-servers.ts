/** A server that is up. Disposing of it ends it. */
export interface StartedServer extends AsyncDisposable {
  /** For example `http://127.0.0.1:41234`. */
  readonly url: string;
}

/** A server that means harm to who asks it. */
export interface HostileServer {
  /** What it does. */
  readonly name: string;
  start(): Promise<StartedServer>;
}

/** Servers that pose as the API server of the attacked account's cluster. */
export const hostileApiServers: readonly HostileServer[] = [];

/** Servers that pose as a host of artifacts. */
export const hostileArtifactHosts: readonly HostileServer[] = [];
