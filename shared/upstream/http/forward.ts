import type { APIGatewayProxyEvent } from 'aws-lambda';
import type { AuditedAct } from '#access/audit.ts';
import { getRoute } from '#access/http/access-table.ts';
import type { GateServices, RequestAccess } from '#access/http/request-access.ts';
import { InvalidInputError, NotFoundError } from '#core/errors.ts';
import { asJsonObject, asString, type JsonValue } from '#core/json.ts';
import type { Route } from '#functions/routes.ts';
import { unknownPath } from '#functions/upstream-routes.ts';
import type { Services } from '#platform/services/services.ts';
import type { ProviderSet } from '#provider-kit/provider-set.ts';
import { findKnowledge } from '#provider-kit/services/provider-source.ts';
import { findNewerProviders } from '#provider-kit/services/providers.ts';
import { listClaims, toClaimedAct } from '#tasks/requests/operation-claims.ts';
import type { TaskStore } from '#tasks/task.ts';
import { areForeign, type Owners } from '../owners.ts';
import { openUpstream, type Upstream } from '../services/upstream.ts';
import type { UpstreamRequest } from '../services/upstream-client.ts';
import { findUpstreamRule, type UpstreamRule } from '../upstream-rules.ts';
import { mergeAnswers, type RouteAnswer } from './merged-answer.ts';
import { toUpstreamRequest } from './upstream-request.ts';

/** A request whose caller was admitted, and what answers it here. */
export interface ForwardCall {
  readonly event: APIGatewayProxyEvent;
  /** The same request as functions see it. */
  readonly request: {
    findParameter(name: string): string | undefined;
    findQuery(name: string): string | undefined;
    getFlag(name: string, otherwise: boolean): boolean;
    parseJson(): JsonValue;
    audit(act: AuditedAct): void;
    readonly access: Pick<RequestAccess, 'identity'>;
    readonly signal: AbortSignal;
  };
  /** All services of the installation. */
  readonly all: Services;
  /** What the gate opened. */
  readonly services: GateServices;
  /** What the function opened. */
  readonly opened: object;
  /** Milliseconds until the function's time ends. */
  getRemainingMs(): number;
  /** Answers it here. @param isConditional whether `If-None-Match` counts. Default true */
  own(isConditional?: boolean): Promise<RouteAnswer>;
}

/** A call with what its way depends on. */
interface Way extends ForwardCall {
  readonly route: Route;
  readonly upstream: Upstream;
  readonly owners: Owners;
}

/** Milliseconds before the end of the function's time at which the upstream is given up: then it is still said whether that is safe. */
const answerBeforeEndMs = 1_000;

/** Answers a request here, or has it answered by the Clouddriver behind this one, or merges both answers: see {@link findUpstreamRule}. */
export async function forward(call: ForwardCall): Promise<RouteAnswer> {
  const { event, all, services } = call;
  const route = getRoute(event);
  const rule = findUpstreamRule(route);
  // Deployed functions do not know all settings, and would not agree.
  if (rule === undefined || findKnowledge(services.config).isDivided) return call.own();
  const upstream = openUpstream(all, services.settings);
  if (upstream === undefined) return call.own();
  return take(rule, { ...call, route, upstream, owners: toOwners(services.providers) });
}

async function take(rule: UpstreamRule, way: Way): Promise<RouteAnswer> {
  switch (rule.by) {
    case 'always':
      return send(way);
    case 'owner':
      return findOwner(way) === 'theirs' ? send(way) : way.own();
    case 'artifact':
      return isOurArtifact(way) ? way.own() : send(way);
    case 'operations':
      return (await areOperationsForeign(way))
        ? send(way, toClaimedAct(parseOperations(way.request)))
        : way.own();
    case 'task':
      return answerTask(way);
    case 'merge': {
      const owner = findOwner(way);
      if (owner === undefined) return mergeAnswers(rule.merge, { ...way, asked: toRequest(way, 'repeat') });
      return owner === 'theirs' ? send(way) : way.own();
    }
  }
}

/** An account that is configured here and cannot be used is ours, too: it must not be used elsewhere instead. */
function toOwners(providers: ProviderSet): Owners {
  return {
    ownsAccount: (name) =>
      providers.findAccount(name) !== undefined ||
      providers.rejectedAccounts.some((each) => each.name === name),
    ownsProvider: (id) => providers.clouds.some(({ name }) => name === id) || providers.takesOperations(id),
  };
}

/** The side of the account that a request names, else that of a provider that only the other side has; undefined where it names neither. */
function findOwner({ request, route, owners }: Way): 'ours' | 'theirs' | undefined {
  const account =
    request.findParameter('account') || request.findQuery('account') || findBodyAccount(request, route);
  if (account) return owners.ownsAccount(account) ? 'ours' : 'theirs';
  const provider = request.findParameter('cloudProvider');
  return provider === undefined || owners.ownsProvider(provider) ? undefined : 'theirs';
}

