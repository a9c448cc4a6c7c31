/**
 * Environment variables of the process that `npm start` runs, for the GNU C library, which others ignore. It keeps what is freed of
 * large blocks once it has seen some: after a flood of bodies of 6 MB the process stayed 300 MB larger. With fixed thresholds
 * blocks from 128 KiB on go back to the system at once. The library reads them when a process starts, so cli/busdriver sets them.
 */
export const memorySettings = {
  MALLOC_MMAP_THRESHOLD_: '131072',
  MALLOC_TRIM_THRESHOLD_: '131072',
} as const;

/**
 * Options of Node for the same process, which V8 takes when it starts only: young garbage is collected at 8 MiB a half of its space,
 * not at 16, and old garbage when there is half as much again as was in use after the last collection, not up to four times as much.
 * In 100 deploys on a busy machine, with 4, 8 and 16 MiB, young garbage was collected 402, 236 and 99 times, for 15.5, 6.3 and 3.6 ms
 * a deploy, and the process had 164, 172 and 187 MiB.
 */
export const nodeOptions = ['--max-semi-space-size=8', '--heap-growing-percent=50'] as const;

/**
 * The same of an agent, which has to be small and is never in a hurry: with 10,000 objects it had 111 MiB just after the first cache and
 * 91 a while later, in the place of 128 and 105, and the first cache took 11.7 s in the place of 10.9.
 */
export const agentNodeOptions = ['--max-semi-space-size=2', '--heap-growing-percent=50'] as const;
