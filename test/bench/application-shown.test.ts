import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { listen } from '#test/support/network/listening.ts';
import { openApiClient } from './api-client.ts';
import { waitUntilShown } from './application-shown.ts';

const pod = {};
const application = { name: 'shop', deployments: 2, podsEach: 2, deployment: 'shop-00000' };

/** What is shown at one request after the other, the last for ever. */
const shown: { readonly [path: string]: readonly unknown[] } = {
  '/applications/shop/clusters': [{}, { dev: ['deployment a'] }, { dev: ['deployment a', 'deployment b'] }],
  '/applications/shop/serverGroups': [
    [{ instances: [pod, pod] }],
    [{ instances: [pod, pod] }, { instances: null }],
    [{ instances: [pod, pod] }, { instances: [pod, pod] }],
  ],
  '/task/1': [{ status: { completed: true, failed: false } }],
};

/** A server that shows an application bit by bit, and remembers what it was asked for. */
async function startServer() {
  const asked: string[] = [];
  const server = createServer(async (request, response) => {
    const { method, url = '' } = request;
    asked.push(`${method} ${url} ${await text(request)}`.trim());
    if (method === 'POST') return response.end('{"id": "1"}');
    const answers = shown[url] ?? [];
    const count = asked.filter((each) => each === `GET ${url}`).length;
    return response.end(JSON.stringify(answers[Math.min(count, answers.length) - 1]));
  });
  return {
    ...(await listen(server)),
    ...{ asked, account: 'dev', readFigures: undefined, findEnd: async () => undefined },
  };
}

it('waits for the names of all clusters, then for all server groups with all pods', async () => {
  await using server = await startServer();
  await using client = openApiClient(server.url);
  await waitUntilShown({ server: { ...server, isPeer: false }, client, application });
  const [clusters, serverGroups] = ['GET /applications/shop/clusters', 'GET /applications/shop/serverGroups'];
  expect(server.asked).toEqual([clusters, clusters, clusters, serverGroups, serverGroups, serverGroups]);
});

it('deploys a ConfigMap of the application by a peer first', async () => {
  await using server = await startServer();
  await using client = openApiClient(server.url);
  await waitUntilShown({ server: { ...server, isPeer: true }, client, application });
  expect(server.asked[0]).toMatch(/^POST \/kubernetes\/ops .*"app":"shop".*"kind":"ConfigMap"/);
  expect(server.asked.slice(1)).toEqual([
    'GET /task/1',
    ...Array.from({ length: 3 }, () => 'GET /applications/shop/serverGroups'),
  ]);
});

it('says how a server has ended that it waits for', async () => {
  await using server = await startServer();
  await using client = openApiClient(server.url);
  const findEnd = async () => 'the system has ended (1): out of memory';
  const waiting = waitUntilShown({ server: { ...server, isPeer: false, findEnd }, client, application });
  await expect(waiting).rejects.toThrow('out of memory');
});
