import { createServer } from 'node:http';
import { listen } from '#test/support/network/listening.ts';

/** A Docker registry that lists tags and stores nothing. Disposing stops it. */
export interface ImageRegistry extends AsyncDisposable {
  readonly url: string;
  /** When requests came for repositories whose names begin with a text, epoch milliseconds. */
  listRequests(prefix: string): readonly number[];
}

/** Starts a registry in which each repository that is asked for has so many tags, all on one page. */
export async function startImageRegistry(tagsEach: number): Promise<ImageRegistry> {
  const tags = Array.from({ length: tagsEach }, (_, index) => `1.${index}.0-main-4f1c2d3e`);
  const requests: { readonly name: string; readonly atMs: number }[] = [];
  const server = createServer(({ url = '' }, response) => {
    const name = /^\/v2\/(.+)\/tags\/list(?:\?|$)/.exec(url)?.[1] ?? '';
    requests.push({ name, atMs: Date.now() });
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ name, tags }));
  });
  return {
    ...(await listen(server)),
    listRequests: (prefix) => requests.filter(({ name }) => name.startsWith(prefix)).map(({ atMs }) => atMs),
  };
}
