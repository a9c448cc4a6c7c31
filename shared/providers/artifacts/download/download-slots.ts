import { UnavailableError } from '#core/errors.ts';

/** Downloads under way in the process, of all artifact accounts together. Each holds a connection and some hundred kilobytes. */
export const downloadsPerProcessMax = 128;

/** Downloads under way for one artifact account: hosts of one that never end leave the others room. */
export const downloadsPerAccountMax = 32;

/** A bound on what is under way at once. */
export interface Slots {
  /**
   * Takes a slot.
   *
   * @returns what gives it back; calling it again does nothing.
   * @throws UnavailableError when none is free.
   */
  take(): () => void;
}

/**
 * Slots of which `slotsMax` are taken at a time. Nobody waits for one: a caller who is told at once may try again, one who waits
 * holds a request.
 *
 * @param owner whose slots they are, for the message.
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
 * @returns what gives all of them back.
 * @throws UnavailableError when one has none free; then none is taken.
 */
export function takeAll(slots: readonly Slots[]): () => void {
  const taken: (() => void)[] = [];
  const giveBack = () => {
    for (const release of taken) release();
  };
  try {
    for (const slot of slots) taken.push(slot.take());
  } catch (error) {
    giveBack();
    throw error;
  }
  return giveBack;
}
