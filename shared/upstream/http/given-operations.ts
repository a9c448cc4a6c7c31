import type { AuditedAct } from '#access/audit.ts';
import {
  FailedOperationError,
  InvalidInputError,
  NotFoundError,
  UnavailableError,
  VisibleError,
} from '#core/errors.ts';
import { gatherBytes } from '#core/gathered-bytes.ts';
import { asString, getPath, type JsonValue, parseJson } from '#core/json.ts';
import { openBase } from '#platform/services/base.ts';
import { findNewerProviders } from '#provider-kit/services/providers.ts';
import { listClaims, type OperationClaim, toClaimedAct } from '#tasks/requests/operation-claims.ts';
import type { Task, TaskStore } from '#tasks/task.ts';
import { areForeign, type Owners } from '../owners.ts';
import { toOwners } from '../services/known-owners.ts';
import { type Entry, openOwnership, ownerWaitMs } from '../services/ownership.ts';
import { NothingSentError } from '../services/upstream-client.ts';
import { type RouteAnswer, readUpstream } from './merged-answer.ts';
import { findRepetition, send, toRequest, type Way } from './upstream-answer.ts';

/** Bytes of the answer to operations: an id and a path. */
const referenceBytesMax = 64 << 10;

/** Milliseconds that operations keep of their function's time once they have waited for their account. */
const beginMs = 5_000;

/**
 * Has the owner of their accounts begin operations.
 *
 * @throws InvalidInputError for operations of both sides, and for a dry run upstream, which would be a real one; UnavailableError while an
 *   account changes hands
 */
export async function answerOperations(way: Way): Promise<RouteAnswer> {
  const { request } = way;
  const body = parseOperations(request);
  const claims = listClaims(body);
  const cloudProvider = request.findParameter('cloudProvider');
  const owners = await findNewestOwners(way, claims);
  return runEntered({ ...way, owners }, listAccounts(claims), async (entry) => {
    const ownsAccount = (name: string): boolean => entry.findOwner(name) === 'ours';
    const isForeign = areForeign(claims, { ...owners, ownsAccount, cloudProvider });
    if (!isForeign) return keep(way, entry);
    if (!request.getFlag('dryRun', false)) return give(way, entry, toClaimedAct(body));
    throw new InvalidInputError(
      'dryRun: expected operations of accounts of Busdriver; the Clouddriver behind it would run these',
    );
  });
}

/** The operations of a body; the one of a path with its name. */
function parseOperations(request: Way['request']): JsonValue {
  const operation = request.findParameter('operation');
  return operation === undefined ? request.parseJson() : [{ [operation]: request.parseJson() }];
}

function listAccounts(claims: readonly OperationClaim[]): readonly string[] {
  return [...new Set(claims.flatMap(({ account }) => account ?? []))];
}

/** The owners by the newest settings, where an account is not ours by these: it may have come to us a moment ago. */
async function findNewestOwners(
  { owners, services, all, upstream }: Way,
  claims: readonly OperationClaim[],
): Promise<Owners> {
  if (claims.every(({ account }) => account === undefined || owners.ownsAccount(account))) return owners;
  const newer = await findNewerProviders({ ...services, all });
  return newer ? toOwners(newer.providers, upstream.settings) : owners;
}

/** Answers for a task here, and where it is not ours has the upstream answer. It is started again by the owner of its accounts alone. */
export async function answerTask(way: Way): Promise<RouteAnswer> {
  const isStart = way.route.method === 'POST';
  const ours = isStart ? await findOurTask(way) : undefined;
  if (ours) return startAgain(way, ours.accounts, 'ours');
  try {
    return await way.own();
  } catch (error) {
    // Of a task that is not ours the function may refuse other things first.
    const mayBeTheirs = error instanceof NotFoundError || error instanceof InvalidInputError;
    if (!mayBeTheirs || (await findOurTask(way)) !== undefined) throw error;
  }
  const accounts = isStart ? await openOwnership(way.all).findTaskAccounts(getTaskId(way)) : undefined;
  return accounts ? startAgain(way, accounts, 'theirs') : send(way);
}

