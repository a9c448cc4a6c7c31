import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { pipeline, Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { describe, expect, onTestFinished, test } from 'vitest';
import { readJsonBody, slownessMaxMs } from '#providers/artifacts/download/response-body.ts';
import { createTestClock, neverAborted, readText } from '../options.ts';
import { startOrigin } from '../origin.ts';
import { startTestDownloader } from './test-downloader.ts';

describe('readResponseBody', () => {
  test('decompresses', async () => {
    const text = 'hello '.repeat(10_000);
    await using origin = await startOrigin((_, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(text));
    });
    await using downloader = startTestDownloader();
    expect(await downloader.read(origin.url)).toBe(text);
  });

  test('says so when a compressed answer is damaged or in an unknown encoding', async () => {
    await using origin = await startOrigin((request, response) => {
      const encoding = request.url?.slice(1) ?? '';
      response.writeHead(200, { 'content-encoding': encoding }).end('not compressed');
    });
    await using downloader = startTestDownloader();
    const damaged = await downloader.get(`${origin.url}/gzip`);
    await expect(readText(damaged)).rejects.toThrow('its compressed answer is damaged');
    const unknown = downloader.get(`${origin.url}/br`);
    await expect(unknown).rejects.toThrow('an encoding that was not asked for');
  });

  const chunk = Buffer.alloc(2 ** 16, 'x');
  const chunksTotal = 1024;

  /** Writes a chunk and no end, and tells when the connection has closed. */
  function holdOpen() {
    const closed = Promise.withResolvers<void>();
    const writeChunk: RequestListener = (_, response) => response.on('close', closed.resolve).write(chunk);
    return { closed, writeChunk };
  }

  /** Writes 64 MiB as fast as it is taken, and keeps count. */
  function pour(written: { bytes: number }): RequestListener {
    function* produce() {
      for (let count = 0; count < chunksTotal; count += 1) {
        written.bytes += chunk.byteLength;
        yield chunk;
      }
    }
    return (_, response) => {
      pipeline(Readable.from(produce()), response, () => {});
    };
  }

  test('reads 64 MiB no faster than its caller does', async () => {
    const written = { bytes: 0 };
    await using origin = await startOrigin(pour(written));
    await using downloader = startTestDownloader();

    const body = await downloader.get(origin.url);
    let read = 0;
    let chunks = 0;
    let aheadMax = 0;
    for await (const part of body) {
      read += part.byteLength;
      chunks += 1;
      // Gives the server every chance to run ahead.
      for (let turns = 0; turns < 8; turns += 1) await new Promise(setImmediate);
      aheadMax = Math.max(aheadMax, written.bytes - read);
    }

    expect(read).toBe(chunksTotal * chunk.byteLength);
    expect(chunks).toBeGreaterThan(100);
    expect(aheadMax).toBeLessThan(24 * 2 ** 20);
  });

  test('ends with the signal, midway, and lets go of the connection', async () => {
    const { closed, writeChunk } = holdOpen();
    await using origin = await startOrigin(writeChunk);
    await using downloader = startTestDownloader();
    const abort = new AbortController();
    const reason = new Error('lease lost');
    const body = await downloader.download({ url: new URL(origin.url) }, abort.signal);
    const reading = (async () => {
      for await (const _ of body) abort.abort(reason);
    })();
    await expect(reading).rejects.toBe(reason);
    await closed.promise;
  });

  test('ends with the signal before there is an answer', async () => {
    const asked = Promise.withResolvers<void>();
    await using origin = await startOrigin(() => asked.resolve());
    await using downloader = startTestDownloader();
    const abort = new AbortController();
    const reason = new Error('lease lost');
    const download = downloader.download({ url: new URL(origin.url) }, abort.signal);
    await asked.promise;
    abort.abort(reason);
    await expect(download).rejects.toBe(reason);
    await expect(downloader.download({ url: new URL(origin.url) }, abort.signal)).rejects.toBe(reason);
  });

  test('lets go of the connection when its caller stops reading', async () => {
    const { closed, writeChunk } = holdOpen();
    await using origin = await startOrigin(writeChunk);
    await using downloader = startTestDownloader();
    for await (const _ of await downloader.get(origin.url)) break;
    await closed.promise;
  });

  test('reports a connection that breaks midway', async () => {
    await using origin = await startOrigin((request, response) => {
      response.writeHead(200, { 'content-length': '100' });
      response.write('part', () => request.socket.destroy());
    });
    await using downloader = startTestDownloader();
    await expect(downloader.read(origin.url)).rejects.toThrow(
      /^Unable to read from 127.0.0.1:\d+: the connection was lost$/,
    );
  });

  test.each([
    ['announced', { 'content-length': '11' }],
    ['not announced', {}],
  ])('refuses more than the limit, %s', async (_, headers) => {
    await using origin = await startOrigin((_, response) => {
      response.writeHead(200, headers);
      response.write('12345678901');
      response.end();
    });
    await using downloader = startTestDownloader({ limits: { bytesMax: 10 } });
    const read = async () => readText(await downloader.get(origin.url));
    await expect(read()).rejects.toThrow('is larger than the limit of 10 bytes');
  });

  test('counts the limit after decompression', async () => {
    await using origin = await startOrigin((_, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(Buffer.alloc(2 ** 20)));
    });
    await using downloader = startTestDownloader({ limits: { bytesMax: 2 ** 16 } });
    await expect(downloader.read(origin.url)).rejects.toThrow('larger than the limit');
  });

  test('gives up a host that drips, and waits for one that pauses at the end of much', async () => {
    const clock = createTestClock();
    await using origin = await startOrigin((request, response) => {
      let pieces = 0;
      const more = () => {
        pieces += 1;
        clock.advance(10_000);
        if (pieces > 8) response.end();
        else response.write(request.url === '/drip' ? '<' : chunk, () => setImmediate(more));
      };
      more();
    });
    await using downloader = startTestDownloader({ clock });
    const read = async (path: string) =>
      readText(await downloader.download({ url: new URL(path, origin.url) }, neverAborted()));

    await expect(read('/drip')).rejects.toThrow(
      `127.0.0.1:${origin.port} answers too slowly: less than 1024 bytes a second`,
    );
    expect(await read('/much')).toHaveLength(8 * chunk.byteLength);
  });

  test('does not take the pauses of its caller for those of the host', async () => {
    const clock = createTestClock();
    await using origin = await startOrigin((_, response) => {
      response.write('a', () => setImmediate(() => response.end('b')));
    });
    await using downloader = startTestDownloader({ clock });
    for await (const _ of await downloader.get(origin.url)) {
      clock.advance(slownessMaxMs + 1);
    }
  });

  test.each(['identity', 'gzip'])('gives up for a caller who takes nothing more (%s)', async (encoding) => {
    const closed = Promise.withResolvers<void>();
    await using origin = await startOrigin((_, response) => {
      response.on('close', closed.resolve).writeHead(200, { 'content-encoding': encoding });
      const bytes = Buffer.alloc(2 ** 24, 'x');
      response.write(encoding === 'gzip' ? gzipSync(bytes) : bytes);
    });
    await using downloader = startTestDownloader({ limits: { callerTimeoutMs: 50 } });

    const body = await downloader.get(origin.url);
    const reading = body[Symbol.asyncIterator]();
    await reading.next();
    await closed.promise;

    const later = (async () => {
      while (!(await reading.next()).done);
    })();
    await expect(later).rejects.toThrow('its reader took nothing for 50 ms');
  });

  test('gives up a body that nobody ever reads', async () => {
    const { closed, writeChunk } = holdOpen();
    await using origin = await startOrigin(writeChunk);
    await using downloader = startTestDownloader({ limits: { totalTimeoutMs: 1_500 } });
    const body = await downloader.get(origin.url);
    await closed.promise;
    await expect(readText(body)).rejects.toThrow('the transfer took too long');
  });
});