/** The account whose cache is to be refreshed. */
function findBodyAccount({ parseJson }: Way['request'], { method, path }: Route): string | undefined {
  if (method !== 'POST' || path !== '/cache/{cloudProvider}/{type}') return undefined;
  const { account, credentials } = asJsonObject(parseJson()) ?? {};
  return asString(account) ?? asString(credentials);
}

/** Whether an account of artifacts is ours, by the path, or by the artifact in the body. One that is not named is: the function refuses it. */
function isOurArtifact({ request, route, services }: Way): boolean {
  const body = route.method === 'PUT' ? (asJsonObject(request.parseJson()) ?? {}) : {};
  const account = request.findParameter('account') ?? asString(body['artifactAccount']);
  const type = request.findQuery('type') ?? asString(body['type']);
  const accounts = services.providers.findArtifactFetcher()?.accounts ?? [];
  if (!account) return true;
  return accounts.some(({ name, types }) => name === account && (type === undefined || types.includes(type)));
}

/**
 * Whether operations go upstream, by the newest settings: an account may have come to us a moment ago.
 *
 * @throws InvalidInputError for operations of both sides, and for a dry run: the other side would run them
 */
async function areOperationsForeign({ request, owners, services, all }: Way): Promise<boolean> {
  const claims = listClaims(parseOperations(request));
  const cloudProvider = request.findParameter('cloudProvider');
  if (!areForeign(claims, { ...owners, cloudProvider })) return false;
  const newer = await findNewerProviders({ ...services, all });
  if (newer && !areForeign(claims, { ...toOwners(newer.providers), cloudProvider })) return false;
  if (!request.getFlag('dryRun', false)) return true;
  throw new InvalidInputError(
    'dryRun: expected operations of accounts of Busdriver; the Clouddriver behind it would run these',
  );
}

/** The operations of a body; the one of a path with its name. */
function parseOperations(request: Way['request']): JsonValue {
  const operation = request.findParameter('operation');
  return operation === undefined ? request.parseJson() : [{ [operation]: request.parseJson() }];
}

/** Answers for a task here, and where it is not ours has the upstream answer. */
async function answerTask(way: Way): Promise<RouteAnswer> {
  try {
    return await way.own();
  } catch (error) {
    // Of a task that is not ours the function may refuse other things first.
    const mayBeTheirs = error instanceof NotFoundError || error instanceof InvalidInputError;
    if (!mayBeTheirs || (await isOurTask(way))) throw error;
    return send(way);
  }
}

async function isOurTask({ request, opened }: Way): Promise<boolean> {
  const { store } = opened as { readonly store?: Pick<TaskStore, 'find'> };
  const id = request.findParameter('id')?.replace(/:resume$/, '') ?? '';
  return store === undefined || (await store.find(id)) !== undefined;
}

/** Has the upstream answer, and hands its answer on as it comes. */
async function send(way: Way, claimed: Omit<AuditedAct, 'action'> = {}): Promise<RouteAnswer> {
  const { route, request, event, upstream } = way;
  const isUnknownChange = route.path === unknownPath && route.method !== 'GET';
  const action = isUnknownChange ? `${route.method} ${event.path}` : route.audit;
  if (action !== undefined) request.audit({ action, ...claimed, forwarded: 'upstream' });
  const timeoutMs = Math.max(way.getRemainingMs() - answerBeforeEndMs, answerBeforeEndMs);
  try {
    const { status, headers, body } = await upstream.client.send(toRequest(way, findRepetition(way)), {
      timeoutMs,
      signal: request.signal,
    });
    if (status < 400) upstream.state.recordAnswer();
    const { 'content-type': contentType, ...others } = headers;
    return { status, body, headers: others, ...(contentType !== undefined && { contentType }) };
  } catch (error) {
    upstream.state.recordFailure(error);
    throw error;
  }
}

function findRepetition({ route, request, upstream }: Way): UpstreamRequest['repetition'] {
  if (route.method !== 'POST' || route.path.startsWith('/cache/')) return 'repeat';
  const isKnown =
    upstream.settings.deduplicates && route.path.includes('/ops') && request.findQuery('clientRequestId');
  return isKnown ? 'deduplicated' : 'once';
}

function toRequest(
  { event, route, request, upstream }: Way,
  repetition: UpstreamRequest['repetition'],
): UpstreamRequest {
  const asking = { identity: request.access.identity, isProven: upstream.isIdentityProven };
  return { ...toUpstreamRequest(event, route, asking), repetition };
}
