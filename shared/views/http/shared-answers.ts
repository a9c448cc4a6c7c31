import type { PastReads, RequestReads } from '#caching/store/request-cache.ts';
import { JoinedWrites } from '#core/joined-writes.ts';
import type { RememberedBytes } from '#core/remembered-bytes.ts';
import { packOnce } from '#http/answer.ts';
import type { ApiResponse } from '#http/api-handler.ts';

/** A response, and the accounts it depends on; undefined where unknown: then all that it might have. */
export interface ViewAnswer {
  readonly response: ApiResponse & { readonly body: string };
  /** The tag of its body. */
  readonly tag: string;
  readonly accounts: readonly string[] | undefined;
}

/** How to make an answer. */
export interface AnswerMaking {
  /** What else than its request and the cache it depends on, by identity. */
  readonly providers: object;
  readonly reads: RequestReads;
  /** Limits what is remembered. */
  readonly remembered: RememberedBytes;
  /** Reads nothing but `reads.cache`. */
  make(): Promise<ViewAnswer>;
}

interface RememberedAnswer {
  readonly answer: ViewAnswer;
  readonly providers: object;
  readonly reads: PastReads;
}

/** Bytes of a body for each character, with those of its gzipped form. */
const packedFactor = 1.25;

/** Bytes of a token of something that was read, and of all else of an answer but its key. */
const bytesPerToken = 16;
const bytesPerAnswer = 8 << 10;

/**
 * Answers that equal requests share: those that arrive while one is being made share the next one, with its bytes, and as long as nothing
 * that it was made of has changed, later ones have the same. The cache is asked for that each time: no request gets an answer that was begun
 * before it, which would miss what its caller has just written.
 */
export class SharedAnswers {
  readonly #answers = new Map<string, RememberedAnswer>();
  readonly #joined = new JoinedWrites<AnswerMaking, ViewAnswer>({
    join: (_earlier, later) => later,
    write: (key, making) => this.#answer(key, making),
  });

  /** The answer of a request. @param key different for requests that are not equal, or whose callers may read other accounts */
  get(key: string, making: AnswerMaking): Promise<ViewAnswer> {
    return this.#joined.write(key, making);
  }

  async #answer(key: string, { providers, reads, remembered, make }: AnswerMaking): Promise<ViewAnswer> {
    const known = this.#answers.get(key);
    if (known?.providers === providers && (await reads.isUnchanged(known.reads))) {
      remembered.use(known);
      return known.answer;
    }
    if (known !== undefined) remembered.drop(known);
    this.#answers.delete(key);
    const { response, ...made } = await make();
    const answer = { ...made, response: { ...response, pack: packOnce(response.body) } };
    const past = reads.end();
    // An error says when it was.
    if (past === undefined || response.status !== 200) return answer;
    const kept = { answer, providers, reads: past };
    const tokens = past.values().reduce((sum, read) => sum + read.tokens.length, 0);
    const bytes = bytesPerAnswer + key.length + response.body.length * packedFactor + tokens * bytesPerToken;
    this.#answers.set(key, kept);
    remembered.keep(kept, bytes, () => this.#answers.delete(key));
    return answer;
  }
}

/** Answers of an installation. */
export function createSharedAnswers(): SharedAnswers {
  return new SharedAnswers();
}