function startAgain(way: Way, of: readonly string[], side: 'ours' | 'theirs'): Promise<RouteAnswer> {
  const { method, path } = way.route;
  const hasBody = method === 'POST' && path.endsWith('/restart');
  const accounts = new Set([...of, ...(hasBody ? listAccounts(listClaims(way.request.parseJson())) : [])]);
  return runEntered(way, [...accounts], async (entry) => {
    if ([...accounts].every((name) => entry.findOwner(name) === side))
      return side === 'ours' ? keep(way, entry) : give(way, entry, {});
    const other = side === 'ours' ? 'the Clouddriver upstream' : 'Busdriver';
    throw new InvalidInputError(
      `Task ${getTaskId(way)} cannot be started again: its account belongs to ${other} now`,
    );
  });
}

async function findOurTask(way: Way): Promise<Task | undefined> {
  const { store } = way.opened as { readonly store?: Pick<TaskStore, 'find'> };
  return store?.find(getTaskId(way));
}

function getTaskId({ request }: Way): string {
  return request.findParameter('id')?.replace(/:resume$/, '') ?? '';
}

/** Operations that name no account enter nothing. */
const noEntry: Entry = { findOwner: () => 'ours', noteTask: async () => {}, leave: async () => {} };

/** Runs what begins operations while their accounts keep their owners. What may have begun stays noted. */
async function runEntered(
  way: Way,
  accounts: readonly string[],
  begin: (entry: Entry) => Promise<RouteAnswer>,
): Promise<RouteAnswer> {
  if (accounts.length === 0) return begin(noEntry);
  const { request, owners } = way;
  const entry = await openOwnership(way.all).enter({
    accounts,
    requestId: request.findQuery('clientRequestId') ?? '',
    waitMs: Math.min(way.getRemainingMs() - beginMs, ownerWaitMs),
    signal: request.signal,
    findWanted: (name) => (owners.ownsAccount(name) ? 'ours' : 'theirs'),
    isKnown: owners.knowsAccount,
    hasEnded: (taskId) => hasEnded(way, taskId),
  });
  try {
    return await begin(entry);
  } catch (error) {
    const mayHaveBegun = error instanceof UnavailableError || error instanceof FailedOperationError;
    const isRefused = error instanceof VisibleError && !mayHaveBegun;
    if (isRefused || error instanceof NothingSentError) await entry.leave();
    throw error;
  }
}

/** Begins operations here: their task is stored when it is answered. */
async function keep(way: Way, entry: Entry): Promise<RouteAnswer> {
  const answer = await way.own();
  await entry.leave();
  return answer;
}

/**
 * Begins operations upstream, and notes their task.
 *
 * @throws FailedOperationError where the answer was lost, or UnavailableError where its caller may ask again
 */
async function give(way: Way, entry: Entry, claimed: Omit<AuditedAct, 'action'>): Promise<RouteAnswer> {
  const answer = await send(way, claimed);
  if (answer.status >= 400) {
    if (answer.status < 500) await entry.leave();
    return answer;
  }
  const body = await gatherBytes(answer.body, referenceBytesMax).catch(() => undefined);
  if (body === undefined) {
    const message =
      'The Clouddriver upstream took the operations, and its answer was lost: look for their task before you repeat them';
    if (findRepetition(way) === 'deduplicated') throw new UnavailableError(message);
    throw new FailedOperationError(message);
  }
  const taskId = asString(getPath(parseJson(new TextDecoder().decode(body)) as JsonValue, 'id'));
  if (taskId) {
    await entry.noteTask(taskId).catch((error: unknown) => {
      openBase(way.all).log.warn(
        'a task upstream could not be noted: its account changes hands an hour later',
        {
          ...{ taskId, error },
        },
      );
    });
  }
  return { ...answer, body };
}

/** Whether a task upstream has ended, as far as the upstream says so; one that it does not know has. */
async function hasEnded(way: Way, taskId: string): Promise<boolean> {
  const { upstream, request } = way;
  const asked = { ...toRequest(way, 'repeat'), method: 'GET', body: undefined };
  try {
    const path = `/task/${encodeURIComponent(taskId)}`;
    const task = await readUpstream({ upstream, request, asked: { ...asked, path } });
    return task === undefined || getPath(task, 'status', 'completed') === true;
  } catch (error) {
    upstream.state.recordFailure(error);
    return false;
  }
}
