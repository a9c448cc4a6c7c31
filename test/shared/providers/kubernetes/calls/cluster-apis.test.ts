import { AuthenticationV1Api, CoreV1Api } from '@kubernetes/client-node';
import { expect, test } from 'vitest';
import { systemClock } from '#platform/services/system.ts';
import { ClusterApis } from '#providers/kubernetes/calls/cluster-apis.ts';
import { silentLog } from '../client/client-setup.ts';
import { answerJson, startScriptedServer } from '../client/scripted-server.ts';

/** The APIs of a server that answers as a test tells, for a user of a kubeconfig. */
async function open(stack: AsyncDisposableStack, user: object) {
  const server = stack.use(await startScriptedServer());
  const kubeconfigContents = server.getKubeconfig({ user });
  const connection = { name: 'test', kubeconfigContents, serviceAccount: false, placement: 'local' } as const;
  const options = { connection, clock: systemClock, log: silentLog, environment: {} };
  return { server, apis: stack.use(new ClusterApis(options)) };
}

test('calls of an API go with the credentials of the kubeconfig, and as all of its groups', async () => {
  await using stack = new AsyncDisposableStack();
  const { server, apis } = await open(stack, { token: 'secret-token', as: 'jane', 'as-groups': ['a', 'b'] });
  server.script(answerJson(200, { metadata: { name: 'shop', uid: 'u' } }));
  const { metadata } = await apis.get(CoreV1Api).readNamespace({ name: 'shop' });
  expect(metadata?.uid).toBe('u');
  const [request] = server.seen;
  expect(request).toMatchObject({ method: 'GET', path: '/api/v1/namespaces/shop' });
  expect(request?.headers).toMatchObject({
    authorization: 'Bearer secret-token',
    'impersonate-user': 'jane',
    'impersonate-group': 'a, b',
  });
});

test('an answer that is no JSON fails the call, and is not quoted', async () => {
  await using stack = new AsyncDisposableStack();
  const { server, apis } = await open(stack, { token: 'secret-token' });
  server.script((response) => response.writeHead(201).end('reviewed-token'));
  const review = apis.get(AuthenticationV1Api).createTokenReview({ body: { spec: { token: 'x' } } });
  await expect(review).rejects.toThrow(
    /^account "test" \(context "\w+"\): it answers something else than JSON$/,
  );
});

test('a call ends with the signal of its API', async () => {
  await using stack = new AsyncDisposableStack();
  const { server, apis } = await open(stack, { token: 'secret-token' });
  const stopping = new AbortController();
  server.script(() => stopping.abort(new Error('it stops')));
  await expect(apis.get(CoreV1Api, stopping.signal).listNamespace()).rejects.toThrow('it stops');
});
