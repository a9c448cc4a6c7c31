import { expect, test } from 'vitest';
import { SharedClients } from '#provider-kit/shared-clients.ts';

function createClient() {
  const client = {
    closed: 0,
    async [Symbol.asyncDispose]() {
      client.closed += 1;
    },
  };
  return client;
}

test('a client is opened once for all its users, and closed by the last of them', async () => {
  const clients = new SharedClients();
  const made = createClient();
  const first = clients.use('a', async () => made);
  const second = clients.use('a', async () => createClient());

  expect(await second.client).toBe(await first.client);
  await first.release();
  expect(made.closed).toBe(0);
  await second.release();
  expect(made.closed).toBe(1);
});

test('another key is another client, and one that was closed is opened anew', async () => {
  const clients = new SharedClients();
  const [one, other, again] = [createClient(), createClient(), createClient()];
  const first = clients.use('a', async () => one);
  const second = clients.use('b', async () => other);
  await first.release();
  const third = clients.use('a', async () => again);

  expect(await third.client).toBe(again);
  expect(await second.client).toBe(other);
  expect([one.closed, other.closed, again.closed]).toEqual([1, 0, 0]);
});

test('a client that cannot be opened is tried again by the next user', async () => {
  const clients = new SharedClients();
  const failed = clients.use('a', () => Promise.reject(new Error('no kubeconfig')));
  await expect(failed.client).rejects.toThrow('no kubeconfig');
  const made = createClient();
  const next = clients.use('a', async () => made);

  expect(await next.client).toBe(made);
  await failed.release();
  expect(made.closed).toBe(0);
});
