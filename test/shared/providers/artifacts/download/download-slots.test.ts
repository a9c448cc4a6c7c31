import { expect, test } from 'vitest';
import { UnavailableError } from '#core/errors.ts';
import {
  createSlots,
  downloadsPerAccountMax,
  takeAll,
} from '#providers/artifacts/download/download-slots.ts';
import { neverAborted, readText } from '../options.ts';
import { startOrigin } from '../origin.ts';
import { startTestDownloader } from './test-downloader.ts';

test('gives a slot back once, whoever says so again', () => {
  const slots = createSlots(2, 'The test');
  const release = slots.take();
  slots.take();
  release();
  release();
  slots.take();
  expect(() => slots.take()).toThrow(
    new UnavailableError('The test has 2 downloads under way, its limit: try again later'),
  );
});

test('takes all or none', () => {
  const free = createSlots(1, 'one');
  const full = createSlots(0, 'other');
  expect(() => takeAll([free, full])).toThrow('other has 0 downloads');
  expect(() => free.take()).not.toThrow();
});

test('refuses an account what goes beyond its share, and no other one', async () => {
  const answer = Promise.withResolvers<void>();
  await using origin = await startOrigin((_, response) => {
    void answer.promise.then(() => response.end('hello'));
  });
  await using downloader = startTestDownloader();
  await using other = startTestDownloader({ account: 'other' });
  const url = new URL(origin.url);

  const running = Array.from({ length: downloadsPerAccountMax }, () =>
    downloader.download({ url }, neverAborted()),
  );
  await expect(downloader.download({ url }, neverAborted())).rejects.toThrow(
    new UnavailableError(
      `Artifact account 'files' has ${downloadsPerAccountMax} downloads under way, its limit: try again later`,
    ),
  );
  running.push(other.download({ url }, neverAborted()));
  answer.resolve();

  for (const body of running) expect(await readText(await body)).toBe('hello');
  expect(await readText(await downloader.download({ url }, neverAborted()))).toBe('hello');
});

test('counts a download until its body has ended, and one that failed no more', async () => {
  await using origin = await startOrigin((request, response) => {
    if (request.url === '/failed') response.writeHead(404).end();
    else if (request.url === '/gzip') response.writeHead(200, { 'content-encoding': 'br' }).end();
    else response.end('hello');
  });
  const sharedSlots = createSlots(1, 'The process');
  await using downloader = startTestDownloader({ sharedSlots });
  const download = (path: string) => downloader.download({ url: new URL(path, origin.url) }, neverAborted());

  for (const path of ['/failed', '/gzip', '/failed']) {
    await expect(download(path)).rejects.toThrow(/404|encoding/);
  }
  const body = await download('/');
  await expect(download('/')).rejects.toThrow('The process has 1 downloads under way');
  expect(await readText(body)).toBe('hello');

  await expect.poll(async () => readText(await download('/'))).toBe('hello');
});
