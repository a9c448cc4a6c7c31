import {
  type DownloaderOptions,
  startDownloader,
} from '../../../../shared/providers/artifacts/downloader.ts';
import { parseUrlRestrictions } from '../../../../shared/providers/artifacts/url-restrictions.ts';
import { createTestClock, createTestLog, middling } from './options.ts';

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
  return { clock, log, ...downloader };
}
