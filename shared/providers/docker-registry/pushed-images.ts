import type { BusEvent } from '#platform/ports/event-bus.ts';
import type { RegistryAccount } from './account.ts';
import type { CachedTag } from './cached-tags.ts';

/** Images of a run that events tell: each is one. */
export const pushedToldMax = 1_000;

/** What a run tells of. */
export interface PushedImagesOptions {
  readonly account: Pick<RegistryAccount, 'name' | 'registry'>;
  /** When the run began, wall time in milliseconds. */
  readonly atMs: number;
}

/** The images that a run found to have been pushed: new tags, and tags whose digest was known and is another one now. */
export class PushedImages {
  readonly #options: PushedImagesOptions;
  readonly #events: BusEvent[] = [];
  /** How many there were beyond those that are told. */
  untold = 0;

  constructor(options: PushedImagesOptions) {
    this.#options = options;
  }

  /** An event for each, as far as they are told. */
  get events(): readonly BusEvent[] {
    return this.#events;
  }

  /**
   * Takes what became of a repository.
   *
   * @param before what was cached of it, by tag.
   */
  add(repository: string, before: ReadonlyMap<string, CachedTag>, after: readonly CachedTag[]): void {
    for (const tag of after) {
      if (!isPushed(tag, before.get(tag.name))) continue;
      if (this.#events.length < pushedToldMax) this.#events.push(this.#toEvent(repository, tag));
      else this.untold += 1;
    }
  }

  #toEvent(repository: string, { name, digest }: CachedTag): BusEvent {
    const { account, atMs } = this.#options;
    const { registry } = account;
    const image = { account: account.name, registry, repository, tag: name };
    return { type: 'ImagePushed', atMs, detail: { ...image, ...(digest !== undefined && { digest }) } };
  }
}

function isPushed({ digest }: CachedTag, before: CachedTag | undefined): boolean {
  if (before === undefined) return true;
  return digest !== undefined && before.digest !== undefined && digest !== before.digest;
}
