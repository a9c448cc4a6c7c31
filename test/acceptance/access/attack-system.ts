import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer, request as requestHttp } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import type { JsonObject } from '../../../shared/core/json.ts';
import { makeTempDir } from '../../support/run/temp-dir.ts';
import { type System, startSystem } from '../../support/system/system.ts';

/** Who calls: Gate lists the restricted accounts for the owner, and the open one for everybody. */
export const callers = {
  owner: { 'X-SPINNAKER-USER': 'owner', 'X-SPINNAKER-ACCOUNTS': 'open,gated,legacy' },
  stranger: { 'X-SPINNAKER-USER': 'stranger', 'X-SPINNAKER-ACCOUNTS': 'open' },
} as const;

/** Headers of a request. */
export type Headers = { readonly [name: string]: string };

/** What was answered. */
export interface Answered {
  readonly status: number;
  readonly text: string;
  readonly body: { readonly [name: string]: unknown };
}

/** An API server that is alive, and answers no request: what is posted for its accounts runs until it is ended. */
export interface SilentServer extends AsyncDisposable {
  /** For `kubeconfigContents`. */
  readonly kubeconfig: string;
}

/** Starts such a server. */
export async function startSilentServer(): Promise<SilentServer> {
  const server = createServer((request, response) => {
    if (request.url?.startsWith('/livez')) response.end('ok');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const kubeconfig = JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'silent', cluster: { server: url } }],
    users: [{ name: 'nobody', user: {} }],
    contexts: [{ name: 'silent', context: { cluster: 'silent', user: 'nobody' } }],
    'current-context': 'silent',
  });
  return {
    kubeconfig,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A system, and the file of its settings. */
export interface AttackSystem extends AsyncDisposable {
  readonly system: System;
  /** Writes other settings; they count after a restart at the latest. */
  configure(settings: JsonObject): Promise<void>;
}

/** Starts a system with these settings. */
export async function startAttackSystem(settings: JsonObject): Promise<AttackSystem> {
  const dir = await makeTempDir();
  const config = path.join(dir.path, 'spinnaker.yml');
  const configure = (next: JsonObject): Promise<void> => writeFile(config, JSON.stringify(next));
  await configure(settings);
  try {
    const system = await startSystem({ config: [config] });
    return {
      system,
      configure,
      async [Symbol.asyncDispose]() {
        await system[Symbol.asyncDispose]();
        await dir[Symbol.asyncDispose]();
      },
    };
  } catch (error) {
    await dir[Symbol.asyncDispose]();
    throw error;
  }
}

/** Settings with an open account and two restricted ones, of one cluster. */
export function toSettings(account: JsonObject, busdriver: JsonObject = {}): JsonObject {
  const permissions = { READ: ['readers'], WRITE: ['owners'] };
  return {
    busdriver,
    kubernetes: {
      enabled: true,
      accounts: [
        { ...account, name: 'open' },
        { ...account, name: 'gated', permissions },
        { ...account, name: 'legacy', requiredGroupMembership: ['owners'] },
      ],
    },
  };
}

/** What is sent. */
export interface Sent {
  readonly method?: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly headers?: Headers;
  readonly body?: object;
}

/** Calls the API, and holds the answer to the OpenAPI document. */
export async function call(
  system: System,
  target: string,
  { method = 'GET', headers, body }: Sent = {},
): Promise<Answered> {
  const type = body && { 'content-type': 'application/json' };
  const response = await system.fetch(target, {
    method,
    headers: { ...headers, ...type },
    ...(body && { body: JSON.stringify(body) }),
  });
  return toAnswered(response.status, await response.text());
}

/** Calls the API with headers that may come several times, in order: name, value, name, value … */
export async function callRaw(
  system: System,
  target: string,
  { method, headers, body }: { method: string; headers: readonly string[]; body?: object },
): Promise<Answered> {
  const { host } = new URL(system.url);
  const sent = ['Host', host, 'Content-Type', 'application/json', 'Connection', 'close', ...headers];
  const content = body === undefined ? '' : JSON.stringify(body);
  const length = ['Content-Length', String(Buffer.byteLength(content))];
  const request = requestHttp(new URL(target, system.url), { method, headers: [...sent, ...length] });
  request.end(content);
  const [response] = await once(request, 'response');
  return toAnswered(response.statusCode, await text(response));
}

function toAnswered(status: number, answer: string): Answered {
  return { status, text: answer, body: JSON.parse(answer) };
}

/** A deploy of a ConfigMap. */
export function deploy(account: string, name = 'a'): readonly object[] {
  const manifest = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'default' } };
  return [{ deployManifest: { account, moniker: { app: 'a' }, manifests: [manifest] } }];
}

/** Posts a deploy, and answers the id of its task. */
export async function post(
  system: System,
  account: string,
  { headers, requestId }: { headers: Headers; requestId?: string },
): Promise<Answered> {
  const query = requestId === undefined ? '' : `?clientRequestId=${requestId}`;
  return call(system, `/kubernetes/ops${query}`, { method: 'POST', headers, body: deploy(account) });
}

/** A record of the audit. */
export interface AuditLine {
  readonly action: string;
  readonly outcome: string;
  readonly [name: string]: unknown;
}

/** The records in the log so far, in order. */
export async function listAudit(system: Pick<System, 'readLog'>): Promise<readonly AuditLine[]> {
  const lines = (await system.readLog()).split('\n').filter((line) => line.includes('"audit"'));
  return lines.flatMap((line) => {
    const { message, audit } = JSON.parse(line) as { message: string; audit: AuditLine };
    return message === 'audit' ? [audit] : [];
  });
}
