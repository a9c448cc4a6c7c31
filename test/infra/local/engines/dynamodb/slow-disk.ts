import { TableEngine } from '#infra/local/engines/dynamodb/tables.ts';
import { tables, tasksTable } from '#platform/aws/tables.ts';
import { silentLog } from '#test/support/engines/silent-log.ts';

/** Writes ten items in each of some turns of the event loop, ends without closing anything, and tells what that took. */
const [file = ''] = process.argv.slice(2);
const turns = 5;
const callsEach = 10;
const lines: string[] = [];
const log = { ...silentLog, warn: (message: string) => void lines.push(message) };
const engine = new TableEngine({ file, tables, log });
const beganMs = performance.now();
for (let turn = 0; turn < turns; turn += 1) {
  const calls = Array.from({ length: callsEach }, (_, index) => {
    const Item = { pk: { S: `call-${turn * callsEach + index}` }, sk: { S: 's' } };
    return engine.perform('PutItem', { TableName: tasksTable.name, Item });
  });
  await Promise.all(calls);
}
const ms = performance.now() - beganMs;
process.stdout.write(JSON.stringify({ turns, calls: turns * callsEach, ms, lines }), () => process.exit());
