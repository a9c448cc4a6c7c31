import { UnavailableError } from '#core/errors.ts';

/** Concurrent downloads of the process, of all artifact accounts together. Each holds a connection and some hundred kilobytes. */
export const downloadsPerProcessMax = 128;

/** Concurrent downloads of one artifact account: hosts whose answers never end leave room for other accounts. */
export const downloadsPerAccountMax = 32;

/** A limit on concurrent downloads. */
export interface Slots {
  /** Takes a slot. @returns a function that gives it back; further calls do nothing. @throws UnavailableError if none is free. */
  take(): () => void;
}

/**
 * Slots of which `slotsMax` are taken at a time. Callers do not wait for one: a caller that fails at once can retry, but one that waits
 * occupies a request.
 *
 * @param owner owner of the slots, for the message.
 */
export function createSlots(slotsMax: number, owner: string): Slots {
  let taken = 0;
  return {
    take() {
      if (taken >= slotsMax) {
        throw new UnavailableError(
          `${owner} has ${slotsMax} downloads under way, its limit: try again later`,
        );
      }
      taken += 1;
      let held = true;
      return () => {
        if (held) taken -= 1;
        held = false;
      };
    },
  };
}

/** The slots of this process. */
export const slotsOfProcess = createSlots(downloadsPerProcessMax, 'This process');

/**
 * Takes a slot of each.
 *
 * @returns a function that gives all of them back.
 * @throws UnavailableError if one has none free; then none is taken.
 */
export function takeAll(slots: readonly Slots[]): () => void {
  using taken = new DisposableStack();
  for (const slot of slots) taken.defer(slot.take());
  const all = taken.move();
  return () => all.dispose();
}
