import { accountReads, secretValueRead } from './account-reads.ts';

/** A policy of IAM. */
export interface ReaderPolicy {
  readonly Version: '2012-10-17';
  readonly Statement: readonly {
    readonly Sid: string;
    readonly Effect: 'Allow';
    readonly Action: readonly string[];
    readonly Resource: string;
  }[];
}

/**
 * What who runs the check needs, and no more: the actions of the operations that it calls.
 *
 * @param readsValues whether it may read what is in secrets, too
 */
export function toReaderPolicy(readsValues: boolean): ReaderPolicy {
  const actions = Object.values(accountReads).map(({ action }) => action);
  // A secret with a key of its own is decrypted in the name of whoever reads it.
  const values = readsValues ? [secretValueRead.action, 'kms:Decrypt'] : [];
  const Action = [...new Set([...actions, ...values])].sort();
  return {
    Version: '2012-10-17',
    Statement: [{ Sid: 'BusdriverDeployCheck', Effect: 'Allow', Action, Resource: '*' }],
  };
}
