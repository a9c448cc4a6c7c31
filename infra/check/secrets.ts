import { getErrorMessage } from '../../shared/core/errors.ts';
import { parseSettings } from '../../shared/runtime/settings/settings.ts';
import type { AccountReader } from './account-reader.ts';
import { accountReads, secretValueRead } from './account-reads.ts';
import { judgeRegion, parseArn } from './arn.ts';
import {
  about,
  type Check,
  defineCheck,
  defineKnown,
  type Finding,
  mend,
  note,
  ok,
  unchecked,
} from './rows.ts';
import type { Subject } from './subject.ts';

const matter = 'secrets';

/** Secrets of accounts that are looked at; others are named by their number. */
const secretsMax = 100;

/** Characters that the shared secret must have: shared/runtime/http/shared-secret.ts. */
const sharedSecretLengthMin = 16;

/** What is known of a secret. */
export interface SecretFacts {
  /** When it was deleted; undefined for one that was not. */
  readonly deletedAt: Date | undefined;
  /** Its own key; undefined for AWS' key for secrets. */
  readonly keyId: string | undefined;
}

/** What a secret is for. */
export type SecretOption =
  | 'configSecretArn'
  | 'artifactsSecretArn'
  | 'authorizerSecretArn'
  | 'accountSecretArns';

/** Whether the operator's secrets are there, and, where the operator lets them be read, whether they can be used. */
export function listSecretChecks(subject: Subject, readsValues: boolean): readonly Check[] {
  const { context } = subject.plan;
  const named = (['configSecretArn', 'artifactsSecretArn', 'authorizerSecretArn'] as const).flatMap(
    (option) => {
      const arn = context[option];
      return arn === undefined ? [] : [{ option, arn }];
    },
  );
  const ofAccounts = context.accountSecretArns
    .filter((arn) => parseArn(arn).service === 'secretsmanager')
    .map((arn) => ({ option: 'accountSecretArns' as const, arn }));
  const looked = [...named, ...ofAccounts.slice(0, secretsMax)];
  const left = ofAccounts.length - secretsMax;
  const elsewhere = context.accountSecretArns.length - ofAccounts.length;
  return [
    ...looked.map(({ option, arn }) => makeSecretCheck(subject, option, arn)),
    ...(readsValues ? named.map(({ option, arn }) => makeValueCheck(subject, option, arn)) : []),
    ...(elsewhere > 0
      ? [
          defineKnown(matter, 'accountSecretArns', [
            unchecked(`${elsewhere} in S3 or Parameter Store are not looked at`),
          ]),
        ]
      : []),
    ...(left > 0
      ? [defineKnown(matter, 'accountSecretArns', [unchecked(`${left} more are not looked at`)])]
      : []),
  ];
}

function makeSecretCheck(subject: Subject, option: SecretOption, arn: string): Check {
  const name = toSecretName(arn);
  const { region } = parseArn(arn);
  if (option === 'accountSecretArns' && region !== subject.region) {
    return defineKnown(matter, option, [about(name, unchecked(`is in ${region}, which is not looked at`))]);
  }
  // Functions ask Secrets Manager in their own region for these.
  const misplaced = judgeRegion(arn, option, subject);
  if (misplaced !== undefined) return defineKnown(matter, option, [about(name, misplaced)]);
  return defineCheck({
    matter,
    what: option,
    gather: (reader) => readSecret(arn, reader),
    judge: (facts) => [about(name, judgeSecret(facts, arn))],
  });
}

/**
 * Whether a secret can be read.
 *
 * @param facts undefined where there is none
 */
export function judgeSecret(facts: SecretFacts | undefined, arn: string): Finding {
  if (facts === undefined) {
    return mend(
      'there is no such secret',
      `aws secretsmanager describe-secret --secret-id ${toSecretName(arn)}; its ARN`,
    );
  }
  if (facts.deletedAt !== undefined) {
    return mend(
      `was deleted on ${facts.deletedAt.toISOString()}`,
      `aws secretsmanager restore-secret --secret-id ${arn}`,
    );
  }
  if (facts.keyId === undefined) return ok('is there');
  return note(
    `is there, with a key of its own: ${facts.keyId}`,
    "let that key's policy allow kms:Decrypt to the functions' roles",
  );
}

function makeValueCheck(subject: Subject, option: SecretOption, arn: string): Check {
  return defineCheck({
    matter,
    what: `value of ${option}`,
    async gather(reader) {
      const answer = await reader.find(secretValueRead, { SecretId: arn });
      return answer?.SecretString ?? new TextDecoder().decode(answer?.SecretBinary);
    },
    judge: (text) => [judgeValue(text, { option, arn, profiles: subject.plan.context.profiles })],
  });
}

/** Whether functions could use the value of a secret, of which nothing is told. */
export function judgeValue(
  text: string,
  {
    option,
    arn,
    profiles,
  }: { readonly option: SecretOption; readonly arn: string; readonly profiles: readonly string[] },
): Finding {
  if (option === 'authorizerSecretArn') {
    if (text.trim().length >= sharedSecretLengthMin) return ok('is long enough');
    return mend(
      `has fewer than ${sharedSecretLengthMin} characters`,
      `aws secretsmanager put-secret-value --secret-id ${arn} …`,
    );
  }
  try {
    parseSettings([{ file: toSecretName(arn), text, isKubeconfig: false }], { profiles, environment: {} });
    return ok("is Spinnaker's YAML");
  } catch (error) {
    // Such messages name a line and a setting, and never quote the text.
    return mend(getErrorMessage(error), `aws secretsmanager put-secret-value --secret-id ${arn} …`);
  }
}

/** The name of a secret, without the six characters that its ARN adds. */
function toSecretName(arn: string): string {
  return parseArn(arn)
    .resource.replace(/^secret:/, '')
    .slice(0, -7);
}

async function readSecret(arn: string, reader: AccountReader): Promise<SecretFacts | undefined> {
  const answer = await reader.find(accountReads.describeSecret, { SecretId: arn });
  return answer && { deletedAt: answer.DeletedDate, keyId: answer.KmsKeyId };
}
