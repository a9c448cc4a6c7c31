import { expect, test } from 'vitest';
import { neverAborted, readText } from '../options.ts';
import { startOrigin } from '../origin.ts';
import { startTestDownloader } from './test-downloader.ts';

test('gives up on a host that answers all the time, and nothing', async () => {
  await using origin = await startOrigin((request, response) => {
    const timer = setInterval(() => response.writeProcessing(), 5);
    request.socket.on('close', () => clearInterval(timer));
  });
  await using downloader = startTestDownloader({ limits: { answerTimeoutMs: 200 } });
  const download = downloader.download({ url: new URL(origin.url) }, neverAborted());
  await expect(download).rejects.toThrow(/^Unable to read from 127.0.0.1:\d+: no answer in time$/);
});

test('gives up on a transfer that never ends', async () => {
  await using origin = await startOrigin((request, response) => {
    const timer = setInterval(() => response.write('<'), 5);
    request.socket.on('close', () => clearInterval(timer));
  });
  await using downloader = startTestDownloader({ limits: { totalTimeoutMs: 1_500 } });
  // A starved process may not see the answer begin in time.
  const transfer = downloader.download({ url: new URL(origin.url) }, neverAborted()).then(readText);
  await expect(transfer).rejects.toThrow('the transfer took too long');
});
