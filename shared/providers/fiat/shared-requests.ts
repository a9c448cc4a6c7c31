import { untilAborted } from '#core/deadline.ts';
import { UnavailableError } from '#core/errors.ts';

/** The most users requested at a time; further callers must retry. */
export const requestsMax = 256;

interface SharedRequest<T> {
  readonly answer: Promise<T>;
  readonly unwanted: AbortController;
  waiting: number;
}

/** Requests in flight, one per key: callers with the same key share one answer. */
export class SharedRequests<T> {
  readonly #requests = new Map<string, SharedRequest<T>>();

  /**
   * The answer to a request, which is sent unless it is already in flight. A request is aborted once no caller waits for it.
   *
   * @param ask sends the request; its signal aborts it.
   * @throws what `ask` rejects with; UnavailableError if the caller's signal is aborted first, or there are too many requests.
   */
  async ask(
    key: string,
    { ask, signal }: { ask: (signal: AbortSignal) => Promise<T>; signal: AbortSignal },
  ): Promise<T> {
    if (signal.aborted) throw toTooLate(signal);
    const request = this.#requests.get(key) ?? this.#put(key, ask);
    request.waiting += 1;
    try {
      return await untilAborted(request.answer, signal);
    } catch (error) {
      throw signal.aborted ? toTooLate(signal) : error;
    } finally {
      request.waiting -= 1;
      if (request.waiting === 0) this.#end(key, request);
    }
  }

  #put(key: string, ask: (signal: AbortSignal) => Promise<T>): SharedRequest<T> {
    if (this.#requests.size >= requestsMax)
      throw new UnavailableError(`Fiat is being asked for ${requestsMax} users at this moment; try again`);
    const unwanted = new AbortController();
    const request = { answer: ask(unwanted.signal), unwanted, waiting: 0 };
    // Waiting callers get the error; without any it must not count as unhandled.
    request.answer.catch(() => undefined);
    this.#requests.set(key, request);
    return request;
  }

  #end(key: string, request: SharedRequest<T>): void {
    if (this.#requests.get(key) === request) this.#requests.delete(key);
    request.unwanted.abort();
  }
}

function toTooLate(signal: AbortSignal): UnavailableError {
  return new UnavailableError('The time of the request was over before Fiat had answered', {
    cause: signal.reason,
  });
}
