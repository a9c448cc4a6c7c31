import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { credentials, status } from '@grpc/grpc-js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Identity } from '#test/shared/providers/kubernetes/credentials/certificates.ts';
import { GrpcClient, type GrpcHost, hello, startGrpcHost } from './grpc-host.ts';
import { createTlsFiles, type TlsFiles } from './tls-files.ts';

const open = status.UNAUTHENTICATED;
const closed = status.UNAVAILABLE;

describe.each(['OPTIONAL', 'REQUIRE'])(
  'a list of revoked certificates, with clientAuth %s,',
  (clientAuth) => {
    const stack = new AsyncDisposableStack();
    let tls: TlsFiles;
    let home: GrpcHost;
    let file: string;
    let [first, second]: Identity[] = [];
    beforeAll(async () => {
      tls = stack.use(await createTlsFiles());
      [first, second] = ['edge-7', 'edge-8'].map((commonName) => tls.clients.issue({ commonName }));
      file = join(tls.dir.path, 'clients.crl');
      await writeFile(file, tls.clients.revoke([]));
      const security = { ...tls.security, clientAuth, certificateRevocationList: file };
      home = stack.use(await startGrpcHost({ security }));
    });
    afterAll(() => stack.disposeAsync());

    function connect({ certificate, key }: Identity = { certificate: '', key: '' }): GrpcClient {
      const by = [tls.authority.certificate, key, certificate].map((each) => Buffer.from(each));
      return new GrpcClient(home.port, { credentials: credentials.createSsl(...(by as [Buffer])) });
    }

    /** The code of a call without a token: who got through the door is told that it lacks one. */
    async function call(client: GrpcClient): Promise<number> {
      return (await client.call('Sessions.Open', hello, { deadlineMs: 10_000 })).code;
    }

    async function knock(identity: Identity | undefined): Promise<number> {
      using client = connect(identity);
      // Awaited: the client is closed behind it.
      return await call(client);
    }

    test('keeps out who stands in it, within seconds, and whoever is connected already', async () => {
      using connected = connect(first);
      expect([await call(connected), await knock(first), await knock(second)]).toEqual([open, open, open]);
      await writeFile(file, tls.clients.revoke([first?.certificate ?? '']));
      await expect.poll(() => knock(first)).toBe(closed);
      expect([await call(connected), await knock(second)]).toEqual([closed, open]);
      await writeFile(file, 'none');
      // It looks each two seconds.
      const looked = performance.now() + 3_000;
      while (performance.now() < looked) expect(await knock(first)).toBe(closed);
      await writeFile(file, tls.clients.revoke([]));
      await expect.poll(() => knock(first)).toBe(open);
    });

    test('lets nobody in by a certificate once its successor is overdue', async () => {
      await writeFile(file, tls.clients.revoke([], { expired: true }));
      await expect.poll(() => knock(second)).toBe(closed);
      await writeFile(file, tls.clients.revoke([]));
      await expect.poll(() => knock(second)).toBe(open);
    });
  },
);
