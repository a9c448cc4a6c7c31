import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { LogFields } from '#core/logger.ts';
import { describeObstacle } from '#infra/local/engines/dynamodb/disk.ts';
import { TableEngine } from '#infra/local/engines/dynamodb/tables.ts';
import { tables, tasksTable } from '#platform/aws/tables.ts';
import { silentLog } from '#test/support/engines/silent-log.ts';
import { makeTempDir, type TempDir } from '#test/support/run/temp-dir.ts';

const run = promisify(execFile);
const TableName = tasksTable.name;
const program = path.join(import.meta.dirname, 'disk-program.ts');

let dir: TempDir;
let file: string;
const logged: { readonly message: string; readonly fields: LogFields | undefined }[] = [];
const log = {
  ...silentLog,
  warn: (message: string, fields?: LogFields) => void logged.push({ message, fields }),
};

beforeEach(async () => {
  logged.length = 0;
  dir = await makeTempDir();
  file = path.join(dir.path, 'tables.sqlite');
});
afterEach(() => dir[Symbol.asyncDispose]());

function open(options: { readonly logBytesMax?: number } = {}): TableEngine {
  return new TableEngine({ file, tables, log, ...options });
}

function put(engine: TableEngine, name: string, text = ''): Promise<object> {
  const Item = { pk: { S: name }, sk: { S: 's' }, text: { S: text } };
  return engine.perform('PutItem', { TableName, Item });
}

async function find(engine: TableEngine, name: string): Promise<object | undefined> {
  const Key = { pk: { S: name }, sk: { S: 's' } };
  return ((await engine.perform('GetItem', { TableName, Key })) as { readonly Item?: object }).Item;
}

test('a file that is damaged is told in words: at the start what to do, later that it cannot be read', async () => {
  {
    await using engine = open();
    for (let index = 0; index < 200; index += 1) await put(engine, `item-${index}`, 'x'.repeat(500));
  }
  const bytes = await readFile(file);
  await writeFile(file, Buffer.concat([Buffer.from('no database at all'), bytes.subarray(18)]));
  expect(open).toThrow(
    /tables.sqlite cannot be opened: file is not a database; put back a copy of the directory, or start with another --data-dir$/,
  );

  // Its beginning says what tables there are; the rest is pages of items.
  await writeFile(
    file,
    Buffer.concat([bytes.subarray(0, 5 * 4_096), Buffer.alloc(bytes.length - 5 * 4_096, 0xff)]),
  );
  await using engine = open();
  const reads = Array.from({ length: 200 }, (_, index) => find(engine, `item-${index}`));
  const outcomes = await Promise.allSettled(reads);
  const failures = outcomes.filter((outcome) => outcome.status === 'rejected').map(({ reason }) => reason);
  expect(failures.length).toBeGreaterThan(0);
  for (const failure of failures) {
    expect(failure).toMatchObject({
      ...{ code: 'InternalServerError', status: 500 },
      message: 'The tables cannot be used: database disk image is malformed',
    });
  }
});

test('who holds the file with another program is told of, nothing is half written, and all goes on afterwards', async () => {
  await using engine = open();
  await put(engine, 'before');
  const other = new DatabaseSync(file);
  other.exec('BEGIN IMMEDIATE');
  const full = once(engine.database, 'full');
  const writes = ['one', 'two'].map((name) => put(engine, name));
  for (const write of writes)
    await expect(write).rejects.toThrow('The tables cannot be used: database is locked');
  expect(await full).toEqual(['database is locked']);
  expect(engine.database.reason).toBe('database is locked');
  // What needs no write goes on.
  expect(await find(engine, 'before')).toBeDefined();

  const space = once(engine.database, 'space');
  other.exec('ROLLBACK');
  other.close();
  await space;
  expect(engine.database.reason).toBeUndefined();
  expect([await find(engine, 'one'), await find(engine, 'two')]).toEqual([undefined, undefined]);
  await put(engine, 'one');
  expect(await find(engine, 'one')).toBeDefined();
});

test('a file that another program holds at the start is told with what to do about that', () => {
  using other = new DatabaseSync(file);
  other.exec('CREATE TABLE other (name); BEGIN EXCLUSIVE');
  expect(open).toThrow(
    /database is locked; end the program that holds the tables, or start with another --data-dir$/,
  );
});

test('the log is brought into the file when nothing is written, so that it need not be read at the next start', async () => {
  await using engine = open();
  await put(engine, 'one', 'x'.repeat(100_000));
  const before = (await stat(file)).size;
  await expect.poll(async () => (await stat(file)).size).toBeGreaterThan(before + 90_000);
});

