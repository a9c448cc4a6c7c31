import type { ChangeSender } from '#caching/store/wire-changes.ts';
import type { CacheWriterOptions } from './cache-writer.ts';
import type { CacheWriter } from './object-change.ts';

/** Opens what writes changes of an account: into the cache or, in a process that has none, to who has it. Loads no other. */
export async function openCacheWriter(
  options: CacheWriterOptions,
  sender: ChangeSender | undefined,
): Promise<CacheWriter> {
  if (sender === undefined) {
    const { createCacheWriter } = await import('./cache-writer.ts');
    return createCacheWriter(options);
  }
  const { createRemoteWriter } = await import('./remote-writer.ts');
  return createRemoteWriter(options.account.name, sender);
}
