import type { JsonObject } from '#core/json.ts';
import { AwsError } from '../engine.ts';
import { getObjects, getText } from '../engine-input.ts';

/** Runs an action for each entry of a batch, and answers which succeeded. */
export function doEach(input: JsonObject, act: (entry: JsonObject) => object): object {
  const successful: object[] = [];
  const failed: object[] = [];
  for (const entry of getBatch(input)) {
    const problem = attempt(() => act(entry));
    if (problem === undefined) successful.push({ Id: entry['Id'] });
    else failed.push(toBatchFailure(entry, problem));
  }
  return { Successful: successful, Failed: failed };
}

/**
 * The entries of a batch: 1 to 10 with distinct ids.
 *
 * @throws AwsError EmptyBatchRequest, TooManyEntriesInBatchRequest, BatchEntryIdsNotDistinct or InvalidBatchEntryId
 */
export function getBatch(input: JsonObject): readonly JsonObject[] {
  const entries = getObjects(input, 'Entries');
  const ids = entries.map((entry) => getText(entry, 'Id'));
  if (entries.length === 0) throw new AwsError('EmptyBatchRequest', 'There should be at least one entry.');
  if (entries.length > 10) {
    const reason = `Maximum number of entries per request are 10. You have sent ${entries.length}.`;
    throw new AwsError('TooManyEntriesInBatchRequest', reason);
  }
  if (new Set(ids).size < ids.length) throw new AwsError('BatchEntryIdsNotDistinct', 'An Id is repeated.');
  if (!ids.every((id) => /^[\w-]{1,80}$/.test(id))) {
    const reason = 'A batch entry id can only contain alphanumeric characters, hyphens and underscores.';
    throw new AwsError('InvalidBatchEntryId', `${reason} It can be at most 80 letters long.`);
  }
  return entries;
}

/** Runs `act`. @returns why it was refused, undefined when it was not */
export function attempt(act: () => unknown): AwsError | undefined {
  try {
    act();
    return undefined;
  } catch (error) {
    if (error instanceof AwsError) return error;
    throw error;
  }
}

/** A failed entry in the answer to a batch. */
export function toBatchFailure(entry: JsonObject, { code, message, status }: AwsError): object {
  return { Id: entry['Id'], Code: code, Message: message, SenderFault: status < 500 };
}
