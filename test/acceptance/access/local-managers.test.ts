import { request } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type System, startSystem } from '#test/support/system/system.ts';

/** A route for managers of accounts. */
const path = '/credentials/type/kubernetes';

let system: System;
beforeAll(async () => {
  system = await startSystem({ args: ['--allow-host', 'busdriver.test'] });
});
afterAll(() => system[Symbol.asyncDispose]());

function call(headers: { readonly [name: string]: string } = {}): Promise<{ status: number; body: string }> {
  const { port } = new URL(system.url);
  return new Promise((resolve, reject) => {
    request({ host: '127.0.0.1', port, path, headers, agent: false }, async (response) => {
      resolve({ status: response.statusCode ?? 0, body: await text(response) });
    })
      .once('error', reject)
      .end();
  });
}

describe('without Fiat', () => {
  it.each([
    ['curl', {}],
    [
      'somebody who says his name, and which accounts he may use',
      { 'X-SPINNAKER-USER': 'me', 'X-SPINNAKER-ACCOUNTS': 'a' },
    ],
    ['localhost', { host: 'localhost:7002' }],
    ['another address of the loopback', { host: '127.1.2.3:7002' }],
    ['IPv6', { host: '[::1]:7002' }],
  ])('a program of this machine manages accounts: %s', async (_, headers) => {
    expect(await call(headers)).toMatchObject({ status: 200 });
  });

  it.each([
    ['nginx', { 'X-Forwarded-For': '10.1.2.3' }],
    ['one that hides for whom', { 'X-Forwarded-For': '' }],
    ['RFC 7239', { Forwarded: 'for=10.1.2.3;proto=https' }],
    ['RFC 9110', { Via: '1.1 gateway' }],
    ['nginx, in other words', { 'X-Real-IP': '10.1.2.3' }],
    ['HAProxy, spelled for a variable', { X_Forwarded_Proto: 'https' }],
    ['Apache', { 'X-Forwarded-Host': 'busdriver.test', 'X-Forwarded-Server': 'proxy' }],
    ['Envoy, a sidecar of Istio', { 'X-Envoy-Attempt-Count': '1' }],
    ['Linkerd', { 'l5d-client-id': 'orca.spinnaker' }],
    ['a content delivery network', { 'CF-Connecting-IP': '10.1.2.3' }],
    ['others', { 'True-Client-IP': '10.1.2.3' }],
    ['one that passes on the name by which it was called', { host: 'busdriver.test' }],
    ['one that passes on the address', { host: '10.1.2.3:7002' }],
  ])('who comes through a proxy does not: %s', async (_, headers) => {
    const { status, body } = await call(headers);

    expect(status, body).toBe(403);
    expect(body).toContain('accounts cannot be changed without Fiat');
  });

  it('nor who comes by HTTP/1.0, as through nginx that is left as it comes', async () => {
    const socket = connect(Number(new URL(system.url).port), '127.0.0.1');
    socket.write(`GET ${path} HTTP/1.0\r\nHost: 127.0.0.1:7002\r\nConnection: close\r\n\r\n`);

    expect(await text(socket)).toMatch(/^HTTP\/1\.1 403 /);
  });

  it('nor anybody with --local-managers off', async () => {
    await using shared = await startSystem({ args: ['--local-managers', 'off'] });
    const answer = await shared.fetch(path);

    expect([answer.status, await answer.text()]).toEqual([403, expect.stringContaining('without Fiat')]);
    expect((await shared.fetch('/credentials')).status).toBe(200);
  });
});
