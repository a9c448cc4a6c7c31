/** The message group of an account. SQS allows 1 to 128 letters, digits and ASCII punctuation in a group id. */
export function toGroupId(account: string): string {
  return account.replace(/[^\x21-\x7e]/g, '_').slice(0, 128) || 'none';
}
