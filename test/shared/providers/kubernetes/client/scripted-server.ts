import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { TLSSocket } from 'node:tls';
import { CertificateAuthority, type Identity } from '../credentials/certificates.ts';

/** A request as the server saw it. */
export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
  /** Common name of the client's certificate; undefined when it showed none. */
  readonly clientName: string | undefined;
  /** Local port of the client: tells connections apart. */
  readonly clientPort: number;
}

/** How the server answers one request. */
export type Answer = (response: ServerResponse, request: SeenRequest) => void;

/** How to start it. */
export interface ScriptedServerOptions {
  /** Its own certificate; default one for 127.0.0.1. */
  readonly identity?: Identity;
  readonly authority?: CertificateAuthority;
  readonly port?: number;
}

/** An HTTPS server that answers as a test tells it. */
export interface ScriptedServer extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  readonly authority: CertificateAuthority;
  readonly seen: readonly SeenRequest[];
  /** Answers of the requests to come, one each; the last one stays. */
  script(...answers: Answer[]): void;
  /** A kubeconfig for it. `user` and `cluster` are added to its entries. */
  getKubeconfig(entries?: { readonly user?: object; readonly cluster?: object }): string;
  /** Cuts every open connection. */
  cut(): void;
}

/** Starts a server on 127.0.0.1. */
export async function startScriptedServer(options: ScriptedServerOptions = {}): Promise<ScriptedServer> {
  const authority = options.authority ?? new CertificateAuthority();
  const { certificate, key } =
    options.identity ?? authority.issue({ commonName: 'server', hosts: ['127.0.0.1'] });
  const seen: SeenRequest[] = [];
  let answers: Answer[] = [answerJson(200, {})];
  const settings = {
    cert: certificate,
    key,
    ca: authority.certificate,
    requestCert: true,
    rejectUnauthorized: false,
  };
  const server = createServer(settings, async (message, response) => {
    const request = await readRequest(message);
    seen.push(request);
    const answer = answers.length > 1 ? answers.shift() : answers[0];
    answer?.(response, request);
  });
  await new Promise<void>((resolve) => server.listen(options.port ?? 0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const url = `https://127.0.0.1:${port}`;
  return {
    url,
    port,
    authority,
    seen,
    script: (...next) => {
      answers = next;
    },
    getKubeconfig: ({ user = { token: 'secret-token' }, cluster = {} } = {}) =>
      toKubeconfig(
        { server: url, 'certificate-authority-data': toBase64(authority.certificate), ...cluster },
        user,
      ),
    cut: () => server.closeAllConnections(),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A kubeconfig (JSON is YAML) with the one context `dev`. */
export function toKubeconfig(cluster: object, user: object): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'dev-cluster', cluster }],
    users: [{ name: 'dev-user', user }],
    contexts: [{ name: 'dev', context: { cluster: 'dev-cluster', user: 'dev-user' } }],
    'current-context': 'dev',
  });
}

/** Base 64 of a text, as kubeconfigs hold PEM. */
export function toBase64(value: string): string {
  return Buffer.from(value).toString('base64');
}

/** Answers with JSON. */
export function answerJson(status: number, body: unknown, headers: Record<string, string> = {}): Answer {
  return (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
  };
}

/** Answers with a Status object, as API servers refuse. */
export function answerStatus(status: number, reason: string, headers: Record<string, string> = {}): Answer {
  const body = { kind: 'Status', apiVersion: 'v1', status: 'Failure', reason, code: status };
  return answerJson(status, { ...body, message: `${reason} says the server` }, headers);
}

async function readRequest(message: IncomingMessage): Promise<SeenRequest> {
  const socket = message.socket as TLSSocket;
  return {
    method: message.method ?? '',
    path: message.url ?? '',
    headers: message.headers,
    body: await text(message),
    clientName: socket.getPeerCertificate().subject?.CN?.toString(),
    clientPort: socket.remotePort ?? 0,
  };
}

/** The discovery document of a server that has a group with these kinds. */
export function toDiscoveryDocument(...kinds: string[]) {
  const resources = kinds.map((kind) => ({
    resource: `${kind.toLowerCase()}s`,
    responseKind: { group: 'example.com', version: 'v1', kind },
    scope: 'Namespaced',
  }));
  const item = { metadata: { name: 'example.com' }, versions: [{ version: 'v1', resources }] };
  return { kind: 'APIGroupDiscoveryList', items: [item] };
}
