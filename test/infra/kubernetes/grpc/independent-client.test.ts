import { execFile } from 'node:child_process';
import { copyFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { findPythonProblem, openPythonEnvironment } from '#test/deploy/python-environment.ts';
import { startGrpcHost } from './grpc-host.ts';

const run = promisify(execFile);
const missing = await findPythonProblem();

describe.skipIf(missing !== undefined)(`a client that others wrote${missing ? `: ${missing}` : ''}`, () => {
  test('speaks the published schema: it finds it by reflection, opens a session, takes a task and ends it', async () => {
    const { python } = await openPythonEnvironment();
    await using home = await startGrpcHost();
    const id = await home.post();
    const tokenFile = join(home.engines.dir, 'token');
    await writeFile(tokenFile, await home.signer.sign(), { mode: 0o600 });

    const program = join(import.meta.dirname, 'independent-client.py');
    // Python's modules have no dashes in their names.
    const schema = join(import.meta.dirname, '../../../../docs/agent/busdriver-agent-v1.proto');
    await copyFile(schema, join(home.engines.dir, 'agent.proto'));
    const address = `127.0.0.1:${home.port}`;
    const { stdout } = await run(python, [program, home.engines.dir, 'agent.proto', address, tokenFile], {
      timeout: 60_000,
    });

    const services = [
      ...['Sessions', 'Tasks', 'Caching', 'Reads'].map((name) => `busdriver.agent.v1.${name}`),
      'grpc.health.v1.Health',
      'grpc.reflection.v1.ServerReflection',
      'grpc.reflection.v1alpha.ServerReflection',
    ];
    expect(JSON.parse(stdout)).toEqual({
      ...{ kind: 'TASK', task: id, operations: 1, sequences: [0, 1] },
      ...{ refused: 'PERMISSION_DENIED', isServing: true },
      ...{ v1: { services, isDescribed: true }, v1alpha: { services, isDescribed: true } },
    });
    const task = await (await fetch(new URL(`/task/${id}`, home.host.url))).json();
    expect(task).toMatchObject({ status: { failed: true } });
  });
});
