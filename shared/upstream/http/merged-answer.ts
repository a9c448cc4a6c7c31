import { JsonBoundsError, parseBoundedJson } from '#core/bounded-json.ts';
import { FailedOperationError, getErrorMessage, NotFoundError, UnavailableError } from '#core/errors.ts';
import { gatherBytes } from '#core/gathered-bytes.ts';
import type { JsonValue } from '#core/json.ts';
import { type MergeName, merges } from '../merges.ts';
import type { Owners } from '../owners.ts';
import type { Upstream } from '../services/upstream.ts';
import type { UpstreamRequest } from '../services/upstream-client.ts';

/** The answer of a route. */
export interface RouteAnswer {
  readonly status: number;
  readonly body: string | Uint8Array | AsyncIterable<Uint8Array>;
  readonly contentType?: string;
  readonly headers?: { readonly [name: string]: string };
}

/** What is merged. */
export interface MergeCall {
  readonly upstream: Upstream;
  readonly owners: Owners;
  readonly asked: UpstreamRequest;
  readonly request: { readonly signal: AbortSignal };
  own(isConditional: boolean): Promise<RouteAnswer>;
}

/** Bytes of an answer that is merged, which is held in memory. */
export const mergedBytesMax = 32 << 20;

/** Bounds of the same, once it is parsed. */
const mergedBounds = { depthMax: 100, valuesMax: 4_000_000 };

/** The header of a list that lacks what is upstream. */
const partialHeader = { 'X-Busdriver-Partial': 'upstream' };

/** What the upstream has: a value, nothing of that name, or no answer and why. */
type Theirs = { readonly value: JsonValue } | { readonly value: undefined } | { readonly failure: string };

/**
 * Asks both sides at once, and merges. Without an answer of the upstream the list is ours alone, and says so, or is refused: see
 * `busdriver.upstream.partial`. Nothing is remembered, since the upstream answers each caller by their own rights.
 *
 * @throws UnavailableError for a refused list, and where only the upstream could say whether something exists
 */
export async function mergeAnswers(merge: MergeName, call: MergeCall): Promise<RouteAnswer> {
  const { upstream, owners } = call;
  const [own, theirs] = await Promise.all([answerOwn(call), askUpstream(call)]);
  // What was refused here is refused on both sides.
  if (own.isRefused) return own.get();
  if ('failure' in theirs) {
    if (own.text === undefined || upstream.settings.partial === 'refuse') {
      throw new UnavailableError(
        `The answer would lack what the Clouddriver upstream has: ${theirs.failure}`,
      );
    }
    return { ...own.get(), headers: { ...own.headers, ...partialHeader } };
  }
  if (theirs.value === undefined) return own.get();
  const ours = own.text === undefined ? undefined : parseBoundedJson(own.text, mergedBounds).value;
  const value = merges[merge]({
    ours,
    theirs: theirs.value,
    owns: owners.ownsAccount,
    leaves: (name) => owners.knowsAccount(name) && !owners.ownsAccount(name),
  });
  return { status: 200, body: JSON.stringify(value), headers: own.headers };
}

/** What is answered here. */
interface OwnAnswer {
  /** Answers with it alone. @throws NotFoundError for what does not exist here */
  get(): RouteAnswer;
  /** Undefined for what does not exist here. */
  readonly text: string | undefined;
  readonly headers: { readonly [name: string]: string };
  /** Whether it is neither a list nor 404. */
  readonly isRefused: boolean;
}

async function answerOwn({ own }: MergeCall): Promise<OwnAnswer> {
  try {
    // A tag that the caller has is of a merged answer.
    const answer = dropTag(await own(false));
    const { status, body, headers = {} } = answer;
    const text = status === 200 && typeof body === 'string' ? body : undefined;
    return { get: () => answer, text, headers, isRefused: text === undefined && status !== 404 };
  } catch (error) {
    if (!(error instanceof NotFoundError)) throw error;
    const get = (): never => {
      throw error;
    };
    return { get, text: undefined, headers: {}, isRefused: false };
  }
}

/** The answer without its tag, which is of ours alone. */
function dropTag(answer: RouteAnswer): RouteAnswer {
  const { ETag: _, ...headers } = answer.headers ?? {};
  return { status: answer.status, body: answer.body, headers };
}

async function askUpstream(call: MergeCall): Promise<Theirs> {
  const { breaker, state } = call.upstream;
  try {
    const value = await breaker.run(() => readUpstream(call));
    state.recordAnswer();
    return { value };
  } catch (error) {
    state.recordFailure(error);
    return { failure: getErrorMessage(error) };
  }
}

/** A JSON answer; undefined for 404. @throws VisibleError for any other one than JSON within its limits; it quotes nothing of the answer */
export async function readUpstream({
  upstream,
  asked,
  request,
}: Pick<MergeCall, 'upstream' | 'asked' | 'request'>): Promise<JsonValue | undefined> {
  const { 'if-none-match': _, ...headers } = asked.headers;
  const { timeoutMs } = upstream.settings;
  const { status, body } = await upstream.client.send(
    { ...asked, headers },
    { timeoutMs, signal: request.signal },
  );
  if (status !== 200) {
    body.destroy();
    if (status === 404) return undefined;
    throw new FailedOperationError(`it answered ${status}`);
  }
  const bytes = await gatherBytes(body, mergedBytesMax);
  if (bytes === undefined) {
    throw new FailedOperationError(`its answer is larger than ${mergedBytesMax} bytes`);
  }
  try {
    return parseBoundedJson(new TextDecoder().decode(bytes), mergedBounds).value;
  } catch (error) {
    const reason = error instanceof JsonBoundsError ? error.message : 'is no JSON';
    throw new FailedOperationError(`its answer ${reason}`, { cause: error });
  }
}
