import type { Clock } from '#core/clock.ts';
import type { Logger } from '#core/logger.ts';
import { RemoteText } from './remote-text.ts';
import {
  describeSecret,
  type SecretReader,
  type SecretReading,
  type SecretReference,
} from './secret-reference.ts';

/** What following a secret's text needs. */
export interface SecretTextOptions {
  /** Its account, for logs. */
  readonly account: string;
  /** Reads it. Left out, reading it fails. */
  readonly secrets: SecretReader | undefined;
  readonly clock: Clock;
  readonly log: Logger;
}

/** The text of a secret: read when it is first needed, checked again as often as the reader says, and at once when invalidated. */
export function createSecretText(
  reference: SecretReference,
  { secrets, ...options }: SecretTextOptions,
): RemoteText {
  let known: SecretReading | undefined;
  return new RemoteText({
    ...options,
    name: describeSecret(reference),
    read: async (isDoubted) => {
      if (secrets === undefined) throw new Error('this process was given no way to ask AWS');
      known = await secrets.follow(reference, known && { reading: known, isDoubted });
      return known;
    },
  });
}
