import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { App, Stack } from 'aws-cdk-lib';
import { Architecture, Function as LambdaFunction, Runtime } from 'aws-cdk-lib/aws-lambda';
import { afterAll, describe, expect, it } from 'vitest';
import { queues } from '../../functions/queues.ts';
import { routes } from '../../functions/routes.ts';
import { getBundles, toCode, toHandler } from '../../infra/bundling.ts';

const run = promisify(execFile);
const outdir = mkdtempSync(join(tmpdir(), 'busdriver-bundles-'));
afterAll(() => rmSync(outdir, { recursive: true, force: true }));

const modules = ['api/health/get-health', 'workers/run-operations'];

/** Ceilings of a bundle, bytes: what is small starts fast. */
const storeBytesMax = 700 * 1024;
const clusterBytesMax = 2.5 * 1024 * 1024;

/** Where CDK put the code of each module. */
const folders = bundle();

function bundle(): ReadonlyMap<string, string> {
  const app = new App({ outdir });
  const stack = new Stack(app, 'stack');
  for (const module of modules) {
    new LambdaFunction(stack, module, {
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      code: toCode(module),
      handler: toHandler(module),
    });
  }
  app.synth();
  const assets = readdirSync(outdir).filter((name) => name.startsWith('asset.'));
  return new Map(
    modules.map((module) => {
      const file = toHandler(module).replace('.handler', '.mjs');
      const found = assets.find((asset) => readdirSync(join(outdir, asset)).includes(file));
      return [module, join(outdir, found ?? 'nowhere', file)];
    }),
  );
}

function getSize(module: string): number {
  const files = getBundles().get(module) ?? [];
  return files.find(({ name }) => name.endsWith('.mjs'))?.contents.length ?? 0;
}

describe('the code of a function', () => {
  it.each(modules)('%s is one module and its source map, which names no folder of this machine', (module) => {
    const file = folders.get(module) ?? '';
    const name = file.slice(file.lastIndexOf('/') + 1);

    const { sources } = JSON.parse(readFileSync(`${file}.map`, 'utf8')) as { sources: readonly string[] };

    expect(readdirSync(join(file, '..')).sort()).toEqual([name, `${name}.map`]);
    expect(readFileSync(file, 'utf8')).toContain(`sourceMappingURL=${name}.map`);
    expect(sources.some((source) => source.endsWith(`functions/${module}.ts`))).toBe(true);
    expect(sources.filter((source) => source.startsWith('/'))).toEqual([]);
  });

  it('answers outside of this project, with nothing beside it', async () => {
    const file = folders.get('api/health/get-health') ?? '';
    const event = { headers: {}, httpMethod: 'GET', path: '/health', body: null };
    const context = { awsRequestId: 'one', getRemainingTimeInMillis: () => 20_000 };
    const program = `import { handler } from ${JSON.stringify(file)};
      const context = { ...${JSON.stringify(context)}, getRemainingTimeInMillis: () => 20000 };
      console.log(JSON.stringify(await handler(${JSON.stringify(event)}, context)));`;
    const env = {
      PATH: '',
      BUSDRIVER_TASKS_TABLE: 'tasks',
      BUSDRIVER_OPERATIONS_QUEUE_URL: 'https://sqs.example.com/operations',
      BUSDRIVER_BUS_NAME: 'bus',
    };

    const { stdout } = await run(process.execPath, ['--input-type=module', '-e', program], {
      cwd: outdir,
      env,
    });

    expect(JSON.parse(stdout)).toMatchObject({ statusCode: 200, body: '{"status":"UP"}' });
  });

  it('exports the handler of a worker', async () => {
    const loaded: { handler?: unknown } = await import(folders.get('workers/run-operations') ?? '');

    expect(loaded.handler).toBeTypeOf('function');
  });

  it('stays below its ceiling', () => {
    const accounts = new Set(
      [...routes, ...queues].filter(({ uses }) => uses?.includes('readAccounts')).map(({ module }) => module),
    );
    const large = [...getBundles().keys()].filter(
      (module) => getSize(module) > (accounts.has(module) ? clusterBytesMax : storeBytesMax),
    );

    expect(getBundles().size).toBeGreaterThan(routes.length);
    expect(large).toEqual([]);
  });
});
