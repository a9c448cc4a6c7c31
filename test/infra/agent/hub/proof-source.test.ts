import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { openProof, type TokenCommand } from '#infra/agent/hub/proof-source.ts';
import { makeTempDir } from '#test/support/run/temp-dir.ts';
import { createTestClock } from '#test/support/run/test-clock.ts';

function toCommand(script: string, options: Partial<TokenCommand> = {}): TokenCommand {
  return {
    kind: 'command',
    command: process.execPath,
    args: ['-e', script],
    format: 'raw',
    refreshSeconds: 0,
    ...options,
  };
}

describe('what proves an agent', () => {
  it('is read from its file at each use', async () => {
    await using dir = await makeTempDir();
    const file = path.join(dir.path, 'token');
    await writeFile(file, 'one\n');
    const proof = openProof({ kind: 'file', file }, createTestClock());
    expect(await proof.read()).toBe('one');
    await writeFile(file, 'two');
    expect(await proof.read()).toBe('two');
    await writeFile(file, 'two words');
    await expect(proof.read()).rejects.toThrow('holds no token');
  });

  it('is what a program prints, as long as it may be used again', async () => {
    await using dir = await makeTempDir();
    const file = path.join(dir.path, 'runs');
    const script = `require('fs').appendFileSync(${JSON.stringify(file)},'x');console.log(JSON.stringify({token:'t'+require('fs').statSync(${JSON.stringify(file)}).size}))`;
    const clock = createTestClock();
    const proof = openProof(toCommand(script, { format: 'json', refreshSeconds: 60 }), clock);
    expect([await proof.read(), await proof.read()]).toEqual(['t1', 't1']);
    clock.advance(60_001);
    expect(await proof.read()).toBe('t2');
  });

  it.each([
    ['fails', "console.log('hunter2'); process.exit(3)", 'it ended with code 3'],
    ['prints too much', "process.stdout.write('hunter2'.repeat(100000))", 'it printed more than 65536 bytes'],
    ['prints no object', "console.log('hunter2')", "printed no JSON object with a text 'token'"],
    [
      'prints another object',
      "console.log(JSON.stringify({ secret: 'hunter2' }))",
      "printed no JSON object with a text 'token'",
    ],
  ])('is none where a program %s, and nothing of it is told', async (_what, script, reason) => {
    const reading = openProof(toCommand(script, { format: 'json' }), createTestClock()).read();
    await expect(reading).rejects.toThrow(reason);
    await expect(reading).rejects.not.toThrow('hunter2');
  });

  it('is none where there is no such program, and no shell looks for one', async () => {
    const command = toCommand('', { command: 'echo hunter2' });
    await expect(openProof(command, createTestClock()).read()).rejects.toThrow('it cannot be run (ENOENT)');
  });
});
