import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import { toKeyText } from '#caching/aws/store/cache-keys.ts';
import { packedBytesMax } from '#caching/aws/store/packed-text.ts';
import { cacheReader } from '#platform/aws/item-reader.ts';
import type { ItemKey, TimedTable } from '#platform/aws/table.ts';
import { lookupPartitions } from '#platform/aws/tables.ts';
import {
  type DiscoveryKey,
  type DiscoveryStore,
  discoveryTextMax,
  type StoredDiscovery,
} from '../discovery-store.ts';

const compress = promisify(gzip);
const decompress = promisify(gunzip);

/** A discovery that is not written again is forgotten after a day. */
const retentionSeconds = 24 * 3600;

/**
 * What API servers serve, in the cache's table: a gzipped item for each account and server, of at most `packedBytesMax` bytes, mostly a few
 * thousand. It is among the lookups, which only functions that reach clusters may write: it directs requests. Callers need GetItem and
 * PutItem on these partitions.
 */
export function createDiscoveryStore({ table, clock }: TimedTable): DiscoveryStore {
  return {
    async find(key: DiscoveryKey): Promise<StoredDiscovery | undefined> {
      const item = await table.get(toItemKey(key), { consistent: false });
      if (item === undefined) return undefined;
      const packed = cacheReader.getBytes(item, 'data');
      const asOfMs = cacheReader.getNumber(item, 'asOfMs');
      const etag = cacheReader.findText(item, 'etag');
      if (cacheReader.getNumber(item, 'expiresAt') * 1000 <= clock.now()) return undefined;
      // A small item may have been made to unpack to gigabytes.
      const bytes = await decompress(packed, { maxOutputLength: discoveryTextMax });
      return { text: bytes.toString('utf8'), etag, asOfMs };
    },
    async put(key: DiscoveryKey, { text, etag, asOfMs }: StoredDiscovery): Promise<void> {
      if (Buffer.byteLength(text) > discoveryTextMax) return;
      const data = await compress(text);
      if (data.length > packedBytesMax) return;
      const expiresAt = Math.floor(clock.now() / 1000) + retentionSeconds;
      await table.put({
        ...toItemKey(key),
        data,
        asOfMs,
        ...(etag !== undefined && { etag }),
        expiresAt,
      });
    },
  };
}

function toItemKey({ account, server }: DiscoveryKey): ItemKey {
  return { pk: `${lookupPartitions}${toKeyText('DISCOVERY', account, server)}`, sk: 'DISCOVERY' };
}