test.each([
  [
    'headers beyond the limit',
    `HTTP/1.1 200 OK\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`,
    'its headers have more than',
  ],
  ['something else than HTTP', 'SSH-2.0-OpenSSH_9.9\r\n', 'its answer is not HTTP'],
])('toDownloadError tells of %s', async (_, answer, message) => {
  const server = createServer((socket) => void socket.end(answer)).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  await using downloader = startTestDownloader();
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  await expect(downloader.get(url)).rejects.toThrow(message);
});

describe('readJsonBody', () => {
  async function* inPieces(text: string, size: number): AsyncGenerator<Uint8Array> {
    for (let index = 0; index < text.length; index += size)
      yield Buffer.from(text.slice(index, index + size));
  }

  test.each([1, 7, 2 ** 20])('reads JSON in pieces of %d', async (size) => {
    const value = { text: 'x'.repeat(200_000), list: [1, { a: 'b' }], id: 9007199254740993n };
    expect(await readJsonBody(inPieces(JSON.stringify(value), size), 2 ** 20)).toEqual(value);
  });

  test('reads as many bytes as it may, and no more', async () => {
    expect(await readJsonBody(inPieces('"abc"', 2), 5)).toBe('abc');
    expect(await readJsonBody(inPieces('"abc"', 2), 4)).toBeUndefined();
    expect(await readJsonBody(inPieces('"abc"', 9), 4)).toBeUndefined();
  });

  test('keeps no more of an answer in pieces of one byte than its bytes', async () => {
    const megabytes = 2 ** 21;
    const before = process.memoryUsage();
    expect(await readJsonBody(inPieces(' '.repeat(megabytes), 1), megabytes)).toBeUndefined();
    const after = process.memoryUsage();
    expect(after.rss - before.rss).toBeLessThan(100 * 2 ** 20);
  });
});
