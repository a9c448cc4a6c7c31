import { getPriority, setPriority } from 'node:os';

/** What `nice` would be told. */
const lowPriority = 10;

/** Has a worker, and every process that its tests start, let those go first that measure how long somebody waits. */
if (getPriority() < lowPriority) setPriority(lowPriority);
