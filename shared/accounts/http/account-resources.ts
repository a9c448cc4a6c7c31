import { randomUUID } from 'node:crypto';
import { demandRefresh } from '#caching/scheduling/demand-refresh.ts';
import type { ProviderResource } from '#contract/answers/providers.ts';
import { NotFoundError, OverdueError } from '#core/errors.ts';
import { type ApiRequest, type ApiResponse, ok } from '#http/api-handler.ts';
import { createViews, type ReadServices } from '#views/services/views.ts';

/** Milliseconds that a request waits until its account is listed. */
const listWaitMs = 15_000;

/** Milliseconds between two checks whether a new account has caching agents. */
const agentsPauseMs = 500;

/**
 * Has the account of the path listed again, and returns what Spinnaker deployed to it.
 *
 * @throws NotFoundError for an unknown account; OverdueError where it was not listed within 15 seconds: the listing continues
 */
export async function loadProviderResources(
  request: ApiRequest,
  services: ReadServices,
): Promise<ApiResponse> {
  const { clock } = services;
  const account = getAccount(request, services);
  const calledAtMs = clock.now();
  const asOfMs = await listAnew(request, services, account);
  if (asOfMs === undefined || asOfMs < calledAtMs) {
    throw new OverdueError(
      `The account ${account} was not listed within ${listWaitMs / 1000} seconds: that goes on, or its cluster does not answer`,
    );
  }
  const mayRead = (name: string): boolean => name === account;
  const { views } = await createViews({ ...services, mayRead });
  const resources = (await views.listAccountResources?.(account)) ?? [];
  const common = {
    accountName: account,
    taskId: randomUUID(),
    timestamp: new Date(asOfMs).toISOString(),
  };
  return ok<readonly ProviderResource[]>(resources.map((resource) => ({ ...common, ...resource })));
}

/** Has the account of the path listed again, without waiting: 204. @throws NotFoundError for an unknown account */
export async function deleteProviderResources(
  request: ApiRequest,
  services: ReadServices,
): Promise<ApiResponse> {
  const { clock, providers: _, ...others } = services;
  const account = getAccount(request, services);
  const deadlineMs = clock.monotonic() + 1;
  await demandRefresh({ ...others, clock }, [account], { maxAgeMs: 0, deadlineMs, signal: request.signal });
  return { status: 204, body: '' };
}

function getAccount(request: ApiRequest, { providers }: Pick<ReadServices, 'providers'>): string {
  const account = request.getParameter('account');
  if (providers.findAccount(account) === undefined) throw new NotFoundError('provider not found');
  return account;
}

/** Everything that was so at the returned time is in the cache; undefined where unknown. */
async function listAnew(
  { signal }: ApiRequest,
  services: ReadServices,
  account: string,
): Promise<number | undefined> {
  const { clock } = services;
  const deadlineMs = clock.monotonic() + listWaitMs;
  for (;;) {
    const freshness = await demandRefresh(services, [account], { maxAgeMs: 0, deadlineMs, signal });
    const found = freshness.get(account);
    if (found !== undefined || clock.monotonic() >= deadlineMs) return found?.asOfMs;
    // A new account has no caching agents yet.
    await clock.sleep(agentsPauseMs, signal);
  }
}
