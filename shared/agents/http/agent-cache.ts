import type { AccountEpoch, ObjectHead } from '#caching/store/cache-store.ts';
import { parseRevision } from '#caching/store/revision.ts';
import { AccessDeniedError, InvalidInputError } from '#core/errors.ts';
import { isJsonObject } from '#core/json.ts';
import type { ApiFunction } from '#http/api-function.ts';
import type { ApiRequest } from '#http/api-request.ts';
import type { ApiResponse } from '#http/api-response.ts';
import {
  type ChangesMessage,
  type ChangesOutcome,
  type EpochAnswer,
  type HeadsPage,
  type HeadsQuery,
  headsPageSize,
  type Prunes,
} from '../protocol/cache-messages.ts';
import { type AgentCacheHub, openAgentCache } from '../services/agent-cache.ts';
import { type AgentCaller, agentHandlerOf } from './agent-handler.ts';

/** Minutes by which an epoch that is raised may be ahead of the time: clocks differ. */
const epochAheadMinutes = 10;

type EpochMessage = NonNullable<EpochAnswer['current']>;

/** A request about what is cached of an account. */
export interface CacheRequest {
  readonly request: ApiRequest;
  readonly hub: AgentCacheHub;
  readonly caller: AgentCaller;
  /** One of the caller's accounts. */
  readonly account: string;
}

/** Makes a Lambda function for a route that is about what is cached of an account of the agent's session. */
export function cacheHandler(run: (request: CacheRequest) => Promise<ApiResponse>): ApiFunction {
  return agentHandlerOf(openAgentCache, async (request, hub, caller) => {
    const account = request.getParameter('account');
    // One that is unknown is refused in the same words.
    if (!caller.accounts.has(account))
      throw new AccessDeniedError(`Account ${account} is none of this session`);
    return run({ request, hub, caller, account });
  });
}

/** The epoch in force, and which kinds are cached. */
export async function readEpoch({ hub: { cache }, account }: CacheRequest): Promise<EpochAnswer> {
  const [current, kinds] = await Promise.all([cache.getEpoch(account), cache.listKinds(account)]);
  return { ...(current && { current: toEpochMessage(current) }), kinds: [...kinds] };
}

/** Raises the epoch of an account. @throws InvalidInputError for one from which there is no way back */
export async function raiseEpoch(
  { hub: { cache, clock }, account }: CacheRequest,
  { epoch, cluster: identity }: Pick<EpochMessage, 'epoch' | 'cluster'>,
): Promise<EpochAnswer> {
  const before = (await cache.getEpoch(account))?.epoch ?? 0;
  const most = Math.max(before + 1, Math.floor(clock.now() / 60_000) + epochAheadMinutes);
  if (epoch > most) throw new InvalidInputError(`epoch: expected ${most} at most, got ${epoch}`);
  return { current: toEpochMessage(await cache.raiseEpoch(account, { epoch, identity })), kinds: [] };
}

/** A page of what is cached of a kind. */
export async function listHeads(
  { hub: { cache }, account }: CacheRequest,
  { kind, namespace, name, withGone = false, page }: HeadsQuery,
): Promise<HeadsPage> {
  if (name !== undefined) {
    const key = { account, kind, location: namespace ?? '', name };
    const [found] = await cache.getObjects([key], { consistent: true });
    return { heads: found === undefined ? [] : [{ ...toHead(found), facts: found.readBody() }] };
  }
  const heads: ObjectHead[] = [];
  const after = page === undefined ? undefined : parsePage(page);
  for await (const found of cache.listHeads(account, kind, { location: namespace, withGone, after })) {
    heads.push(...found);
    if (heads.length > headsPageSize) break;
  }
  const told = heads.slice(0, headsPageSize);
  const last = heads.length > headsPageSize ? told.at(-1) : undefined;
  return { heads: told.map(toHead), ...(last && { next: formatPage(last.key) }) };
}

/** Writes a batch of changes. @throws InvalidInputError naming index and field of what is none: then nothing is written. */
export async function writeChanges(
  { hub, account }: CacheRequest,
  message: ChangesMessage,
): Promise<ChangesOutcome> {
  const { cache } = hub;
  const current = (await cache.getEpoch(account))?.epoch;
  if (current === undefined || message.epoch > current) {
    const expected = current === undefined ? 'that it is raised first' : `${current}, which is in force`;
    throw new InvalidInputError(`epoch: expected ${expected}, got ${message.epoch}`);
  }
  const receiver = await hub.loadReceiver(account);
  const changed = message.changes.map(({ namespace: location, ...change }) => ({ ...change, location }));
  const { changes, waiting, dropped, proof } = await receiver.write(
    { account, cache },
    { ...message, changes: changed },
  );
  return {
    ...{ changes, waiting: [...waiting], dropped: [...dropped] },
    ...(proof !== undefined && { proof }),
  };
}

/** Takes from the directory what applications do not have any more. */
export async function pruneApplications(
  { hub, account }: CacheRequest,
  { applications }: Prunes,
): Promise<Prunes> {
  const receiver = await hub.loadReceiver(account);
  return { applications: [...(await receiver.prune({ account, cache: hub.cache }, applications))] };
}

function toEpochMessage({ identity: cluster, ...epoch }: AccountEpoch): EpochMessage {
  return { ...epoch, cluster };
}

function toHead({
  key: { location: namespace, name },
  revision,
  gone,
}: ObjectHead): HeadsPage['heads'][number] {
  const { epoch, position: version } = parseRevision(revision);
  return { namespace, name, epoch, version, ...(gone && { gone }) };
}

function formatPage({ location: namespace, name }: Pick<ObjectHead['key'], 'location' | 'name'>): string {
  return Buffer.from(JSON.stringify({ namespace, name })).toString('base64url');
}

/** @throws InvalidInputError for what no page said */
function parsePage(page: string): Pick<ObjectHead['key'], 'location' | 'name'> {
  const refused = new InvalidInputError('page: expected what the page before said of the next one');
  try {
    const value: unknown = JSON.parse(Buffer.from(page, 'base64url').toString('utf8'));
    const { namespace, name } = isJsonObject(value) ? value : {};
    if (typeof namespace === 'string' && typeof name === 'string' && name !== '')
      return { location: namespace, name };
  } catch {
    throw refused;
  }
  throw refused;
}
