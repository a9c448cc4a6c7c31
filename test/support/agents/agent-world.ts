import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { makeTempDir, type TempDir } from '../run/temp-dir.ts';
import { type System, startSystem } from '../system/system.ts';

/** A system with some accounts. */
export interface World extends AsyncDisposable {
  readonly system: System;
}

/** What `busdriver.agents` says. */
export interface WorldAgents {
  /** Default true. */
  readonly enabled?: boolean;
  /** Default: agents ask often. */
  readonly limits?: object;
  readonly minimumVersion?: string;
}

/** Starts a system that serves agents, unless told otherwise, who ask often. Nothing is cached: tests are about one thing. */
export async function startWorld(
  accounts: readonly object[],
  args: readonly string[] = [],
  agents: WorldAgents = {},
): Promise<World> {
  return open({ accounts, cache: { enabled: false } }, args, agents);
}

/** Starts one whose accounts are kept cached. @param options.agents as of `startWorld`; all else is what `kubernetes.cache` says */
export async function startCachingWorld(
  accounts: readonly object[],
  args: readonly string[] = [],
  { agents = {}, ...cache }: { readonly agents?: WorldAgents; readonly [key: string]: unknown } = {},
): Promise<World> {
  return open({ accounts, cache }, args, agents);
}

async function open(
  kubernetes: object,
  args: readonly string[],
  {
    enabled = true,
    limits = { pollIdleMs: 100, pollBusyMs: 50, pollConnectedMs: 100 },
    minimumVersion,
  }: WorldAgents,
): Promise<World> {
  const dir: TempDir = await makeTempDir();
  const file = path.join(dir.path, 'clouddriver.yml');
  const agents = { enabled, limits, minimumVersion };
  await writeFile(file, JSON.stringify({ busdriver: { agents }, kubernetes }));
  const system = await startSystem({ config: [file], args });
  return {
    system,
    async [Symbol.asyncDispose]() {
      await system[Symbol.asyncDispose]();
      await dir[Symbol.asyncDispose]();
    },
  };
}

/** A deploy of ConfigMaps without versions. */
export function toDeploy(account: string, namespace: string, names: readonly string[]): object {
  const manifests = names.map((name) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace, annotations: { 'strategy.spinnaker.io/versioned': 'false' } },
    data: { by: account },
  }));
  return { deployManifest: { account, moniker: { app: 'shop' }, manifests } };
}
