import { toDeploy } from '../system/config-map-deploy.ts';
import { type System, type SystemTask, startSystem } from '../system/system.ts';
import type { AgentProcess, StartAgentOptions, TokenSigner } from './agent-process.ts';
import { createTokenSigner, findFreePort, startAgent, toAgentAccount } from './agent-process.ts';
import { callRaw, openRawAgent, type RawAgent, type RawAnswer, type RawHello } from './raw-agent.ts';

/** Agents ask so often that nobody waits for that. */
const often = { pollIdleMs: 100, pollBusyMs: 50, pollConnectedMs: 100 };

/** Milliseconds for a deploy through an agent, on a machine that does much else. */
const taskMs = 60_000;

/** What a world has beside its accounts. */
export interface WorldOptions {
  /** Of accounts that are given by their names, and of agents. Default: one of its own. */
  readonly signer?: TokenSigner;
  /** Whether it keeps its port when it is restarted. Default: false. */
  readonly keepsPort?: boolean;
  /** Further arguments of `npm start`, and variables of its environment. */
  readonly args?: readonly string[];
  readonly env?: { readonly [name: string]: string };
  /** What `busdriver.agents` says beside that they are served, and ask often. */
  readonly agents?: { readonly [setting: string]: unknown };
  /** `kubernetes.cache`. Default: nothing is cached, for tests are about one thing. */
  readonly cache?: { readonly [setting: string]: unknown };
  /** Other settings. */
  readonly settings?: object;
}

/** A system, and agents of its accounts. */
export interface World extends AsyncDisposable {
  readonly system: System;
  readonly signer: TokenSigner;
  /** Starts an agent of one account or of several, which reach the cluster by one kubeconfig. */
  start(
    names: string | readonly string[],
    kubeConfigFile: string,
    others?: Partial<StartAgentOptions>,
  ): Promise<AgentProcess>;
  /** Opens a session as an agent of these accounts does. @throws Error where it is refused */
  open(accounts: RawHello['accounts'], others?: Partial<RawHello>): Promise<RawAgent>;
  /** Calls the API. */
  call(method: string, target: string, body?: object): Promise<RawAnswer>;
  /** Posts a deploy of ConfigMaps. @returns the task's id */
  post(account: string, namespace: string, ...names: readonly string[]): Promise<string>;
  /** The same, and waits for the end. */
  deploy(account: string, namespace: string, ...names: readonly string[]): Promise<SystemTask>;
}

/**
 * Starts a system that serves agents.
 *
 * @param accounts names of those that agents of the world's signer serve, and settings of others
 */
export async function startWorld(
  accounts: readonly (string | object)[],
  options: WorldOptions = {},
): Promise<World> {
  await using starting = new AsyncDisposableStack();
  const { signer = await createTokenSigner(), keepsPort = false, args = [], env = {} } = options;
  const port = keepsPort ? ['--port', String(await findFreePort())] : [];
  const system = starting.use(
    await startSystem({ settings: toSettings(accounts, signer, options), args: [...port, ...args], env }),
  );
  const running = starting.move();
  const post: World['post'] = (account, namespace, ...names) =>
    system.postOperations([toDeploy(account, namespace, names)]);
  return {
    ...{ system, signer, post },
    start: async (names, kubeConfigFile, others) =>
      startAgent({
        ...{ url: system.url, token: await signer.sign({ lifeSeconds: 3_600 }) },
        accounts: [names].flat().map((name) => ({ name, kubeConfigFile })),
        ...others,
      }),
    open: (names, others) =>
      openRawAgent(system.url, signer, { agentId: 'test', accounts: names, ...others }),
    call: (method, target, body) => callRaw(system.url, { method, target, body }),
    deploy: async (...what) => system.waitForTask(await post(...what), { timeoutMs: taskMs }),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

function toSettings(
  accounts: readonly (string | object)[],
  signer: TokenSigner,
  { agents, cache = { enabled: false }, settings }: WorldOptions,
): object {
  const all = accounts.map((each) => (typeof each === 'string' ? toAgentAccount(each, signer) : each));
  return {
    busdriver: { agents: { enabled: true, limits: often, ...agents } },
    kubernetes: { accounts: all, cache },
    ...settings,
  };
}