test('the log is not brought into the file in the middle of a turn', async () => {
  await using engine = open({ logBytesMax: 1 });
  const before = (await stat(file)).size;
  // What timers write is under way when the timer of the checkpoint is due.
  const writes: Promise<object>[] = [];
  const writing = setInterval(() => writes.push(put(engine, 'one', 'x'.repeat(5_000))), 1);
  await expect.poll(async () => (await stat(file)).size).toBeGreaterThan(before);
  clearInterval(writing);
  await Promise.all(writes);
  expect(logged.filter(({ message }) => message.includes('cannot be brought'))).toEqual([]);
});

test('the log stays bounded under load, and nothing is lost of it', async () => {
  const logBytesMax = 1 << 20;
  await using engine = open({ logBytesMax });
  const endsAtMs = performance.now() + 3_500;
  let written = 0;
  let largest = 0;
  let total = 0;
  // A write always waits: there is no moment for it.
  while (performance.now() < endsAtMs || written < 200) {
    const text = String(written).repeat(9_000);
    await Promise.all([0, 1, 2, 3].map((index) => put(engine, `item-${(written + index) % 50}`, text)));
    written += 4;
    total += 4 * text.length;
    largest = Math.max(largest, (await stat(`${file}-wal`)).size);
  }
  expect(total).toBeGreaterThan(2 * logBytesMax);
  expect(largest).toBeGreaterThan(logBytesMax);
  expect(largest).toBeLessThan(total);
  expect(
    (await Promise.all(Array.from({ length: 50 }, (_, index) => find(engine, `item-${index}`)))).every(
      Boolean,
    ),
  ).toBe(true);
});

test('whoever looks inside with sqlite3 finds items as JSON', async () => {
  await using engine = open();
  await put(engine, 'TASK#1', 'hello');
  const other = new DatabaseSync(file, { readOnly: true });
  const [row] = other.prepare(`SELECT item ->> '$.text.S' AS text FROM tasks WHERE pk = 'TASK#1'`).all();
  expect(row?.['text']).toBe('hello');
  other.close();
});

const hasTracer = await run('strace', ['-V']).then(
  () => true,
  () => false,
);

/** Has the program write so many turns, while something happens to each call that syncs the log. */
async function runTraced(injected: string, ...turns: number[]) {
  const options = ['-f', '-qq', '-e', 'trace=fdatasync', '-e', `inject=fdatasync:${injected}`];
  const traced = await run('strace', [...options, process.execPath, program, file, ...turns.map(String)]);
  const syncs = traced.stderr.split('\n').filter((line) => line.includes('sync(')).length;
  return { ...JSON.parse(traced.stdout), syncs };
}

describe.skipIf(!hasTracer)(hasTracer ? 'a disk' : 'a disk (skipped: there is no strace)', () => {
  test('that is slow has calls wait for it but not the event loop, is logged, and is asked once for all of a turn', async () => {
    const turns = 5;
    const slow = await runTraced('delay_enter=60000', turns);
    expect(slow).toMatchObject({ syncs: turns, early: 0 });
    expect(new Set(slow.outcomes)).toEqual(new Set(['done']));
    expect(slow.ms).toBeGreaterThanOrEqual(turns * 60);
    expect(slow.ticks).toBeGreaterThan(turns);
    expect(slow.lines).toEqual(['the disk of the data directory is slow: what is stored waits for it']);
    await using engine = open();
    for (let call = 0; call < 10 * turns; call += 1) expect(await find(engine, `call-${call}`)).toBeDefined();
  });

  test('is not waited for by copies of what can be read again', async () => {
    expect((await runTraced('delay_enter=1000', 3, 20)).syncs).toBe(3);
  });

  test('that fails ends all writing and reading until the next start, and loses nothing that was answered', async () => {
    // Counted for each of the threads that sync.
    const { outcomes, reason } = await runTraced('error=EIO:when=3+', 30);
    const answered = outcomes.findIndex((outcome: string) => outcome !== 'done');
    expect(answered).toBeGreaterThan(0);
    const failures = new Set(outcomes.slice(answered));
    expect(failures).toEqual(new Set(['The tables cannot be used: not synced: i/o error']));
    const { advice } = describeObstacle(reason);
    expect(advice).toBe('check the disk, then start Busdriver again');
    await using engine = open();
    const turnsDone = answered / 11;
    for (let call = 0; call < 10 * turnsDone; call += 1)
      expect(await find(engine, `call-${call}`)).toBeDefined();
  });
});
