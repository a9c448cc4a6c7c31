/**
 * Environment variables of the process that `npm start` runs, for the GNU C library, which others ignore. It keeps what is freed of
 * large blocks once it has seen some: after a flood of bodies of 6 MB the process stayed 300 MB larger. With fixed thresholds
 * blocks from 128 KiB on go back to the system at once. The library reads them when a process starts, so they stand in package.json.
 */
export const memorySettings = {
  MALLOC_MMAP_THRESHOLD_: '131072',
  MALLOC_TRIM_THRESHOLD_: '131072',
} as const;
