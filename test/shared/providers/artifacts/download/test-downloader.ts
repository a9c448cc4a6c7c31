import {
  type DownloaderOptions,
  type DownloadRequest,
  startDownloader,
} from '#providers/artifacts/download/downloader.ts';
import { parseUrlRestrictions } from '#providers/artifacts/download/url-restrictions.ts';
import { createTestClock, createTestLog, middling, neverAborted, readText } from '../options.ts';

/** A downloader that may reach this machine, every name included. */
export function startTestDownloader(options: Partial<DownloaderOptions> = {}) {
  const clock = createTestClock();
  const log = createTestLog();
  const downloader = startDownloader({
    account: 'files',
    restrictions: parseUrlRestrictions({ allowedIps: ['127.0.0.1'] }, 'files'),
    clock,
    randomness: middling,
    log,
    resolve: async () => [{ address: '127.0.0.1', family: 4 }],
    ...options,
  });
  /** Asks for a URL, and nobody stops it. */
  const get = (url: string, request: Partial<DownloadRequest> = {}) =>
    downloader.download({ url: new URL(url), ...request }, neverAborted());
  const read = async (url: string, request?: Partial<DownloadRequest>) => readText(await get(url, request));
  return { clock, log, get, read, ...downloader };
}
