import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import path from 'node:path';
import { json } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { asJsonArray, getPath, type JsonObject } from '#core/json.ts';
import { readFirstLine } from '#infra/tools/child-process.ts';
import { listNames } from '#test/shared/providers/kubernetes/live.ts';
import { createNamespace, describeWithCluster } from '#test/support/cluster/cluster.ts';
import { closeServer, listenLocally } from '#test/support/network/local-server.ts';
import { createOrca } from '#test/support/system/orca.ts';
import { type System, startSystem } from '#test/support/system/system.ts';

const main = path.join(import.meta.dirname, 'main.ts');

interface StubOptions {
  readonly system: System;
  /** The type of stages that fail. */
  readonly broken?: string;
}

/**
 * A stub of Orca's routes of executions (POST /orchestrate, GET /pipelines/{id}, PUT …/cancel), no Orca: stages are played by
 * `test/support/system/orca.ts`, which sends Busdriver what Orca sends.
 */
async function startOrcaStub({ system, broken }: StubOptions) {
  const executions: { status: string; stages: JsonObject[] }[] = [];
  const player = createOrca({ subject: system, application: 'busdriverorca', timeoutMs: 60_000 });
  const play = async (type: string, context: JsonObject): Promise<string> => {
    if (type === broken) return 'TERMINAL';
    if (type === 'runJob') return runJob(system, context);
    // Orca sends the artifacts alone.
    const required = asJsonArray(context['requiredArtifacts']);
    const requiredArtifacts = required.map((each) => getPath(each, 'artifact') ?? null);
    return (await player.run(type, { ...context, requiredArtifacts })).status;
  };
  const run = async (execution: (typeof executions)[number]): Promise<void> => {
    for (const stage of execution.stages) {
      const status = await play(String(stage['type']), stage).catch(() => 'TERMINAL');
      stage['status'] = status;
      if (execution.status !== 'RUNNING') return;
      if (status !== 'SUCCEEDED') execution.status = status;
    }
    if (execution.status === 'RUNNING') execution.status = 'SUCCEEDED';
  };
  const server = createServer(async (request, response) => {
    const { method, url = '' } = request;
    const [, id, cancel] = /^\/pipelines\/(\d+)(\/cancel\?)?/.exec(url) ?? [];
    const found = executions[Number(id)];
    if (method === 'PUT' && cancel && found) found.status = 'CANCELED';
    if (found) return response.end(JSON.stringify(found));
    const { stages } = (await json(request)) as { stages: JsonObject[] };
    const execution = { status: 'RUNNING', stages };
    void run(execution);
    response.end(JSON.stringify({ ref: `/pipelines/${executions.push(execution) - 1}` }));
  });
  return {
    url: `http://127.0.0.1:${await listenLocally(server)}`,
    [Symbol.asyncDispose]: () => closeServer(server),
  };
}

/** A Job's operation, and looks at it until it has ended, as Orca's stage does. */
async function runJob(system: System, context: JsonObject): Promise<string> {
  const task = await system.waitForTask(await system.postOperations([{ runJob: context }]));
  const [result] = task.resultObjects as readonly { deployedNamesByLocation: Record<string, string[]> }[];
  const [[location, [name = '']] = ['', ['']]] = Object.entries(result?.deployedNamesByLocation ?? {});
  const target = `/applications/busdriverorca/jobs/${context['account']}/${location}/${encodeURIComponent(name)}`;
  const read = async () => ((await (await system.fetch(target)).json()) as JsonObject)['jobState'];
  await expect.poll(read).not.toBe('Running');
  return (await read()) === 'Succeeded' ? 'SUCCEEDED' : 'TERMINAL';
}

describeWithCluster('npm run test:orca', (cluster) => {
  test.each([
    { broken: undefined, code: 0, row: '20 of 20', line: 'ok     patch: SUCCEEDED' },
    { broken: 'patchManifest', code: 1, row: '19 of 20', line: 'failed patch: TERMINAL at patchManifest' },
  ])('says $row where Orca breaks $broken, and cleans up', async ({ broken, code, row, line }) => {
    await using namespace = await createNamespace('orca-run');
    await using system = await startSystem({ kubeconfig: cluster.kubeconfig });
    await using orca = await startOrcaStub({ system, ...(broken && { broken }) });
    const account = system.accounts[0] ?? '';
    const args = ['--orca', orca.url, '--namespace', namespace.name, '--account', account, '--poll', '100'];
    const ran = await promisify(execFile)(process.execPath, [main, ...args, '--release', 'stub']).catch(
      (error) => error,
    );
    expect(ran.stdout).toContain(`${line} /pipelines/`);
    expect(ran.stdout).toMatch(
      new RegExp(`^\\| Orca \\| stub \\| .*, [-\\d]{10} \\| ${row} pipelines \\|$`, 'm'),
    );
    expect(ran.code ?? 0).toBe(code);
    for (const kind of ['deployments', 'statefulsets', 'replicasets', 'services'])
      expect(await listNames(namespace.name, kind)).toEqual([]);
  });
});

test('npm run test:orca plays Front50 and Echo, and says what is missing', async () => {
  const server = spawn(process.execPath, [main, '--stubs', '0'], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(server, 'exit');
  try {
    const line = await readFirstLine(server.stdout, AbortSignal.timeout(60_000));
    const url = line.replace('Front50 and Echo: ', '');
    const read = async (target: string, init = {}) => (await fetch(url + target, init)).json();
    expect(await read('/v2/applications/shop')).toMatchObject({ name: 'shop' });
    expect(await read('/pipelines/shop?refresh=false')).toEqual([]);
    expect(await read('/', { method: 'POST', body: '{}' })).toEqual({});
  } finally {
    server.kill('SIGTERM');
  }
  expect(await ended).toEqual([0, null]);
  await expect(promisify(execFile)(process.execPath, [main])).rejects.toMatchObject({
    ...{ code: 2, stderr: expect.stringContaining('--orca: expected the URL of an Orca') },
  });
});
