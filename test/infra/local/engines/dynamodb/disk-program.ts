import { setImmediate } from 'node:timers/promises';
import { TableEngine } from '#infra/local/engines/dynamodb/tables.ts';
import { cacheTable, type Table, tables, tasksTable } from '#platform/aws/tables.ts';
import { silentLog } from '#test/support/engines/silent-log.ts';

/**
 * Writes items, ten in each of some turns of the event loop, into the tasks, then into the cache, reads one of each ten, and ends without
 * closing anything. Its output says how each call ended, what was logged, and how often a timer ran meanwhile.
 */
const [file = '', taskTurns = '0', cacheTurns = '0'] = process.argv.slice(2);
const callsEach = 10;
const lines: string[] = [];
const log = { ...silentLog, warn: (message: string) => void lines.push(message) };
const engine = new TableEngine({ file, tables, log });
let ticks = 0;
setInterval(() => {
  ticks += 1;
}, 5);

/** Reads that were answered before the write that they saw. */
let early = 0;

async function readLater(pk: string, isAnswered: () => boolean): Promise<void> {
  // The turn that wrote is over, and its write is under way to the disk.
  await setImmediate();
  await setImmediate();
  await engine.perform('GetItem', { TableName: tasksTable.name, Key: { pk: { S: pk }, sk: { S: 's' } } });
  if (!isAnswered()) early += 1;
}

async function write({ name }: Table, turns: number): Promise<string[]> {
  const outcomes: string[] = [];
  for (let turn = 0; turn < turns; turn += 1) {
    let answered = 0;
    const calls = Array.from({ length: callsEach }, async (_, index) => {
      const Item = { pk: { S: `call-${turn * callsEach + index}` }, sk: { S: 's' } };
      await engine.perform('PutItem', { TableName: name, Item });
      answered += 1;
    });
    const read = readLater(`call-${turn * callsEach}`, () => answered > 0);
    const ended = await Promise.allSettled([...calls, read]);
    outcomes.push(...ended.map((call) => (call.status === 'fulfilled' ? 'done' : call.reason.message)));
  }
  return outcomes;
}

const beganMs = performance.now();
const outcomes = await write(tasksTable, Number(taskTurns));
await write(cacheTable, Number(cacheTurns));
const ms = performance.now() - beganMs;
const { reason } = engine.database;
process.stdout.write(JSON.stringify({ outcomes, early, reason, ms, ticks, lines }), () => process.exit());
