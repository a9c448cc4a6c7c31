import type { BusEvent } from '#platform/ports/event-bus.ts';
import type { RegistryAccount } from './account.ts';
import type { CachedTag } from './cached-tags.ts';

/** The most images of a run that are published, one event each. */
export const pushedToldMax = 1_000;

/** The run whose images are published. */
interface PushedImagesOptions {
  readonly account: Pick<RegistryAccount, 'name' | 'registry'>;
  /** When the run began, wall time in milliseconds. */
  readonly atMs: number;
}

/** The images that a run found to be pushed: new tags, and tags whose known digest has changed. */
export class PushedImages {
  readonly #options: PushedImagesOptions;
  readonly #events: BusEvent[] = [];
  /** How many there were beyond the published ones. */
  untold = 0;

  constructor(options: PushedImagesOptions) {
    this.#options = options;
  }

  /** An event for each, up to the limit. */
  get events(): readonly BusEvent[] {
    return this.#events;
  }

  /** Adds the changes of a repository. @param before its cached tags, by name. */
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
