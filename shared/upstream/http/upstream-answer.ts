import type { APIGatewayProxyEvent } from 'aws-lambda';
import type { AuditedAct } from '#access/audit.ts';
import type { GateServices, RequestAccess } from '#access/http/request-access.ts';
import type { JsonValue } from '#core/json.ts';
import type { Route } from '#functions/routes.ts';
import { unknownPath } from '#functions/upstream-routes.ts';
import type { Services } from '#platform/services/services.ts';
import type { Owners } from '../owners.ts';
import type { Upstream } from '../services/upstream.ts';
import type { UpstreamRequest } from '../services/upstream-client.ts';
import type { RouteAnswer } from './merged-answer.ts';
import { toUpstreamRequest } from './upstream-request.ts';

/** A request whose caller was admitted, and what answers it here. */
export interface ForwardCall {
  readonly event: APIGatewayProxyEvent;
  /** The same request as functions see it. */
  readonly request: {
    findParameter(name: string): string | undefined;
    findQuery(name: string): string | undefined;
    findHeader(name: string): string | undefined;
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
export interface Way extends ForwardCall {
  readonly route: Route;
  readonly upstream: Upstream;
  readonly owners: Owners;
}

/** Milliseconds before the end of the function's time at which the upstream is given up: then it is still said whether that is safe. */
const answerBeforeEndMs = 1_000;

/** An answer of the upstream, as it comes. */
type UpstreamRouteAnswer = RouteAnswer & { readonly body: AsyncIterable<Uint8Array> };

/** Has the upstream answer, and hands its answer on as it comes. @throws what the client throws */
export async function send(way: Way, claimed: Omit<AuditedAct, 'action'> = {}): Promise<UpstreamRouteAnswer> {
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

/** What becomes of a request that is sent a second time. */
export function findRepetition({ route, request, upstream }: Way): UpstreamRequest['repetition'] {
  if (route.method !== 'POST' || route.path.startsWith('/cache/')) return 'repeat';
  const isKnown =
    upstream.settings.deduplicates && route.path.includes('/ops') && request.findQuery('clientRequestId');
  return isKnown ? 'deduplicated' : 'once';
}

/** The request as it goes upstream. */
export function toRequest(
  { event, route, request, upstream }: Way,
  repetition: UpstreamRequest['repetition'],
): UpstreamRequest {
  const asking = { identity: request.access.identity, isProven: upstream.isIdentityProven };
  return { ...toUpstreamRequest(event, route, asking), repetition };
}
