import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { DynamoDBClient, ScanCommand } from '@aws-sdk/client-dynamodb';
import { ListQueuesCommand, SQSClient } from '@aws-sdk/client-sqs';
import { describe, expect, test } from 'vitest';
import { scanTasks } from '../../support/engines/stores.ts';
import { makeTempDir, writeProgram } from '../../support/run/temp-dir.ts';
import { startSystem } from '../../support/system/system.ts';
import { findOpen, makeAccount, noAccounts, readModes, writeConfig } from './start-files.ts';

describe('other users of the machine', () => {
  test('cannot call the engines, whose addresses anybody finds', async () => {
    await using temp = await makeTempDir();
    await using system = await startSystem({ config: [await writeConfig(temp, noAccounts)] });
    const { dynamodb, sqs, eventbridge } = system.engines;
    const strangers = {
      region: 'us-east-1',
      credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
    };
    const database = new DynamoDBClient({ ...strangers, endpoint: dynamodb });
    const refusal = { $metadata: { httpStatusCode: 403 } };
    await expect(database.send(new ScanCommand({ TableName: 'tasks' }))).rejects.toMatchObject(refusal);
    const queues = new SQSClient({ ...strangers, endpoint: sqs });
    await expect(queues.send(new ListQueuesCommand({}))).rejects.toMatchObject(refusal);
    expect((await fetch(new URL('/events', eventbridge))).status).toBe(403);
    database.destroy();
    queues.destroy();

    expect(await scanTasks(system.stores)).toBe('[]');
    const { accessKeyId, secretAccessKey } = system.stores.credentials;
    for (const secret of [accessKeyId, secretAccessKey])
      expect(system.stdout + system.stderr).not.toContain(secret);
    await expect.poll(() => system.stderr).toContain('a local engine refused a caller');
  });

  test('cannot read anything in the data directory', async () => {
    await using temp = await makeTempDir();
    await using system = await startSystem({ config: [await writeConfig(temp, noAccounts)] });
    const modes = await readModes(system.dataDir);
    expect([...modes.keys()]).toEqual(
      expect.arrayContaining(['', 'pid', 'engines.env', 'tables.sqlite', 'tables.sqlite-wal']),
    );
    expect(findOpen(modes)).toEqual([]);
    await system.kill('SIGTERM');
    const left = await readModes(system.dataDir);
    expect(findOpen(left)).toEqual([]);
    expect([...left.keys()].filter((name) => ['pid', 'engines.env'].includes(name))).toEqual([]);
  });

  test('are shut out of a data directory that was open to them, and its owner is told', async () => {
    await using temp = await makeTempDir();
    const dataDir = path.join(temp.path, 'data');
    await mkdir(dataDir);
    await chmod(dataDir, 0o777);
    await writeFile(path.join(dataDir, 'engines.env'), '', { mode: 0o644 });
    await using system = await startSystem({ dataDir, config: [await writeConfig(temp, noAccounts)] });
    expect(system.stderr).toContain(
      `${dataDir} was open to other users (mode 0777): it is yours alone now\n`,
    );
    expect(findOpen(await readModes(dataDir))).toEqual([]);
  });

  test('learn no credentials of the engines from programs that accounts run', async () => {
    await using temp = await makeTempDir();
    const seen = path.join(temp.path, 'seen');
    const plugin = await writeProgram(path.join(temp.path, 'plugin'), `env >> ${seen}; exit 1`);
    await using system = await startSystem({
      config: [await writeConfig(temp, await makeAccount(temp, { exec: makeExec(plugin) }))],
      env: { PLANTED: 'inherited' },
    });
    await expect.poll(() => readFile(seen, 'utf8').catch(() => '')).toContain('PLANTED=inherited');
    const { accessKeyId, secretAccessKey } = system.stores.credentials;
    const inherited = await readFile(seen, 'utf8');
    for (const secret of [accessKeyId, secretAccessKey]) expect(inherited).not.toContain(secret);
  });
});

function makeExec(command: string): object {
  return { apiVersion: 'client.authentication.k8s.io/v1', command, interactiveMode: 'Never' };
}
