import type { IncomingMessage, ServerResponse } from 'node:http';
import { startOrigin } from '#test/shared/providers/artifacts/origin.ts';
import type { TestRegistry } from './registry.ts';

/** What stands in front of a registry: it passes requests on, and counts them. */
export interface RegistryFront extends AsyncDisposable {
  readonly url: string;
  /** `GET /v2/_catalog`, without queries, in order. */
  readonly calls: string[];
  /** Status that each request is answered whose path has the text. */
  readonly failures: Map<string, number>;
}

/** Starts a front of a registry that asks for no password. @param linkBase what its links begin with. Default: they are relative */
export async function startRegistryFront(
  registry: Pick<TestRegistry, 'url'>,
  linkBase = '',
): Promise<RegistryFront> {
  const calls: string[] = [];
  const failures = new Map<string, number>();
  const origin = await startOrigin(async (request, response) => {
    const { method = 'GET', url = '' } = request;
    const [path = ''] = url.split('?');
    calls.push(`${method} ${path}`);
    const failure = [...failures].find(([text]) => path.includes(text));
    if (failure !== undefined) return response.writeHead(failure[1]).end();
    await passOn({ ...registry, linkBase }, request, response);
  });
  return { url: origin.url, calls, failures, [Symbol.asyncDispose]: () => origin[Symbol.asyncDispose]() };
}

/** Answers a request as a registry does. @param registry.linkBase as `startRegistryFront` has it */
export async function passOn(
  { url: registryUrl, linkBase = '' }: Pick<TestRegistry, 'url'> & { readonly linkBase?: string },
  { method = 'GET', url = '', headers }: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { accept = '*/*', authorization } = headers;
  const answer = await fetch(registryUrl + url, {
    method,
    headers: { accept, ...(authorization !== undefined && { authorization }) },
  });
  for (const name of ['link', 'docker-content-digest', 'content-type', 'www-authenticate']) {
    const value = answer.headers.get(name);
    if (value !== null)
      response.setHeader(name, name === 'link' ? value.replace('<', `<${linkBase}`) : value);
  }
  response.writeHead(answer.status).end(Buffer.from(await answer.arrayBuffer()));
}
