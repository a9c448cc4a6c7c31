import { startOrigin } from '../../shared/providers/artifacts/origin.ts';
import type { TestRegistry } from './registry.ts';

/** What stands in front of a registry: it passes requests on, and counts them. */
export interface RegistryFront extends AsyncDisposable {
  readonly url: string;
  /** `GET /v2/_catalog`, without queries, in order. */
  readonly calls: string[];
  /** Status that each request is answered whose path has the text. */
  readonly failures: Map<string, number>;
}

/** Starts a front of a registry that asks for no password. */
export async function startRegistryFront(registry: Pick<TestRegistry, 'url'>): Promise<RegistryFront> {
  const calls: string[] = [];
  const failures = new Map<string, number>();
  const origin = await startOrigin(async ({ method = 'GET', url = '', headers }, response) => {
    const [path = ''] = url.split('?');
    calls.push(`${method} ${path}`);
    const failure = [...failures].find(([text]) => path.includes(text));
    if (failure !== undefined) return response.writeHead(failure[1]).end();
    const answer = await fetch(registry.url + url, { method, headers: { accept: headers.accept ?? '*/*' } });
    for (const name of ['link', 'docker-content-digest', 'content-type']) {
      const value = answer.headers.get(name);
      if (value !== null) response.setHeader(name, value);
    }
    response.writeHead(answer.status).end(Buffer.from(await answer.arrayBuffer()));
  });
  return { url: origin.url, calls, failures, [Symbol.asyncDispose]: () => origin[Symbol.asyncDispose]() };
}
