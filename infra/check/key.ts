import { asJsonArray, asString, getPath, isJsonObject, type JsonValue } from '../../shared/core/json.ts';
import type { AccountReader } from './account-reader.ts';
import { accountReads } from './account-reads.ts';
import { judgeRegion } from './arn.ts';
import { type Check, defineCheck, defineKnown, type Finding, mend, note, ok } from './rows.ts';
import type { Subject } from './subject.ts';

const matter = 'key';

/** What is known of a key. */
export interface KeyFacts {
  /** Such as `Enabled`. */
  readonly state: string;
  /** Such as `SYMMETRIC_DEFAULT`. */
  readonly spec: string;
  /** Such as `ENCRYPT_DECRYPT`. */
  readonly usage: string;
}

/** The operator's key for tables and secrets. */
export function listKeyChecks(subject: Subject): readonly Check[] {
  const { encryptionKeyArn } = subject.plan.context;
  if (encryptionKeyArn === undefined) return [];
  const what = 'encryptionKeyArn';
  const misplaced = judgeRegion(encryptionKeyArn, what, subject);
  if (misplaced !== undefined) return [defineKnown(matter, what, [misplaced])];
  return [
    defineCheck({
      matter,
      what,
      gather: (reader) => readKey(encryptionKeyArn, reader),
      judge: (facts) => [judgeKey(facts)],
    }),
    defineCheck({
      matter,
      what: `policy of ${what}`,
      gather: (reader) =>
        reader.find(accountReads.getKeyPolicy, { KeyId: encryptionKeyArn, PolicyName: 'default' }),
      judge: (answer) => [judgeKeyPolicy(answer?.Policy, subject)],
    }),
  ];
}

/** Whether a key can encrypt tables and secrets; undefined is one that there is not. */
export function judgeKey(facts: KeyFacts | undefined): Finding {
  if (facts === undefined)
    return mend('there is no such key', 'aws kms list-keys; then -c encryptionKeyArn=…');
  const { state, spec, usage } = facts;
  if (state === 'PendingDeletion')
    return mend(
      'is to be deleted',
      'aws kms cancel-key-deletion --key-id …, then aws kms enable-key --key-id …',
    );
  if (state !== 'Enabled') return mend(`is ${state}`, 'aws kms enable-key --key-id …');
  if (spec !== 'SYMMETRIC_DEFAULT' || usage !== 'ENCRYPT_DECRYPT') {
    return mend(
      `is ${spec} for ${usage}`,
      'tables take a symmetric key that encrypts: -c encryptionKeyArn=…',
    );
  }
  return ok('Enabled, symmetric');
}

/** Whether the policy of a key leaves it to IAM who may use it: grants of the stacks' roles count for nothing otherwise. */
export function judgeKeyPolicy(
  policy: string | undefined,
  { account, partition }: Pick<Subject, 'account' | 'partition'>,
): Finding {
  const root = `arn:${partition}:iam::${account}:root`;
  const statements = parseStatements(policy);
  const fitting = statements.filter((statement) => allowsAll(statement, [root, account]));
  if (fitting.some((statement) => getPath(statement, 'Condition') === undefined))
    return ok('leaves it to IAM who may use it');
  const next =
    'docs/stacks.md#options: let it allow kms:* to the account, as the policy does that AWS gives a key by default';
  if (fitting.length > 0) return note('leaves it to IAM under conditions', next);
  return mend(`does not allow kms:* to ${root}: what IAM grants to functions counts for nothing`, next);
}

function allowsAll(statement: JsonValue, principals: readonly string[]): boolean {
  const actions = toList(getPath(statement, 'Action'));
  const named = [
    ...toList(getPath(statement, 'Principal', 'AWS')),
    ...toList(getPath(statement, 'Principal')),
  ];
  return (
    getPath(statement, 'Effect') === 'Allow' &&
    actions.some((action) => action === 'kms:*' || action === '*') &&
    named.some((principal) => principal === '*' || principals.includes(principal))
  );
}

function parseStatements(policy: string | undefined): JsonValue[] {
  try {
    const parsed: unknown = JSON.parse(policy ?? '');
    const statement = getPath(parsed, 'Statement');
    return isJsonObject(statement) ? [statement] : asJsonArray(statement);
  } catch {
    return [];
  }
}

function toList(value: JsonValue | undefined): string[] {
  return [...asJsonArray(value), value].map((one) => asString(one)).filter((one) => one !== undefined);
}

async function readKey(KeyId: string, reader: AccountReader): Promise<KeyFacts | undefined> {
  const answer = await reader.find(accountReads.describeKey, { KeyId });
  const key = answer?.KeyMetadata;
  if (key === undefined) return undefined;
  return {
    state: key.KeyState ?? '',
    spec: key.KeySpec ?? 'SYMMETRIC_DEFAULT',
    usage: key.KeyUsage ?? '',
  };
}
