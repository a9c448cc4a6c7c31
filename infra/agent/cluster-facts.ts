import { CoreV1Api, VersionApi } from '@kubernetes/client-node';
import { clusterFactLengthMax, type Hello } from '#agents/protocol/messages.ts';
import type { Clock } from '#core/clock.ts';
import { mapConcurrently } from '#core/concurrency.ts';
import { waitAtMost } from '#core/deadline.ts';
import { getErrorMessage } from '#core/errors.ts';
import type { Logger } from '#core/logger.ts';
import { KubernetesApiError } from '#providers/kubernetes/api/errors.ts';
import { ClusterApis } from '#providers/kubernetes/calls/cluster-apis.ts';
import { type AgentAccount, toConnection } from './config/agent-config.ts';

/** Clusters that are asked at a time. */
const clustersAtOnce = 16;

/** Milliseconds that a session waits for all of them. */
const answerMs = 3_000;

/** Milliseconds for which an answer holds: a Busdriver that has too much to do is asked many times, and clusters are not to hear of it. */
const rememberedMs = 60_000;

/** Dependencies of asking clusters. */
export interface ClusterFactsOptions {
  readonly accounts: readonly AgentAccount[];
  readonly clock: Clock;
  readonly log: Logger;
  readonly environment: { readonly [name: string]: string | undefined };
}

/**
 * Which cluster each account of an agent is, as reported when a session is opened. Facts that the agent may not read are left out, and so is what
 * did not come within three seconds: a cluster that hangs keeps those beside it from nothing.
 */
export class ClusterFacts {
  readonly #options: ClusterFactsOptions;
  readonly #known = new Map<string, KnownFacts>();

  constructor(options: ClusterFactsOptions) {
    this.#options = options;
  }

  /** Asks the clusters that were not asked within a minute. Never rejects. */
  async tell(): Promise<Hello['accounts']> {
    const { accounts, clock } = this.#options;
    const sinceMs = clock.monotonic() - rememberedMs;
    for (const [name, { atMs }] of this.#known) if (atMs < sinceMs) this.#known.delete(name);
    const asked = accounts.filter(({ name }) => !this.#known.has(name));
    const answers = mapConcurrently(asked, clustersAtOnce, async (account) => {
      const facts = await tellCluster(account, this.#options);
      if (facts !== undefined) this.#known.set(account.name, { facts, atMs: clock.monotonic() });
    });
    await waitAtMost(clock, answerMs, answers);
    return accounts.map(({ name }) => ({ name, ...this.#known.get(name)?.facts }));
  }
}

interface KnownFacts {
  readonly facts: Omit<AccountHello, 'name'>;
  /** When the cluster answered them, by the monotonic clock. */
  readonly atMs: number;
}

type AccountHello = Hello['accounts'][number];

/** @returns undefined where the cluster does not answer */
async function tellCluster(
  account: AgentAccount,
  options: ClusterFactsOptions,
): Promise<KnownFacts['facts'] | undefined> {
  const { log } = options;
  await using apis = new ClusterApis({ ...options, connection: toConnection(account) });
  try {
    const { url } = await apis.locate();
    // One after the other, on one connection: many agents begin at one moment where a machine is started.
    const space = await apis.get(CoreV1Api).readNamespace({ name: 'kube-system' }).catch(ignoreRefusal);
    const version = await apis.get(VersionApi).getCode().catch(ignoreRefusal);
    const facts = {
      kubeHost: url,
      certFingerprint: await apis.findCertificate(),
      kubeVersion: version?.gitVersion ?? '',
      clusterUid: space?.metadata?.uid ?? '',
    };
    const known = Object.entries(facts).filter(
      ([, text]) => text !== '' && text.length <= clusterFactLengthMax,
    );
    return Object.fromEntries(known);
  } catch (error) {
    // The session opens all the same: what needs the cluster says then what is wrong with it.
    log.warn('a cluster cannot be asked which one it is', {
      account: account.name,
      reason: getErrorMessage(error),
    });
    return undefined;
  }
}

/** @throws what is no refusal: the cluster did not answer */
function ignoreRefusal(error: unknown): undefined {
  if (!(error instanceof KubernetesApiError)) throw error;
}
