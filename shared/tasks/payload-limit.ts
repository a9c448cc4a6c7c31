/** Bytes of JSON that AWS Lambda takes and returns in one invocation: a little more than 6 MB. */
export const payloadBytesMax = 6_291_556;

/** Bytes of a body where no Lambda is: what operations of many large manifests have. */
export const largePayloadBytesMax: number = 22 << 20;

/**
 * The message of a 413, wherever it is thrown.
 *
 * @param what is too large, its size and a verb: `a body of 7000000 bytes exceeds`
 * @param bytesMax the limit. Default: Lambda's
 */
export function toTooLargeMessage(what: string, bytesMax = payloadBytesMax): string {
  const limit =
    bytesMax === payloadBytesMax
      ? `the 6 MB (${payloadBytesMax} bytes) that AWS Lambda accepts`
      : `the ${bytesMax} bytes that are accepted`;
  return `The request is too large: ${what} ${limit}; send less at once, such as fewer manifests in a stage`;
}
