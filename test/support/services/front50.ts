import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { JsonObject } from '#core/json.ts';
import { listenLocally } from '../network/local-server.ts';

/** A server on this machine that plays Front50. */
export interface Front50 extends AsyncDisposable {
  /** For `services.front50.baseUrl`. */
  readonly url: string;
  /** Paths with queries, in the order in which they were asked for. */
  readonly asked: readonly string[];
  applications: JsonObject[];
  projects: JsonObject[];
  /** Pipeline templates as texts, by `id`, `id:tag` or `id@sha256:digest`. */
  readonly templates: Map<string, string>;
  /** Answers instead, while it is there. */
  instead: RequestListener | undefined;
}

/** Starts Front50 with these applications and projects. */
export async function startFront50(
  content: { readonly applications?: JsonObject[]; readonly projects?: JsonObject[] } = {},
): Promise<Front50> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? '');
    if (front50.instead !== undefined) return front50.instead(request, response);
    const lists: { readonly [path: string]: readonly JsonObject[] } = {
      '/v2/applications?restricted=false': front50.applications,
      '/v2/projects': front50.projects,
      '/v2/pipelineTemplates?scopes=global': [...front50.templates.values()].map((text) => JSON.parse(text)),
    };
    const list = lists[request.url ?? ''];
    const text = list ? JSON.stringify(list) : front50.templates.get(toTemplateKey(request.url ?? ''));
    response.writeHead(text === undefined ? 404 : 200, { 'content-type': 'application/json' }).end(text);
  });
  const port = await listenLocally(server);
  const front50: Front50 = {
    url: `http://127.0.0.1:${port}`,
    asked,
    applications: content.applications ?? [],
    projects: content.projects ?? [],
    templates: new Map(),
    instead: undefined,
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
  return front50;
}

/** What a path asks for, in the spelling of references; empty for what is no template. */
function toTemplateKey(path: string): string {
  const { pathname, searchParams } = new URL(path, 'http://front50');
  const [, id] = /^\/v2\/pipelineTemplates\/([^/]+)$/.exec(pathname) ?? [];
  const tag = searchParams.get('tag');
  const digest = searchParams.get('digest');
  if (id === undefined) return '';
  return decodeURIComponent(id) + (tag ? `:${tag}` : '') + (digest ? `@sha256:${digest}` : '');
}
