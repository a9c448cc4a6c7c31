import { join } from 'node:path';
import { makeTempDir } from '#test/support/run/temp-dir.ts';
import { openApiClient } from './api-client.ts';
import type { BenchMode, PeerOptions } from './bench-options.ts';
import { type ProcessFigures, readProcessFigures } from './process-figures.ts';
import { type RunningSystemOptions, startRunningSystem } from './running-system.ts';

export interface BenchServer extends AsyncDisposable {
  readonly url: string;
  readonly account: string;
  /** Whether it is a server of somebody else, which runs already. */
  readonly isPeer: boolean;
  /** What its process uses; undefined where nobody told which process it is. */
  readonly readFigures: (() => Promise<ProcessFigures>) | undefined;
  /** How it ended, undefined while it runs or where nobody can know. */
  findEnd(): Promise<string | undefined>;
}

export interface BenchServerSource {
  readonly name: string;
  readonly isPeer: boolean;
  /**
   * Gets it ready. One that runs already is taken as it is.
   *
   * @param namespaces those that its account is about, where the server is our own
   * @throws Error when it cannot be had
   */
  open(namespaces: readonly string[]): Promise<BenchServer>;
}

/** What stands above the column of our own server in a mode. */
export function toOwnName(mode: BenchMode): string {
  return mode === 'default' ? 'Busdriver' : `Busdriver, ${mode}`;
}

/** The fields of our own account by which it is in a mode. */
export function toModeFields(mode: BenchMode): { readonly cacheMode?: BenchMode } {
  return mode === 'default' ? {} : { cacheMode: mode };
}

/** Busdriver as `npm start` runs it, new each time. @param more what it has beside its account of the control plane */
export function toOwnSource(
  mode: BenchMode,
  kubeconfig: string,
  more: Pick<RunningSystemOptions, 'accounts' | 'settings' | 'cache'> = {},
): BenchServerSource {
  return {
    name: toOwnName(mode),
    isPeer: false,
    async open(namespaces) {
      const dir = await makeTempDir();
      try {
        const account = { namespaces, ...toModeFields(mode) };
        const options = { dir: join(dir.path, 'system'), kubeconfig, account, ...more };
        const system = await startRunningSystem(options);
        return {
          ...system,
          isPeer: false,
          readFigures: () => readProcessFigures(system.pid),
          async [Symbol.asyncDispose]() {
            await system[Symbol.asyncDispose]();
            await dir[Symbol.asyncDispose]();
          },
        };
      } catch (error) {
        await dir[Symbol.asyncDispose]();
        throw error;
      }
    },
  };
}

export function toPeerSource({ name, url, pid, account }: PeerOptions): BenchServerSource {
  return {
    name,
    isPeer: true,
    open: async () => ({
      url,
      isPeer: true,
      account: account ?? (await findAccount(url)),
      readFigures: pid === undefined ? undefined : () => readProcessFigures(pid),
      findEnd: async () => undefined,
      [Symbol.asyncDispose]: async () => undefined,
    }),
  };
}

async function findAccount(url: string): Promise<string> {
  await using client = openApiClient(url);
  const accounts: unknown = JSON.parse(await client.get('/credentials'));
  if (!Array.isArray(accounts)) throw new Error('GET /credentials: expected a list');
  const account = accounts.find(({ type, cloudProvider }) => [type, cloudProvider].includes('kubernetes'));
  if (typeof account?.name !== 'string')
    throw new Error('GET /credentials: expected an account of Kubernetes, or --peer-account');
  return account.name;
}
