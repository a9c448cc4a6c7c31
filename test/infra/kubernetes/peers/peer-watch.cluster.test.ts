import { expect, test } from 'vitest';
import type { PeerApi } from '#infra/kubernetes/peers/peer-addresses.ts';
import { type Peers, startPeers } from '#infra/kubernetes/peers/peers.ts';
import { systemClock, systemRandomness } from '#platform/services/system.ts';
import {
  type Answer,
  answerJson,
  answerStatus,
  type ScriptedServer,
} from '#test/shared/providers/kubernetes/client/scripted-server.ts';
import {
  answerOpenStream,
  answerStream,
  toErrorLine,
} from '#test/shared/providers/kubernetes/watch/watch-setup.ts';
import { startScriptedPod } from '../scripted-pod.ts';

/** An object of Endpoints with one ready address. */
function makeEndpoints(resourceVersion: string, pod: string): object {
  const metadata = { name: 'spin-clouddriver', resourceVersion };
  const addresses = [{ ip: '10.1.0.1', targetRef: { name: pod } }];
  return { metadata, subsets: [{ addresses, ports: [{ name: 'http', port: 7002 }] }] };
}

const toLine = (type: string, object: object): string => `${JSON.stringify({ type, object })}\n`;

const listed = (resourceVersion: string, ...items: object[]): Answer =>
  answerJson(200, { kind: 'List', metadata: { resourceVersion }, items });

const allowed = answerJson(201, { status: { allowed: true } });

/** Peers of a pod whose API server answers as a test tells. Reviews, lists and watches are answered apart. */
async function startScripted(stack: AsyncDisposableStack, lists: Answer[], watches: Answer[]) {
  const { server, cluster, log } = await startScriptedPod(stack);
  server.script((response, request) => {
    if (request.method === 'POST') return allowed(response, request);
    const answers = request.path.includes('watch=') ? watches : lists;
    (answers.length > 1 ? answers.shift() : answers[0])?.(response, request);
  });
  const settings = { namePrefix: 'spin-clouddriver', portName: 'http', api: 'auto' } as const;
  const tools = { cluster, clock: systemClock, randomness: systemRandomness, log };
  return { server, log, peers: stack.use(startPeers({ settings, ...tools, pauseMsMax: 50 })) };
}

const listIds = (peers: Peers): string[] => peers.list().map(({ id }) => id);

/** What the server was asked for: `review`, `list endpoints`, `watch endpoints from 10`. */
function listRequests({ seen }: ScriptedServer): string[] {
  return seen.map(({ method, path: target }) => {
    if (method === 'POST') return 'review';
    const url = new URL(target, 'https://x');
    const api = url.pathname.split('/').at(-1) as PeerApi;
    const from = url.searchParams.get('resourceVersion');
    return url.searchParams.has('watch') ? `watch ${api} from ${from}` : `list ${api}`;
  });
}

test('it asks whether it may list, whether it may watch, lists once, and watches from there', async () => {
  await using stack = new AsyncDisposableStack();
  const stream = answerOpenStream(toLine('MODIFIED', makeEndpoints('11', 'b')));
  const { server, peers } = await startScripted(stack, [listed('10', makeEndpoints('9', 'a'))], [stream]);

  await expect.poll(() => listIds(peers)).toEqual(['b']);
  expect(listRequests(server)).toEqual(['review', 'review', 'list endpoints', 'watch endpoints from 10']);
  const verbs = server.seen.slice(0, 2).map(({ body }) => JSON.parse(body).spec.resourceAttributes);
  expect(verbs).toEqual(
    ['list', 'watch'].map((verb) => ({ namespace: 'spinnaker', verb, group: '', resource: 'endpoints' })),
  );
});

test('a watch that ends goes on where it ended; one that is too old has everything listed anew', async () => {
  await using stack = new AsyncDisposableStack();
  const { server, peers, log } = await startScripted(
    stack,
    [listed('10', makeEndpoints('9', 'a')), listed('30', makeEndpoints('29', 'c'))],
    [
      answerStream(toLine('MODIFIED', makeEndpoints('11', 'b'))),
      answerStream(toErrorLine(410, 'Expired')),
      answerOpenStream(),
    ],
  );

  await expect.poll(() => listIds(peers)).toEqual(['c']);
  await expect
    .poll(() => listRequests(server))
    .toEqual([
      ...['review', 'review', 'list endpoints', 'watch endpoints from 10', 'watch endpoints from 11'],
      ...['list endpoints', 'watch endpoints from 30'],
    ]);
  expect(peers.state).toBe('watching');
  expect(log.lines).toHaveLength(1);
});

test('where the cluster serves no Endpoints any more it takes EndpointSlices', async () => {
  await using stack = new AsyncDisposableStack();
  const slice = {
    metadata: { name: 'x', labels: { 'kubernetes.io/service-name': 'spin-clouddriver' } },
    ports: [{ name: 'http', port: 7002 }],
    endpoints: [{ addresses: ['10.1.0.1'], targetRef: { name: 'a' } }],
  };
  const { server, peers } = await startScripted(
    stack,
    [answerStatus(404, 'NotFound'), listed('10', slice)],
    [answerOpenStream()],
  );
  await expect.poll(() => listIds(peers)).toEqual(['a']);
  await expect.poll(() => listRequests(server).at(-1)).toBe('watch endpointslices from 10');
});

test('while its API server is away it keeps the peers that it knew', async () => {
  await using stack = new AsyncDisposableStack();
  const gone = answerStatus(503, 'ServiceUnavailable', { 'retry-after': '0' });
  const { peers, log } = await startScripted(
    stack,
    [listed('10', makeEndpoints('9', 'a')), gone],
    [(response) => void response.destroy(), gone],
  );

  await expect.poll(() => peers.state).toBe('stale');
  expect(listIds(peers)).toEqual(['a']);
  await expect
    .poll(() => log.lines.at(-1)?.message)
    .toContain('Unable to list kubernetes Endpoints in namespace spinnaker');
  expect(JSON.stringify(log.lines)).not.toContain('secret-token');
});

test('ports and addresses that are none are left out', async () => {
  await using stack = new AsyncDisposableStack();
  const subsets = [
    {
      addresses: [{ ip: 'evil.example.com' }, { ip: 7 }, { ip: '10.1.0.9' }, 5],
      ports: [{ name: 'http', port: 7002 }],
    },
    { addresses: [{ ip: '10.1.0.1' }], ports: [{ name: 'http', port: 70_002 }] },
    { addresses: 'x', notReadyAddresses: {}, ports: 7 },
    null,
  ];
  const object = { metadata: { name: 'spin-clouddriver', resourceVersion: '9' }, subsets };
  const { peers } = await startScripted(stack, [listed('10', object)], [answerOpenStream()]);
  await expect.poll(() => listIds(peers)).toEqual(['10.1.0.9']);
});
