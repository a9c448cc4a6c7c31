import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type System, startSystem } from '#test/support/system/system.ts';

const megabyte = 1 << 20;

/** Another content for each megabyte, so that none can stand for another. */
function makePiece(index: number): Buffer {
  return Buffer.alloc(megabyte, createHash('sha256').update(String(index)).digest());
}

const piecesOfLarge = 96;

/** What the source sends last, and when: a test decides. */
let rest = Promise.withResolvers<void>();

function startSource(): Promise<Server> {
  const source = createServer(async (request, response) => {
    if (request.url === '/large') {
      for (let index = 0; index < piecesOfLarge; index += 1) {
        if (!response.write(makePiece(index)))
          await new Promise((resolve) => response.once('drain', resolve));
      }
      response.end();
      return;
    }
    response.write('begun,');
    await rest.promise.then(
      () => response.end('done'),
      () => response.destroy(),
    );
  });
  return new Promise((resolve) => source.listen(0, '127.0.0.1', () => resolve(source)));
}

/** Accounts whose list exceeds what Lambda hands on in one piece. */
const accounts = Array.from({ length: 70 }, (_, index) => ({
  name: `cluster-${index}`,
  serviceAccount: true,
  permissions: {
    READ: Array.from({ length: 100 }, (_unused, group) => `team-${index}-${group}`.padEnd(1_000, 'x')),
  },
}));

describe('an answer beyond the 6 MB that Lambda hands on in one piece', () => {
  let source: Server;
  let system: System;

  beforeAll(async () => {
    source = await startSource();
    const http = {
      enabled: true,
      accounts: [{ name: 'files', urlRestrictions: { allowedIps: ['127.0.0.1'] } }],
    };
    // Agents would fail for all of these accounts, in the memory that is measured.
    const kubernetes = { enabled: true, accounts, cache: { enabled: false } };
    system = await startSystem({ settings: { kubernetes, artifacts: { http } } });
  });

  afterAll(async () => {
    await system[Symbol.asyncDispose]();
    source.closeAllConnections();
    await new Promise((resolve) => source.close(resolve));
  });

  const fetchArtifact = (path: string): Promise<Response> => {
    const reference = `http://127.0.0.1:${(source.address() as AddressInfo).port}${path}`;
    const body = JSON.stringify({ type: 'http/file', artifactAccount: 'files', reference });
    return fetch(new URL('/artifacts/fetch', system.url), { method: 'PUT', body });
  };

  it('is an artifact byte for byte, which memory never holds as a whole', async () => {
    const before = await readPeakMemory(system.pid);

    const response = await fetchArtifact('/large');
    const hash = createHash('sha256');
    let length = 0;
    for await (const bytes of response.body ?? []) {
      hash.update(bytes);
      length += bytes.length;
    }

    const expected = createHash('sha256');
    for (let index = 0; index < piecesOfLarge; index += 1) expected.update(makePiece(index));
    expect([response.status, length]).toEqual([200, piecesOfLarge * megabyte]);
    expect(hash.digest('hex')).toBe(expected.digest('hex'));
    const growth = (await readPeakMemory(system.pid)) - before;
    expect(growth).toBeLessThan((piecesOfLarge / 2) * megabyte);
  });

  it('is the list of all accounts', async () => {
    const plain = await system.fetch('/credentials?expand=true', {
      headers: { 'accept-encoding': 'identity' },
    });
    const text = await plain.text();
    expect(Buffer.byteLength(text)).toBeGreaterThan(6 * megabyte);
    expect(JSON.parse(text)).toHaveLength(accounts.length);

    const gzipped = await fetchRaw(`${system.url}/credentials?expand=true`);
    expect(gzipped.encoding).toBe('gzip');
    expect(gunzipSync(gzipped.bytes).toString() === text).toBe(true);
  });

  it('arrives as it comes', async () => {
    rest = Promise.withResolvers();
    const response = await fetchArtifact('/slow');
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    expect((await reader?.read())?.value).toBe('begun,');
    rest.resolve();
    expect((await reader?.read())?.value).toBe('done');
  });

  it('that breaks off is not taken for a whole one', async () => {
    rest = Promise.withResolvers();
    const response = await fetchArtifact('/slow');
    expect(response.status).toBe(200);
    rest.reject(new Error('the source breaks off'));
    await expect(response.text()).rejects.toThrow();
    expect(system.stderr).toContain('an answer broke off');
  });
});

/** The most memory that a process ever held, bytes. 0 where the system does not tell. */
async function readPeakMemory(pid: number): Promise<number> {
  const file = `/proc/${pid}/status`;
  if (!existsSync(file)) return 0;
  const [, kilobytes = ''] = /^VmHWM:\s+(\d+) kB$/m.exec(await readFile(file, 'utf8')) ?? [];
  return Number(kilobytes) * 1024;
}

/** `fetch` would unpack the body. */
async function fetchRaw(url: string): Promise<{ encoding: string | undefined; bytes: Buffer }> {
  const { request } = await import('node:http');
  return new Promise((resolve, reject) => {
    const call = request(url, { headers: { 'accept-encoding': 'gzip' } }, async (response) => {
      const bytes = Buffer.concat(await Array.fromAsync(response as AsyncIterable<Buffer>));
      resolve({ encoding: response.headers['content-encoding'], bytes });
    });
    call.once('error', reject).end();
  });
}
