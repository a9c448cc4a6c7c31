import { hash } from 'node:crypto';
import type { JsonObject } from '#core/json.ts';
import { AwsError } from '../engine.ts';
import { findInteger, findText, getText } from '../engine-input.ts';
import { delayRange } from './queue-attributes.ts';

/** A message as its sender gave it, checked. Attributes are left out: nothing of ours sends any. */
export interface MessageDraft {
  readonly body: string;
  readonly bodyMd5: string;
  /** `MessageGroupId`, undefined without one. */
  readonly groupId: string | undefined;
  /** Undefined for the queue's own delay. */
  readonly delaySeconds: number | undefined;
  /** Bytes that count against the limit. */
  readonly size: number;
}

/** Characters that XML 1.0 cannot hold, which SQS refuses; lone surrogates are among them. */
const forbiddenCharacters = /[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/u;

/**
 * Reads a message from the input of SendMessage or an entry of SendMessageBatch.
 *
 * @throws AwsError MissingParameter, InvalidParameterValue or InvalidMessageContents
 */
export function parseMessageDraft(input: JsonObject): MessageDraft {
  const body = getText(input, 'MessageBody');
  if (forbiddenCharacters.test(body)) {
    throw new AwsError('InvalidMessageContents', 'Invalid characters found in the message body.');
  }
  return {
    body,
    bodyMd5: hash('md5', body),
    groupId: parseGroupId(findText(input, 'MessageGroupId')),
    delaySeconds: findInteger(input, 'DelaySeconds', delayRange),
    size: Buffer.byteLength(body),
  };
}

function parseGroupId(groupId: string | undefined): string | undefined {
  if (groupId === undefined || /^[\x21-\x7E]{1,128}$/.test(groupId)) return groupId;
  throw new AwsError(
    'InvalidParameterValue',
    'Value for parameter MessageGroupId is invalid. ' +
      'Reason: It must hold 1 to 128 letters, digits and ASCII punctuation.',
  );
}
