import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer, request as requestHttp } from 'node:http';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import type { JsonObject } from '#core/json.ts';
import { toKubeconfig } from '#test/shared/providers/kubernetes/client/scripted-server.ts';
import { listen } from '#test/support/network/listening.ts';
import { makeTempDir } from '#test/support/run/temp-dir.ts';
import { type System, startSystem } from '#test/support/system/system.ts';

/** Who calls: Gate lists the restricted accounts for the owner, and the open one for everybody. */
export const callers = {
  owner: { 'X-SPINNAKER-USER': 'owner', 'X-SPINNAKER-ACCOUNTS': 'open,gated,legacy' },
  stranger: { 'X-SPINNAKER-USER': 'stranger', 'X-SPINNAKER-ACCOUNTS': 'open' },
} as const;

export type Headers = { readonly [name: string]: string };

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
  const listening = await listen(server);
  return { ...listening, kubeconfig: toKubeconfig({ server: listening.url }, {}) };
}

export interface AttackSystem extends AsyncDisposable {
  readonly system: System;
  /** Writes other settings; they count after a restart at the latest. */
  configure(settings: JsonObject): Promise<void>;
}

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

export function deploy(account: string, name = 'a'): readonly object[] {
  const manifest = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'default' } };
  return [{ deployManifest: { account, moniker: { app: 'a' }, manifests: [manifest] } }];
}

export async function post(
  system: System,
  account: string,
  { headers, requestId }: { headers: Headers; requestId?: string },
): Promise<Answered> {
  const query = requestId === undefined ? '' : `?clientRequestId=${requestId}`;
  return call(system, `/kubernetes/ops${query}`, { method: 'POST', headers, body: deploy(account) });
}

export interface AuditLine {
  readonly action: string;
  readonly outcome: string;
  readonly [name: string]: unknown;
}

export async function listAudit(system: Pick<System, 'readLog'>): Promise<readonly AuditLine[]> {
  const lines = (await system.readLog()).split('\n').filter((line) => line.includes('"audit"'));
  return lines.flatMap((line) => {
    const { message, audit } = JSON.parse(line) as { message: string; audit: AuditLine };
    return message === 'audit' ? [audit] : [];
  });
}
