import { type Check, type Finding, inRegion, mend, note, ok } from './rows.ts';
import type { Subject } from './subject.ts';

/** The operator's key for tables and secrets. */
export function listKeyChecks(subject: Subject): readonly Check[] {
  const { encryptionKeyArn: arn } = subject.plan.context;
  if (arn === undefined) return [];
  const check = { what: 'encryptionKeyArn', find: () => checkKey(arn, subject) };
  return [inRegion(subject.region, arn, check)];
}

async function checkKey(KeyId: string, { reads }: Subject): Promise<Finding> {
  const answer = await reads.describeKey.find({ KeyId });
  if (answer?.KeyMetadata === undefined)
    return mend('there is no such key', 'aws kms list-keys; then -c encryptionKeyArn=…');
  const { KeyState, KeySpec, KeyUsage } = answer.KeyMetadata;
  if (KeyState !== 'Enabled') {
    const cancel = KeyState === 'PendingDeletion' ? 'aws kms cancel-key-deletion --key-id …, then ' : '';
    return mend(`is ${KeyState}`, `${cancel}aws kms enable-key --key-id …`);
  }
  if (KeySpec === 'SYMMETRIC_DEFAULT' && KeyUsage === 'ENCRYPT_DECRYPT') return ok('Enabled, symmetric');
  const next = 'tables take a symmetric key that encrypts: -c encryptionKeyArn=…';
  return mend(`is ${KeySpec} for ${KeyUsage}`, next);
}

/** The topic, the boundary and the role for logs. */
export function listResourceChecks(subject: Subject): readonly Check[] {
  const { permissionsBoundaryArn } = subject.plan.context;
  const boundary = (arn: string) => ({
    what: 'permissionsBoundaryArn',
    find: () => checkBoundary(arn, subject),
  });
  return [
    makeTopicCheck(subject),
    ...(permissionsBoundaryArn === undefined ? [] : [boundary(permissionsBoundaryArn)]),
    { what: 'apiLogRole', find: () => checkLogRole(subject) },
  ];
}

function makeTopicCheck(subject: Subject): Check {
  const { alarmTopicArn: arn } = subject.plan.context;
  const what = 'alarmTopicArn';
  if (arn !== undefined) return inRegion(subject.region, arn, { what, find: () => checkTopic(arn, subject) });
  const next = 'aws sns create-topic; then -c alarmTopicArn=…';
  return { what, find: async () => note('none: no alarm notifies anyone', next) };
}

/** Whether a topic passes alarms on to anyone. */
async function checkTopic(TopicArn: string, { reads }: Subject): Promise<Finding> {
  const answer = await reads.getTopicAttributes.find({ TopicArn });
  if (answer === undefined)
    return mend('there is no such topic', 'aws sns list-topics; then -c alarmTopicArn=…');
  const { KmsMasterKeyId, SubscriptionsConfirmed = '0' }: { readonly [name: string]: string } =
    answer.Attributes ?? {};
  if (KmsMasterKeyId === 'alias/aws/sns') {
    return mend(
      "is encrypted with AWS' own key, which lets no alarm publish",
      'encrypt it with a key of yours whose policy allows kms:GenerateDataKey* and kms:Decrypt to cloudwatch.amazonaws.com',
    );
  }
  if (SubscriptionsConfirmed === '0') return note('nobody has subscribed to it', 'aws sns subscribe');
  return ok(`${SubscriptionsConfirmed} subscriptions`);
}

async function checkBoundary(PolicyArn: string, { reads }: Subject): Promise<Finding> {
  const answer = await reads.getPolicy.find({ PolicyArn });
  if (answer !== undefined) return ok('is there; whether it allows enough is not looked at');
  return mend('there is no such policy', 'aws iam list-policies; then -c permissionsBoundaryArn=…');
}

/** Whether API Gateway can write logs, and nobody else's role is replaced. */
async function checkLogRole({ plan, reads, installed }: Subject): Promise<Finding> {
  const { apiLogRole } = plan.context;
  const { cloudwatchRoleArn: role } = await reads.getApiAccount.get({});
  if (!role) {
    if (apiLogRole === 'create') return ok('none yet: one is made');
    return mend('existing, and the region has none', '-c apiLogRole=create');
  }
  const RoleName = role.slice(role.lastIndexOf('/') + 1);
  if ((await reads.getRole.find({ RoleName })) === undefined)
    return mend(`${role} is set, and IAM does not have it`, '-c apiLogRole=create');
  if (apiLogRole === 'existing') return ok(role);
  if ((await installed).has(`${plan.name}-api`)) return ok(`${role}: this installation's, or it is replaced`);
  return note(`${role} would be replaced for all APIs of the region`, '-c apiLogRole=existing keeps it');
}
