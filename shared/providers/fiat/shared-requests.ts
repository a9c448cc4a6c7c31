import { untilAborted } from '#core/deadline.ts';
import { UnavailableError } from '#core/errors.ts';

/** Users who may be asked for at one time; more are told to come again. */
export const requestsMax = 256;

interface SharedRequest<T> {
  readonly answer: Promise<T>;
  readonly unwanted: AbortController;
  waiting: number;
}

/** Requests under way, one a key: who asks what is being asked waits for the same answer. */
export class SharedRequests<T> {
  readonly #requests = new Map<string, SharedRequest<T>>();

  /**
   * The answer to a request, which is put when nobody has put it yet. A request for which nobody waits any more ends.
   *
   * @param ask puts the request; its signal ends it.
   * @throws what `ask` rejects with; UnavailableError when the caller's signal is aborted first, or too much is being asked.
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
    // Who waits hears of it; where nobody does any more, nobody is to.
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
