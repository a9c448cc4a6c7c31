/** Bytes of JSON that AWS Lambda takes and returns in one invocation: a little more than 6 MB. */
export const payloadBytesMax = 6_291_556;

const limit = `the 6 MB (${payloadBytesMax} bytes) that AWS Lambda accepts`;

/** The message of a 413, wherever it is thrown. @param what is too large, its size and a verb: `a body of 7000000 bytes exceeds` */
export function toTooLargeMessage(what: string): string {
  return `The request is too large: ${what} ${limit}; send less at once, such as fewer manifests in a stage`;
}
