import { readFileSync } from 'node:fs';
import { copyFile, readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { TableEngine } from '#infra/local/engines/dynamodb/tables.ts';
import { tables, tasksTable } from '#platform/aws/tables.ts';
import { silentLog } from '#test/support/engines/silent-log.ts';
import { disposeAfterEach } from '#test/support/run/disposal.ts';
import { makeTempDir, type TempDir } from '#test/support/run/temp-dir.ts';

/** Bytes of a page, and of a page in the log with what stands before it. */
const pageBytes = 4_096;
const frameBytes = pageBytes + 24;

/** Bytes before the first frame. */
const logHeaderBytes = 32;

let dir: TempDir;
let engine: TableEngine;

beforeEach(async () => {
  dir = await makeTempDir();
  engine = open(dir.path);
});
disposeAfterEach(() => [engine, dir]);

function open(folder: string): TableEngine {
  return new TableEngine({ file: path.join(folder, 'tables.sqlite'), tables, log: silentLog });
}

const TableName = tasksTable.name;

function put(name: string, text = ''): Promise<object> {
  const Item = { pk: { S: name }, sk: { S: 's' }, text: { S: text } };
  return engine.perform('PutItem', { TableName, Item });
}

/** Names of the items of a table. */
async function list(from: TableEngine): Promise<string[]> {
  const { Items = [] } = (await from.perform('Scan', { TableName })) as { Items?: { pk: { S: string } }[] };
  return Items.map(({ pk }) => pk.S);
}

/** What is found after a power cut that left so much of the log. */
async function listAfter(log: Buffer): Promise<string[]> {
  await using copy = await makeTempDir();
  const file = path.join(copy.path, 'tables.sqlite');
  await copyFile(path.join(dir.path, 'tables.sqlite'), file);
  await writeFile(`${file}-wal`, log);
  await using cut = open(copy.path);
  return await list(cut);
}

describe('after a power cut', () => {
  test('all that was answered is there, and the rest is gone whole, wherever the log ends and whatever is wrong in it', async () => {
    const answered = ['a', 'b', 'c'];
    for (const name of answered) await put(name);
    const logFile = path.join(dir.path, 'tables.sqlite-wal');
    const answeredBytes = (await stat(logFile)).size;
    expect(answeredBytes % frameBytes).toBe(logHeaderBytes);
    const text = 'x'.repeat(3 * pageBytes);
    await Promise.all([put('d', text), put('e', text), put('b', text)]);
    const log = await readFile(logFile);
    expect(await listAfter(log)).toEqual(['a', 'b', 'c', 'd', 'e']);

    const frames = (log.length - answeredBytes) / frameBytes;
    expect(frames).toBeGreaterThanOrEqual(9);
    for (let frame = 0; frame < frames; frame += 1) {
      const start = answeredBytes + frame * frameBytes;
      expect(await listAfter(log.subarray(0, start)), `cut before frame ${frame}`).toEqual(answered);
      for (const offset of [0, 8, 20, 24, frameBytes - 1]) {
        const flipped = Buffer.from(log);
        flipped[start + offset] = (flipped[start + offset] ?? 0) ^ 0x41;
        expect(await listAfter(flipped), `byte ${offset} of frame ${frame} is another`).toEqual(answered);
      }
    }
  });

  test('what one turn of the event loop wrote is there or gone together', async () => {
    const logFile = path.join(dir.path, 'tables.sqlite-wal');
    const before = await readFile(logFile);
    const answers = ['a', 'b', 'c'].map((name) => put(name));
    // Nothing of it is in the log before the turn ends.
    expect(readFileSync(logFile)).toEqual(before);
    await Promise.all(answers);
    expect(await listAfter(before)).toEqual([]);
    expect(await listAfter(await readFile(logFile))).toEqual(['a', 'b', 'c']);
  });
});

test('nobody is answered what may still be lost: reads wait for what they saw', async () => {
  const order: string[] = [];
  const written = put('a').then(() => order.push('written'));
  const read = list(engine).then((names) => order.push(`read ${names}`));
  await Promise.all([written, read]);
  expect(order).toEqual(['written', 'read a']);
  expect(await list(engine)).toEqual(['a']);
});
