import { getRoute } from '#access/http/access-table.ts';
import { asJsonObject, asString } from '#core/json.ts';
import type { Route } from '#functions/routes.ts';
import { findKnowledge } from '#provider-kit/services/provider-source.ts';
import { toOwners } from '../services/known-owners.ts';
import { openUpstream } from '../services/upstream.ts';
import { findUpstreamRule, type UpstreamRule } from '../upstream-rules.ts';
import { answerOperations, answerTask } from './given-operations.ts';
import { mergeAnswers, type RouteAnswer } from './merged-answer.ts';
import { type ForwardCall, send, toRequest, type Way } from './upstream-answer.ts';

export type { ForwardCall } from './upstream-answer.ts';

/** Answers a request here, or has it answered by the Clouddriver behind this one, or merges both answers: see {@link findUpstreamRule}. */
export async function forward(call: ForwardCall): Promise<RouteAnswer> {
  const { event, all, services } = call;
  const route = getRoute(event);
  const rule = findUpstreamRule(route);
  // Deployed functions do not know all settings, and would not agree.
  if (rule === undefined || findKnowledge(services.config).isDivided) return call.own();
  const upstream = openUpstream(all, services.settings);
  if (upstream === undefined || isAskedAlone(call, route)) return call.own();
  return take(rule, { ...call, route, upstream, owners: toOwners(services.providers, upstream.settings) });
}

/** Whether a reader wants what this side has, to compare it: of an account that the upstream keeps, too. */
function isAskedAlone({ request }: ForwardCall, { method }: Route): boolean {
  return method === 'GET' && request.findHeader('x-busdriver-upstream') === 'none';
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
      return answerOperations(way);
    case 'task':
      return answerTask(way);
    case 'merge': {
      const owner = findOwner(way);
      if (owner === undefined) return mergeAnswers(rule.merge, { ...way, asked: toRequest(way, 'repeat') });
      return owner === 'theirs' ? send(way) : way.own();
    }
  }
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
