import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { queues } from '#functions/queues.ts';
import { toFunctionEnvironment } from '#infra/local/environment.ts';
import { tables } from '#platform/aws/tables.ts';
import type { EnginesMessage } from '#test/lab/engines-main.ts';
import type { FunctionsMessage, HeapMessage } from '#test/lab/functions-main.ts';
import { startLabProcess } from '#test/lab/processes.ts';
import { makeTempDir } from '#test/support/run/temp-dir.ts';
import { ApiCaller } from '#test/support/system/api-caller.ts';

export class FunctionsProcess extends ApiCaller {
  readonly url: string;
  readonly #pid: number;
  readonly #heaps: ((bytes: number) => void)[];

  constructor(url: string, pid: number, heaps: ((bytes: number) => void)[]) {
    super();
    this.url = url;
    this.#pid = pid;
    this.#heaps = heaps;
  }

  /** Bytes of its heap that are in use after a garbage collection. */
  async measureHeap(): Promise<number> {
    const { promise, resolve } = Promise.withResolvers<number>();
    this.#heaps.push(resolve);
    process.kill(this.#pid, 'SIGUSR2');
    return await promise;
  }

  override async describe(): Promise<string> {
    return ` (${this.url})`;
  }
}

/** Processes that share engines, as functions in AWS do. Disposing kills all of them. */
export interface SharedEngines extends AsyncDisposable {
  readonly processes: readonly FunctionsProcess[];
}

const busName = 'busdriver';

/**
 * Starts engines and so many processes of functions. Schedules run at the start alone.
 *
 * @param settings Spinnaker's, as JSON
 */
export async function startSharedEngines(count: number, settings: object): Promise<SharedEngines> {
  await using starting = new AsyncDisposableStack();
  const dir = starting.use(await makeTempDir());
  const file = join(dir.path, 'clouddriver.yml');
  await writeFile(file, JSON.stringify(settings));
  const told = starting.use(
    await startLabProcess<Extract<EnginesMessage, { engines: unknown }>>({
      module: 'engines-main.ts',
      args: [join(dir.path, 'dynamodb'), busName],
      logFile: join(dir.path, 'engines.log'),
    }),
  ).first;
  const chosen = {
    configFiles: [file],
    profiles: ['local'],
    kubeconfig: undefined,
    logLevel: 'WARN',
  } as const;
  const env = toFunctionEnvironment({ ...told, settings: chosen, tables, queues, busName });
  const start = async (index: number): Promise<FunctionsProcess> => {
    const heaps: ((bytes: number) => void)[] = [];
    const member = starting.use(
      await startLabProcess<FunctionsMessage>({
        module: 'functions-main.ts',
        args: ['3600'],
        env,
        logFile: join(dir.path, `functions-${index}.log`),
        onMessage: (message) => heaps.shift()?.((message as HeapMessage).heapBytes),
      }),
    );
    return new FunctionsProcess(member.first.url, member.pid, heaps);
  };
  const processes: FunctionsProcess[] = [];
  for (let index = 0; index < count; index += 1) processes.push(await start(index));
  const running = starting.move();
  return { processes, [Symbol.asyncDispose]: () => running.disposeAsync() };
}
