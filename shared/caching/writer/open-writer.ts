import type { ChangeSender } from '../store/wire-changes.ts';
import type { CacheWriter } from './object-change.ts';
import type { CacheWriterOptions } from './writer-context.ts';

/** Opens the writer of an account's changes: to the cache or, without one, to the process that has it. Loads only that writer. */
export async function openCacheWriter<Facts>(
  options: CacheWriterOptions<Facts>,
  sender: ChangeSender | undefined,
): Promise<CacheWriter<Facts>> {
  if (sender === undefined) {
    const { createCacheWriter } = await import('./cache-writer.ts');
    return createCacheWriter(options);
  }
  const { createRemoteWriter } = await import('./remote-writer.ts');
  return createRemoteWriter(options, sender);
}
