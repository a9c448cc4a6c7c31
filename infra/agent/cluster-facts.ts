import type { Hello } from '../../shared/agent-protocol/messages.ts';
import { clusterFactLengthMax } from '../../shared/agent-protocol/messages.ts';
import type { Clock } from '../../shared/core/clock.ts';
import { mapConcurrently } from '../../shared/core/concurrency.ts';
import { waitAtMost } from '../../shared/core/deadline.ts';
import { getErrorMessage } from '../../shared/core/errors.ts';
import { asString, getPath } from '../../shared/core/json.ts';
import type { Logger } from '../../shared/core/logger.ts';
import { PlainCalls } from '../../shared/providers/kubernetes/transport/plain-calls.ts';
import type { AgentAccount } from './agent-config.ts';

/** Clusters that are asked at a time. */
const clustersAtOnce = 16;

/** Milliseconds that a session waits for all of them. */
const answerMs = 3_000;

/** What clusters are asked with. */
export interface ClusterFactsOptions {
  readonly accounts: readonly AgentAccount[];
  readonly clock: Clock;
  readonly log: Logger;
  readonly environment: { readonly [name: string]: string | undefined };
}

/**
 * What an agent tells of its accounts when it opens a session: which cluster each one is. What it may not read is left out, and so is what
 * did not come within three seconds: a cluster that hangs keeps those beside it from nothing.
 */
export async function tellClusters(options: ClusterFactsOptions): Promise<Hello['accounts']> {
  const known = new Map<string, AccountHello>();
  const asked = mapConcurrently(options.accounts, clustersAtOnce, async (account) => {
    known.set(account.name, await tellCluster(account, options));
  });
  await waitAtMost(options.clock, answerMs, asked);
  return options.accounts.map(({ name }) => known.get(name) ?? { name });
}

type AccountHello = Hello['accounts'][number];

async function tellCluster(account: AgentAccount, options: ClusterFactsOptions): Promise<AccountHello> {
  const { name, kubeConfigFile, context, serviceAccount, insecure, noProxy } = account;
  const { clock, log, environment } = options;
  const connection = {
    name,
    kubeconfigFile: kubeConfigFile,
    context,
    serviceAccount,
    insecure,
    noProxy,
    placement: 'local',
  } as const;
  await using calls = new PlainCalls({ connection, clock, log, environment });
  try {
    const [{ url }, space, version, certFingerprint] = await Promise.all([
      calls.locate(),
      calls.call({ method: 'GET', path: '/api/v1/namespaces/kube-system' }),
      calls.call({ method: 'GET', path: '/version' }),
      calls.findCertificate(),
    ]);
    const facts = {
      kubeHost: url,
      certFingerprint,
      kubeVersion: asString(getPath(version.body, 'gitVersion')) ?? '',
      clusterUid: space.status === 200 ? (asString(getPath(space.body, 'metadata', 'uid')) ?? '') : '',
    };
    const known = Object.entries(facts).filter(
      ([, text]) => text !== '' && text.length <= clusterFactLengthMax,
    );
    return { name, ...Object.fromEntries(known) };
  } catch (error) {
    // The session opens all the same: what needs the cluster says then what is wrong with it.
    log.warn('a cluster cannot be asked which one it is', { account: name, reason: getErrorMessage(error) });
    return { name };
  }
}
