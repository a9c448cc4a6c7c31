import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { parseVerbatimJson } from '#core/bounded-json.ts';
import { mapConcurrently } from '#core/concurrency.ts';
import { AccountDownError, UnavailableError } from '#core/errors.ts';
import type { JsonValue } from '#core/json.ts';
import { openBase } from '#platform/services/base.ts';
import type { Services } from '#platform/services/services.ts';
import { describeSeen } from '#tasks/task-inbox.ts';
import type { AgentSessionStore } from '../agent-session.ts';
import { getAnswerBytesMax, type LiveRead, type LiveReadAnswer, type LiveReadStore } from '../live-read.ts';
import type { ReadFailure } from '../protocol/messages.ts';
import { fromReadFailure } from '../protocol/read-failure.ts';
import type { ReadCall } from '../protocol/remote-readers.ts';
import { openAgentSessions } from '../sessions/agent-sessions.ts';
import { openHints } from '../sessions/hints.ts';
import { openAwaitedAnswers } from './awaited-answers.ts';
import { openLiveReads } from './live-reads.ts';

/** Parts of an answer that are read at a time. */
const partsAtATime = 8;

/** Of an answer: nothing that a cluster has is nested so deep, or has so many values. An API server may answer as much. */
const bounds = { depthMax: 1_000, valuesMax: 750_000 };

const unpack = promisify(gunzip);

/**
 * Has an agent of an account make a read, and waits for its answer: 18 seconds at most, and not at all where none is connected.
 *
 * @throws AccountDownError where no agent answers; what the agent's reader threw
 */
export async function askAgent(
  services: Services,
  { account, method, args, signal }: ReadCall,
): Promise<JsonValue> {
  const { clock, randomness, log } = openBase(services);
  const reads = openLiveReads(services);
  const awaited = openAwaitedAnswers(services);
  const read: LiveRead = {
    ...{ id: randomness.id(), account, method },
    args: JSON.stringify(args),
    acceptedAtMs: clock.now(),
    waiter: awaited.port?.name,
  };
  const ended = new AbortController();
  const signals = signal === undefined ? [ended.signal] : [ended.signal, signal];
  let answer: LiveReadAnswer | undefined;
  try {
    await reads.add(read);
    void openHints(services).send({ kind: 'READ', account, id: read.id });
    // Beside the looks: of many sessions it takes a while, and an answer may be there before.
    checkConnected(openAgentSessions(services), account).catch((error: unknown) => ended.abort(error));
    answer = await awaited.wait(read, { reads, clock, signal: AbortSignal.any(signals) });
    return await openAnswer(reads, read, answer);
  } finally {
    ended.abort('no caller waits any more');
    // The rest is forgotten after a minute.
    await reads
      .remove(read, answer)
      .catch((error: unknown) => log.warn('a live read could not be removed', { account, error }));
  }
}

/** @throws AccountDownError where no agent of the account is connected */
async function checkConnected(sessions: AgentSessionStore, account: string): Promise<void> {
  const seen = await sessions.findSeen(account);
  if (seen?.isConnected) return;
  throw new AccountDownError(`No agent of account ${account} is connected; ${describeSeen(seen)}`);
}

async function openAnswer(
  reads: LiveReadStore,
  { id, account, method }: LiveRead,
  { take, parts, bytes: kept, failure }: LiveReadAnswer,
): Promise<JsonValue> {
  if (failure !== undefined) throw fromReadFailure(JSON.parse(failure) as ReadFailure);
  const places = Array.from({ length: parts }, (_, part) => ({ id, take, part }));
  const pieces = await mapConcurrently(places, partsAtATime, (place) => reads.findPart(place));
  try {
    const packed = kept ?? Buffer.concat(pieces.map((piece) => piece ?? new Uint8Array()));
    const bytes = await unpack(packed, { maxOutputLength: getAnswerBytesMax(method) });
    return parseVerbatimJson(bytes.toString('utf8'), bounds);
  } catch (error) {
    throw new UnavailableError(`The agent of account ${account} answered what cannot be read`, {
      cause: error,
    });
  }
}
