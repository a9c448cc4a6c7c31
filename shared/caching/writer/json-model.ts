import type { CacheModel } from './cache-model.ts';

/**
 * Caches facts as JSON, of objects that have no versions: positions are times of reads.
 *
 * @param version raise it when the form of the facts changes: cached ones of another version count as absent
 */
export function createJsonModel<Facts>(version: number): CacheModel<Facts> {
  return {
    positionName: 'time',
    hasTimedPositions: true,
    encode: (facts) => JSON.stringify([version, facts]),
    decode(text) {
      const [found, facts] = JSON.parse(text) as [number, Facts];
      return found === version ? facts : undefined;
    },
  };
}
