import { InvalidInputError } from '#core/errors.ts';

/** Collects what is wrong with one description, each once, to report all of it at once. */
export abstract class Violations {
  readonly #found = new Set<string>();
  #omitted = 0;

  /** What is wrong so far, in the order in which it was found. */
  get errors(): readonly string[] {
    return [...this.#found];
  }

  /** An attribute is wrong in a way that Clouddriver has a code for: `moniker` is `empty`. */
  abstract reject(attribute: string, code: string): void;

  /** Adds a violation in words of its own. */
  add(message: string): void {
    this.#found.add(message);
  }

  /** Runs a rule of ours, and adds the violations of the InvalidInputError that it throws, if any. */
  check(rule: () => void): void {
    try {
      rule();
    } catch (error) {
      if (!(error instanceof InvalidInputError)) throw error;
      for (const message of error.told) this.add(message);
      this.#omitted += error.omitted;
    }
  }

  /** @throws InvalidInputError with everything that is wrong, if anything is */
  throwIfAny(): void {
    if (this.#found.size > 0) throw new InvalidInputError(this.errors, { omitted: this.#omitted });
  }
}
