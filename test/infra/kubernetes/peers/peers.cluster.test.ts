import { expect, test } from 'vitest';
import { type PeerSettings, type Peers, startPeers } from '#infra/kubernetes/peers/peers.ts';
import { systemClock, systemRandomness } from '#platform/services/system.ts';
import { describeWithCluster, requestApi } from '#test/support/cluster/cluster.ts';
import type { TestPod } from '../pod.ts';
import { createPod, deleteEndpoints, RecordedLog, watchEndpoints, writeEndpoints } from '../pod.ts';

const defaults: PeerSettings = { namePrefix: 'spin-clouddriver', portName: 'http', api: 'auto' };

/** Finds peers as a pod does, until the stack is disposed of. */
function start(pod: TestPod, stack: AsyncDisposableStack, settings: Partial<PeerSettings> = {}) {
  const log = new RecordedLog();
  const cluster = stack.use(pod.openCluster(log));
  const peers = stack.use(
    startPeers({
      settings: { ...defaults, ...settings },
      cluster,
      clock: systemClock,
      randomness: systemRandomness,
      log,
      pauseMsMax: 500,
    }),
  );
  return { peers, log };
}

const listIds = (peers: Peers): string[] => peers.list().map(({ id, ready }) => `${id} ${ready}`);

describeWithCluster('peers of the Kubernetes home', () => {
  test('at startup it registers a watch for Endpoints of the namespace where it runs, and says so', async () => {
    await using stack = new AsyncDisposableStack();
    const pod = stack.use(await createPod());
    const other = stack.use(await createPod());
    await writeEndpoints(pod, 'spin-clouddriver', { ready: { own: '10.0.15.246' } });
    await writeEndpoints(other, 'spin-clouddriver', { ready: { foreign: '10.0.15.247' } });

    const { peers, log } = start(pod, stack);

    await expect.poll(() => peers.state).toBe('watching');
    expect(log.messages).toEqual([`Watching kubernetes Endpoints on namespace ${pod.namespace.name}`]);
    expect(peers.list()).toEqual([
      {
        baseUrl: 'http://10.0.15.246:7002',
        id: 'own',
        lastUpdated: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        ready: true,
      },
    ]);
  });

  test('it is told of changes by the watch and polls nothing', async () => {
    await using stack = new AsyncDisposableStack();
    const pod = stack.use(await createPod());
    await writeEndpoints(pod, 'spin-clouddriver', { ready: { a: '10.1.0.1' } });
    const { peers } = start(pod, stack);
    await expect.poll(() => listIds(peers)).toEqual(['a true']);
    const [first] = peers.list();
    // One for calls, and one for the watch.
    await expect.poll(() => pod.forwarder.counts.opened).toBe(2);

    await writeEndpoints(pod, 'spin-clouddriver', { ready: { a: '10.1.0.1', b: '10.1.0.2' } });
    await expect.poll(() => listIds(peers)).toEqual(['a true', 'b true']);
    expect(peers.find('a')).toEqual(first);
    await writeEndpoints(pod, 'spin-clouddriver', { ready: { b: '10.1.0.2' }, notReady: { a: '10.1.0.1' } });
    await expect.poll(() => listIds(peers)).toEqual(['a false', 'b true']);
    expect(peers.find('a')?.lastUpdated).not.toBe(first?.lastUpdated);
    await deleteEndpoints(pod, 'spin-clouddriver');
    await expect.poll(() => listIds(peers)).toEqual([]);
    expect(pod.forwarder.counts.opened).toBe(2);
  });

  test('it takes entries whose name has the prefix, several of them, and others with another prefix', async () => {
    await using stack = new AsyncDisposableStack();
    const pod = stack.use(await createPod());
    await writeEndpoints(pod, 'spin-clouddriver-rw', { ready: { rw: '10.1.0.1' } });
    await writeEndpoints(pod, 'spin-clouddriver-ro', { ready: { ro: '10.1.0.2', rw: '10.1.0.1' } });
    await writeEndpoints(pod, 'spin-orca', { ready: { orca: '10.1.0.3' } });

    const { peers } = start(pod, stack);
    await expect.poll(() => listIds(peers)).toEqual(['ro true', 'rw true']);
    const named = start(pod, stack, { namePrefix: 'spin-or' });
    await expect.poll(() => listIds(named.peers)).toEqual(['orca true']);
  });

  test('it takes the port named http, or as configured, and not that of gRPC', async () => {
    await using stack = new AsyncDisposableStack();
    const pod = stack.use(await createPod());
    await writeEndpoints(pod, 'spin-clouddriver', { ready: { a: '10.1.0.1' }, port: 7777 });
    const { peers } = start(pod, stack);
    const renamed = start(pod, stack, { portName: 'rest' });
    await expect.poll(() => peers.find('a')?.baseUrl).toBe('http://10.1.0.1:7777');

    await writeEndpoints(pod, 'spin-clouddriver', { ready: { a: '10.1.0.1' }, portName: 'rest' });
    await expect.poll(() => listIds(peers)).toEqual([]);
    await expect.poll(() => renamed.peers.find('a')?.baseUrl).toBe('http://10.1.0.1:7002');
  });

  test('Endpoints are made of a Service, and ready is what the column Ready of kubectl says of the pod', async () => {
    await using stack = new AsyncDisposableStack();
    const pod = stack.use(await createPod());
    const core = `/api/v1/namespaces/${pod.namespace.name}`;
    await requestApi('POST', `${core}/services`, {
      metadata: { name: 'spin-clouddriver' },
      spec: { selector: { app: 'clouddriver' }, ports: [{ name: 'http', port: 7002 }] },
    });
    await requestApi('POST', `${core}/pods`, {
      metadata: { name: 'spin-clouddriver-766c678c6c-scg68', labels: { app: 'clouddriver' } },
      spec: { containers: [{ name: 'main', image: 'registry.test/busdriver:1' }] },
    });
    const { peers } = start(pod, stack);

    await expect.poll(() => listIds(peers)).toEqual(['spin-clouddriver-766c678c6c-scg68 true']);
    await requestApi('PATCH', `${core}/pods/spin-clouddriver-766c678c6c-scg68`, {
      metadata: { annotations: { 'kubecluster.test/outcome': 'not-ready' } },
    });
    await expect.poll(() => listIds(peers)).toEqual(['spin-clouddriver-766c678c6c-scg68 false']);
  });

  test('it goes on after its watch was cut, with the peers that it knew meanwhile', async () => {
    await using stack = new AsyncDisposableStack();
    const pod = stack.use(await createPod());
    await writeEndpoints(pod, 'spin-clouddriver', { ready: { a: '10.1.0.1' } });
    const { peers } = start(pod, stack);
    await expect.poll(() => listIds(peers)).toEqual(['a true']);

    pod.forwarder.cut();
    expect(listIds(peers)).toEqual(['a true']);
    await writeEndpoints(pod, 'spin-clouddriver', { ready: { a: '10.1.0.1', b: '10.1.0.2' } });
    await expect.poll(() => listIds(peers)).toEqual(['a true', 'b true']);
    expect(peers.state).toBe('watching');
  });

  test.each(['list', 'watch'])(
    'without the right to %s Endpoints it works alone, logs it, and goes on once it has it',
    async (missing) => {
      await using stack = new AsyncDisposableStack();
      const given = { verbs: [missing === 'list' ? 'watch' : 'list'], resource: 'endpoints' } as const;
      const pod = stack.use(await createPod([given]));
      await writeEndpoints(pod, 'spin-clouddriver', { ready: { a: '10.1.0.1' } });
      const { peers, log } = start(pod, stack);

      await expect.poll(() => peers.state).toBe('forbidden');
      expect(peers.list()).toEqual([]);
      const [line] = log.lines;
      expect(line?.message).toBe(
        `>>>>>>> Unable to list kubernetes Endpoints in namespace ${pod.namespace.name} to discover clouddriver ` +
          'instances. Agent will NOT work if running more than one clouddriver replica!',
      );
      expect(line?.fields['reason']).toBe(`it may not ${missing} endpoints`);
      expect(line?.fields['role']).toContain('verbs: [list, watch]');
      await pod.grant({ verbs: [missing], resource: 'endpoints' });
      await expect.poll(() => listIds(peers)).toEqual(['a true']);
      expect(log.lines).toHaveLength(2);
    },
  );

  test('when its rights are taken away it keeps the peers that it knew, and logs it', async () => {
    await using stack = new AsyncDisposableStack();
    const pod = stack.use(await createPod());
    await writeEndpoints(pod, 'spin-clouddriver', { ready: { a: '10.1.0.1' } });
    const { peers, log } = start(pod, stack);
    await expect.poll(() => listIds(peers)).toEqual(['a true']);

    await pod.revoke(watchEndpoints);
    pod.forwarder.cut();
    await expect.poll(() => peers.state).toBe('forbidden');
    expect(listIds(peers)).toEqual(['a true']);
    await expect.poll(() => log.messages.at(-1)).toContain('Unable to list kubernetes Endpoints');
  });

  test('it reads EndpointSlices where it is told to', async () => {
    await using stack = new AsyncDisposableStack();
    const pod = stack.use(await createPod([{ verbs: ['list', 'watch'], resource: 'endpointslices' }]));
    const slices = `/apis/discovery.k8s.io/v1/namespaces/${pod.namespace.name}/endpointslices`;
    await requestApi('POST', slices, {
      metadata: { name: 'any-name', labels: { 'kubernetes.io/service-name': 'spin-clouddriver' } },
      addressType: 'IPv6',
      ports: [{ name: 'http', port: 7002 }],
      endpoints: [
        { addresses: ['fd00::1'], conditions: {}, targetRef: { kind: 'Pod', name: 'a' } },
        { addresses: ['fd00::2'], conditions: { ready: false } },
      ],
    });
    const { peers } = start(pod, stack, { api: 'endpointslices' });

    await expect.poll(() => listIds(peers)).toEqual(['a true', 'fd00::2 false']);
    expect(peers.find('a')?.baseUrl).toBe('http://[fd00::1]:7002');
  });
});
