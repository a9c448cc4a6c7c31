import type { AccountBreakers } from '#accounts/model/account-breaker.ts';
import type { AwsEvent } from '#caching/scheduling/aws-event.ts';
import { type CachingAgent, defaultCachingAgentTimeoutMs } from '#caching/scheduling/caching-agent.ts';
import type { Clock, Randomness } from '#core/clock.ts';
import { asString } from '#core/json.ts';
import type { RegistryAccount } from './account.ts';
import type { AccountClient } from './account-client.ts';
import type { RepositoryKind } from './cached-tags.ts';
import type { RepositoryChange } from './image-platform.ts';

/** Clouddriver's names. It runs `cacheThreads` of each per account; here one is enough. */
const agentNames: { readonly [kind in RepositoryKind]: string } = {
  repository: 'DockerRegistryImageCachingAgent[1/1]',
  chart: 'DockerRegistryHelmOciCachingAgent[1/1]',
};

/** The options of caching agents. */
export interface CachingAgentParts {
  /** Opens the client of an account, the same each time. */
  openClient(account: RegistryAccount): Promise<AccountClient>;
  readonly clock: Clock;
  readonly randomness: Randomness;
  /** Reports the health of accounts. Default: not reported. */
  readonly breakers?: AccountBreakers | undefined;
}

/** Creates the caching agents of accounts. Nothing else is loaded or connected before one of them runs. */
export function createCachingAgents(
  accounts: readonly RegistryAccount[],
  { openClient, clock, randomness, breakers }: CachingAgentParts,
): readonly CachingAgent[] {
  const open = async (account: RegistryAccount, kind: RepositoryKind) => {
    const [{ runImageCachingAgent, updateRepository }, { client, listing }] = await Promise.all([
      import('./image-platform.ts'),
      openClient(account),
    ]);
    return { runImageCachingAgent, updateRepository, account, client, listing, clock, randomness, kind };
  };
  const toAgent = (account: RegistryAccount, kind: RepositoryKind): CachingAgent => {
    const breaker = breakers?.get(account.name, account.baseUrl.href);
    return {
      account: account.name,
      name: agentNames[kind],
      provider: account.cloudProvider,
      mode: 'interval',
      intervalMs: account.intervalMs,
      timeoutMs: defaultCachingAgentTimeoutMs,
      async run(run) {
        const { runImageCachingAgent, ...parts } = await open(account, kind);
        const { judgeRun } = await import('./run-health.ts');
        return judgeRun({ breaker, signal: run.signal }, () => runImageCachingAgent(parts, run));
      },
      findUpdate(event) {
        const change = findImageChange(event, account);
        if (change === undefined) return undefined;
        return async (run) => {
          const { updateRepository, ...parts } = await open(account, kind);
          return updateRepository(parts, change, run);
        };
      },
    };
  };
  return accounts.flatMap((account) => [
    toAgent(account, 'repository'),
    ...(account.charts.names.length > 0 ? [toAgent(account, 'chart')] : []),
  ]);
}

/**
 * The change in an account's registry that an event of ECR reports: an image was tagged, or deleted. Undefined for any other event; AWS:
 * "Sample events from Amazon ECR".
 */
function findImageChange(
  { source, detailType, account, region, detail }: AwsEvent,
  { ecr }: Pick<RegistryAccount, 'ecr'>,
): RepositoryChange | undefined {
  if (source !== 'aws.ecr' || detailType !== 'ECR Image Action') return undefined;
  if (ecr === undefined || ecr.registryId !== account || ecr.region !== region) return undefined;
  const repository = asString(detail['repository-name']);
  const tag = asString(detail['image-tag']) || undefined;
  const action = detail['action-type'];
  if (repository === undefined || detail['result'] !== 'SUCCESS') return undefined;
  if (action === 'DELETE') return { repository };
  // Images without a tag, such as the parts of a multi-platform image, are shown nowhere.
  return action === 'PUSH' && tag !== undefined ? { repository, pushedTag: tag } : undefined;
}
