import { UnavailableError } from '../../core/errors.ts';

/** Users who may be asked for at one time; more are told to come again. */
export const questionsMax = 256;

interface Question<T> {
  readonly answer: Promise<T>;
  readonly unwanted: AbortController;
  waiting: number;
}

/** Questions under way, one a key: who asks what is being asked waits for the same answer. */
export class SharedQuestions<T> {
  readonly #questions = new Map<string, Question<T>>();

  /**
   * The answer to a question, which is put when nobody has put it yet. A question for which nobody waits any more ends.
   *
   * @param ask puts the question; its signal ends it.
   * @throws what `ask` rejects with; UnavailableError when the caller's signal is aborted first, or too much is being asked.
   */
  async ask(
    key: string,
    { ask, signal }: { ask: (signal: AbortSignal) => Promise<T>; signal: AbortSignal },
  ): Promise<T> {
    if (signal.aborted) throw toTooLate(signal);
    const question = this.#questions.get(key) ?? this.#put(key, ask);
    question.waiting += 1;
    const leave = Promise.withResolvers<never>();
    const onAbort = (): void => leave.reject(toTooLate(signal));
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      return await Promise.race([question.answer, leave.promise]);
    } finally {
      signal.removeEventListener('abort', onAbort);
      question.waiting -= 1;
      if (question.waiting === 0) this.#end(key, question);
    }
  }

  #put(key: string, ask: (signal: AbortSignal) => Promise<T>): Question<T> {
    if (this.#questions.size >= questionsMax)
      throw new UnavailableError(`Fiat is being asked for ${questionsMax} users at this moment; try again`);
    const unwanted = new AbortController();
    const question = { answer: ask(unwanted.signal), unwanted, waiting: 0 };
    // Who waits hears of it; where nobody does any more, nobody is to.
    question.answer.catch(() => undefined);
    this.#questions.set(key, question);
    return question;
  }

  #end(key: string, question: Question<T>): void {
    if (this.#questions.get(key) === question) this.#questions.delete(key);
    question.unwanted.abort();
  }
}

function toTooLate(signal: AbortSignal): UnavailableError {
  return new UnavailableError('The time of the request was over before Fiat had answered', {
    cause: signal.reason,
  });
}
