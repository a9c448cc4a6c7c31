import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Authorization } from '#accounts/model/account.ts';
import type { JsonObject } from '#core/json.ts';

/** What a user may do. */
export interface FiatUser {
  readonly accounts?: { readonly [name: string]: readonly Authorization[] };
  readonly applications?: { readonly [name: string]: readonly Authorization[] };
  readonly roles?: readonly string[];
  readonly admin?: boolean;
  readonly accountManager?: boolean;
  readonly allowAccessToUnknownApplications?: boolean;
}

/** Users by their name; the one who did not say his is `anonymous`. */
export type FiatUsers = { readonly [name: string]: FiatUser };

/**
 * What becomes of questions: answered; answered after a second; never answered; connections refused; 500; something that is no JSON;
 * JSON of another shape; an answer without an end.
 */
export type FiatMode = 'up' | 'slow' | 'silent' | 'down' | '500' | 'no-json' | 'wrong-json' | 'huge';

/** A question. */
export interface FiatCall {
  /** As it came: `/authorize/a%40b`. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
}

/** A server on this machine that plays Fiat. */
export interface Fiat extends AsyncDisposable {
  /** For `services.fiat.baseUrl`. */
  readonly url: string;
  /** Questions in the order in which they came; those of a server that is down do not come. */
  readonly calls: readonly FiatCall[];
  /** Connections so far. */
  readonly connections: number;
  users: FiatUsers;
  /** Answers instead, while it is there. */
  instead: RequestListener | undefined;
  setMode(mode: FiatMode): Promise<void>;
}

/** Starts Fiat with these users. It is up. */
export async function startFiat(content: { readonly users?: FiatUsers } = {}): Promise<Fiat> {
  const calls: FiatCall[] = [];
  let mode: FiatMode = 'up';
  let connections = 0;
  const server = createServer((request, response) => {
    calls.push({ path: request.url ?? '', headers: request.headers });
    if (fiat.instead !== undefined) fiat.instead(request, response);
    else answers[mode](response, findUser(fiat.users, request.url ?? ''));
  });
  server.on('connection', () => {
    connections += 1;
  });
  await listen(0);
  const { port } = server.address() as AddressInfo;

  async function listen(at: number): Promise<void> {
    server.listen(at, '127.0.0.1');
    await once(server, 'listening');
  }

  async function close(): Promise<void> {
    if (!server.listening) return;
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await closed;
  }

  const fiat: Fiat = {
    url: `http://127.0.0.1:${port}`,
    calls,
    get connections() {
      return connections;
    },
    users: content.users ?? {},
    instead: undefined,
    async setMode(next) {
      mode = next;
      if (mode === 'down') await close();
      else if (!server.listening) await listen(port);
    },
    [Symbol.asyncDispose]: close,
  };
  return fiat;
}

type Found = { readonly name: string; readonly user: FiatUser } | undefined;

function findUser(users: FiatUsers, path: string): Found {
  const [, escaped] = /\/authorize\/([^/]+)$/.exec(path) ?? [];
  const name = decodeURIComponent(escaped ?? '');
  const user = Object.hasOwn(users, name) ? users[name] : undefined;
  return user && { name, user };
}

const answers: { readonly [mode in FiatMode]: (response: ServerResponse, found: Found) => void } = {
  up: answer,
  slow(response, found) {
    const timer = setTimeout(() => answer(response, found), 1_000);
    response.on('close', () => clearTimeout(timer));
  },
  silent() {},
  down() {},
  '500': (response) => response.writeHead(500).end('{"error": "Internal Server Error"}'),
  'no-json': (response) => response.end('<html>planted</html>'),
  'wrong-json': (response) => response.end('{"accounts": {"planted": ["READ"]}, "admin": true}'),
  huge(response) {
    const piece = `"${'x'.repeat(65_535)}",`;
    const push = (): void => {
      while (!response.destroyed && response.write(piece));
    };
    response.on('drain', push).write('[');
    push();
  },
};

function answer(response: ServerResponse, found: Found): void {
  const status = found ? 200 : 404;
  const body = found ? toView(found.name, found.user) : { status: 404, error: 'Not Found' };
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

/** The user's permission as Fiat writes it. */
export function toView(name: string, user: FiatUser): JsonObject {
  const toList = (grants: FiatUser['accounts'] = {}) =>
    Object.entries(grants).map(([resource, granted]) => ({ name: resource, authorizations: [...granted] }));
  return {
    name,
    accounts: toList(user.accounts),
    applications: toList(user.applications),
    serviceAccounts: [],
    roles: (user.roles ?? []).map((role) => ({ name: role, source: 'EXTERNAL' })),
    buildServices: [],
    extensionResources: {},
    admin: user.admin ?? false,
    accountManager: user.accountManager ?? false,
    legacyFallback: false,
    allowAccessToUnknownApplications: user.allowAccessToUnknownApplications ?? false,
  };
}
