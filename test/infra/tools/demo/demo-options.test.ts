import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import path from 'node:path';
import { expect, test } from 'vitest';
import { createDemoClient } from '#infra/tools/demo/demo-client.ts';
import { parseDemoOptions } from '#infra/tools/demo/demo-options.ts';
import { closeServer, listenLocally } from '#test/support/network/local-server.ts';
import { makeTempDir } from '#test/support/run/temp-dir.ts';

test('the demo takes a token for the Busdriver at --url alone', async () => {
  await using temp = await makeTempDir();
  const file = path.join(temp.path, 'token');
  await writeFile(file, '');
  const url = 'http://127.0.0.1:7002';
  expect(parseDemoOptions(['--url', url, '--token-file', file])).toMatchObject({ url, tokenFile: file });
  expect(() => parseDemoOptions(['--token-file', file])).toThrow('--token-file needs --url');
  expect(() => parseDemoOptions(['--url', url, '--token-file', '/nowhere'])).toThrow(
    "--token-file: there is no file '/nowhere'",
  );
});

test('the demo sends its token with each call', async () => {
  const seen: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    seen.push(request.headers.authorization);
    response.end('[]');
  });
  const url = `http://127.0.0.1:${await listenLocally(server)}`;
  const { signal } = new AbortController();
  await createDemoClient(url, 'a-token').get('/credentials', signal);
  await createDemoClient(url).get('/credentials', signal);
  await closeServer(server);
  expect(seen).toEqual(['Bearer a-token', undefined]);
});
