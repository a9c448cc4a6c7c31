import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Runtime, startRuntime } from '#infra/local/runtime.ts';
import { makeTempDir } from '../run/temp-dir.ts';

/**
 * Starts a whole Busdriver in the process of the test, on a free port, with these settings and no kubeconfig. Disposing removes its data.
 *
 * @param dataDir where its data stay. Default: they are removed
 */
export async function startTestRuntime(settings: object, dataDir?: string): Promise<Runtime> {
  await using starting = new AsyncDisposableStack();
  const dir = starting.use(await makeTempDir());
  const file = join(dir.path, 'clouddriver.yml');
  await writeFile(file, JSON.stringify(settings));
  const runtime = starting.use(
    await startRuntime({
      ...{ host: '127.0.0.1', port: 0, allowedHosts: [], shutdownTimeoutMs: 1_000, logLevel: 'SILENT' },
      ...{
        dataDir: dataDir ?? join(dir.path, 'data'),
        configFiles: [file],
        profiles: [],
        kubeconfig: undefined,
      },
    }),
  );
  const running = starting.move();
  return { ...runtime, [Symbol.asyncDispose]: () => running.disposeAsync() };
}
