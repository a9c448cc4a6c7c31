import { describe, expect, it } from 'vitest';
import type { CommitMessage } from '#agents/protocol/messages.ts';
import { commitBytesMax, entryBytesMax } from '#agents/protocol/messages.ts';
import {
  fromLeasedTaskMessage,
  parseEntries,
  parseOperations,
  toCommitMessage,
  toLeasedTaskMessage,
} from '#agents/protocol/task-messages.ts';
import { parseExactJson } from '#core/bounded-json.ts';
import type { JournalEntry, SubmittedOperation, Task } from '#tasks/task.ts';

const lease = { fence: 3, sequence: 1 };

const entry: JournalEntry = {
  key: '1/op/0/apply',
  lines: [{ phase: 'DEPLOY', status: 'Submitting' }],
  value: parseExactJson('{"id":12345678901234567890,"share":0.5}') as JournalEntry['value'] & object,
  results: ['{"replicas":2.0}'],
};

function toMessage(...entries: unknown[]): CommitMessage {
  return { lease, next: 'hold', entries: entries.map((each) => JSON.stringify(each)) };
}

describe('messages about tasks', () => {
  it('keep each digit of a number on both ways, and tell nothing of earlier runs', () => {
    const earlier: JournalEntry = { key: '0/op/0', lines: [], results: ['{"of":"before"}'] };
    const task = {
      ...{ id: 'one', account: 'edge', run: 1, attempts: 2, acceptedAtMs: 5, caller: { user: 'ada' } },
      inbox: { account: 'edge', waitMs: 7 },
      journal: [earlier, entry],
    } as Partial<Task> as Task;
    const operations = parseExactJson(
      '[{"provider":"p","name":"n","description":{"big":98765432109876543210}}]',
    ) as readonly SubmittedOperation[];
    const full = { ...lease, taskId: 'one', inlineBytes: 0, validUntil: 0 };
    const message = toLeasedTaskMessage({ task, lease: full }, operations);
    const read = fromLeasedTaskMessage(JSON.parse(JSON.stringify(message)), 'me@there');

    expect(JSON.stringify(message)).not.toContain('before');
    expect(read).toMatchObject({ id: 'one', run: 1, attempts: 2, inbox: task.inbox, journal: [entry] });
    expect(JSON.stringify(parseOperations(message))).toBe(JSON.stringify(operations));
    const commit = toCommitMessage(lease, { entries: [entry], next: 'COMPLETED', told: 4 });
    expect(parseEntries(JSON.parse(JSON.stringify(commit)), { run: 1 })).toEqual([entry]);
    expect(commit).not.toHaveProperty('told');
  });
});

describe('entries from outside are refused', () => {
  it.each([
    ['{', 'entries[0]: expected JSON'],
    ['[]', 'entries[0]: expected an object'],
    ['{"key":"0/end","lines":[]}', 'entries[0]: expected a key that begins with 1/'],
    ['{"key":"1/end"}', 'entries[0]: expected a list of lines, each with phase and status'],
    [
      '{"key":"1/end","lines":[{"phase":1}]}',
      'entries[0]: expected a list of lines, each with phase and status',
    ],
    ['{"key":"1/end","lines":[],"results":["{"]}', 'entries[0]: expected results that are JSON texts'],
    [
      '{"key":"1/end","lines":[],"outputs":[{"a":1}]}',
      'entries[0]: expected outputs whose members are texts',
    ],
    ['[1e999]', 'entries[0]: expected JSON that is within bounds: it holds a number that is too large'],
    [
      `${'['.repeat(600)}${']'.repeat(600)}`,
      'entries[0]: expected JSON that is within bounds: it is nested deeper than 500 levels',
    ],
  ])('%s', (text, reason) => {
    expect(() => parseEntries({ lease, next: 'hold', entries: [text] }, { run: 1 })).toThrow(reason);
  });

  it('where they are too large, by bytes', () => {
    const wide = 'ä'.repeat(entryBytesMax / 2);
    expect(() => parseEntries(toMessage({ key: '1/a', lines: [], value: wide }), { run: 1 })).toThrow(
      `entries[0]: expected ${entryBytesMax} bytes at most`,
    );
    const large = { key: '1/a', lines: [], value: 'a'.repeat(entryBytesMax - 100) };
    expect(() => parseEntries(toMessage(large, large, large, large, large), { run: 1 })).toThrow(
      `entries: expected ${commitBytesMax} bytes at most, all together`,
    );
  });
});
