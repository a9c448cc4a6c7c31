import { getErrorMessage } from '#core/errors.ts';
import { parseSettings } from '#settings/live/settings.ts';
import { type Check, type Finding, inRegion, mend, ok } from './rows.ts';
import type { Subject } from './subject.ts';

/** Options that each name one secret. Functions ask Secrets Manager in their own region for them. */
const options = ['configSecretArn', 'artifactsSecretArn', 'authorizerSecretArn'] as const;

/** Characters that the shared secret must have: shared/access/http/shared-secret.ts. */
const sharedSecretLengthMin = 16;

/** Whether the operator's secrets are there, and can be used. @param readsValues whether their values may be read */
export function listSecretChecks(subject: Subject, readsValues: boolean): readonly Check[] {
  return options.flatMap((option) => {
    const arn = subject.plan.context[option];
    if (arn === undefined) return [];
    const there = inRegion(subject.region, arn, {
      what: `${option} ${toSecretName(arn)}`,
      find: () => checkSecret(arn, subject),
    });
    if (!readsValues) return [there];
    return [there, { what: `value of ${option}`, find: () => checkValue(option, arn, subject) }];
  });
}

async function checkSecret(arn: string, { reads }: Subject): Promise<Finding> {
  const secret = await reads.describeSecret.find({ SecretId: arn });
  if (secret === undefined) {
    const describe = `aws secretsmanager describe-secret --secret-id ${toSecretName(arn)}`;
    return mend('there is no such secret', `${describe}; its ARN`);
  }
  if (secret.DeletedDate === undefined) return ok('is there');
  const deleted = `was deleted on ${secret.DeletedDate.toISOString()}`;
  return mend(deleted, `aws secretsmanager restore-secret --secret-id ${arn}`);
}

/** Whether functions could use the value of a secret, which is never shown. */
async function checkValue(
  option: (typeof options)[number],
  arn: string,
  { plan, reads }: Subject,
): Promise<Finding> {
  const { SecretString, SecretBinary } = await reads.getSecretValue.get({ SecretId: arn });
  const text = SecretString ?? new TextDecoder().decode(SecretBinary);
  const next = `aws secretsmanager put-secret-value --secret-id ${arn} …`;
  if (option === 'authorizerSecretArn') {
    if (text.trim().length >= sharedSecretLengthMin) return ok('is long enough');
    return mend(`has fewer than ${sharedSecretLengthMin} characters`, next);
  }
  try {
    const file = { file: toSecretName(arn), text, isKubeconfig: false };
    parseSettings([file], { profiles: plan.context.profiles, environment: {} });
    return ok("is Spinnaker's YAML");
  } catch (error) {
    // Such messages name a line and a setting, and never quote the text.
    return mend(getErrorMessage(error), next);
  }
}

/** The name of a secret, without the six characters that its ARN adds. */
function toSecretName(arn: string): string {
  return arn.split(':').slice(6).join(':').slice(0, -7);
}
