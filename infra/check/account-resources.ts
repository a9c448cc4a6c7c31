import type { AccountReader } from './account-reader.ts';
import { accountReads } from './account-reads.ts';
import { judgeAccount, judgeRegion, parseArn } from './arn.ts';
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

const matter = 'named by options';

/** Clusters, and roles, that are looked at; others are named by their number. */
const eachMax = 50;

/** What is known of a topic of SNS. */
export interface TopicFacts {
  /** Id of the key that encrypts it; undefined where none does. */
  readonly keyId: string | undefined;
  /** Subscriptions that were confirmed. */
  readonly subscriptions: number;
}

/** What is known of API Gateway's role for logs. */
export interface LogRoleFacts {
  /** The role that the region has; undefined for none. */
  readonly roleArn: string | undefined;
  /** Whether IAM has it. */
  readonly exists: boolean;
}

/** The topic, the boundary, the role for logs, and clusters and roles of accounts. */
export function listResourceChecks(subject: Subject): readonly Check[] {
  return [
    ...listTopicChecks(subject),
    ...listBoundaryChecks(subject),
    defineCheck({
      matter,
      what: 'apiLogRole',
      gather: readLogRole,
      judge: (facts) => [judgeLogRole(facts, subject)],
    }),
    ...listTruststoreChecks(subject),
    ...listClusterChecks(subject),
    ...listRoleChecks(subject),
  ];
}

function listTopicChecks(subject: Subject): readonly Check[] {
  const { alarmTopicArn } = subject.plan.context;
  const what = 'alarmTopicArn';
  if (alarmTopicArn === undefined) {
    return [
      defineKnown(matter, what, [
        note('none: no alarm notifies anyone', 'aws sns create-topic; then -c alarmTopicArn=…'),
      ]),
    ];
  }
  const misplaced = judgeRegion(alarmTopicArn, what, subject);
  if (misplaced !== undefined) return [defineKnown(matter, what, [misplaced])];
  return [
    defineCheck({
      matter,
      what,
      gather: (reader) => readTopic(alarmTopicArn, reader),
      judge: (facts) => [judgeTopic(facts)],
    }),
  ];
}

/** Whether alarms reach somebody through a topic; undefined is one that there is not. */
export function judgeTopic(facts: TopicFacts | undefined): Finding {
  if (facts === undefined)
    return mend('there is no such topic', 'aws sns list-topics; then -c alarmTopicArn=…');
  if (facts.keyId === 'alias/aws/sns') {
    return mend(
      "is encrypted with AWS' own key, which lets no alarm publish",
      'encrypt it with a key of yours whose policy allows kms:GenerateDataKey* and kms:Decrypt to cloudwatch.amazonaws.com',
    );
  }
  if (facts.subscriptions === 0) return note('nobody has subscribed to it', 'aws sns subscribe');
  const count = `${facts.subscriptions} subscriptions`;
  if (facts.keyId === undefined) return ok(count);
  return note(
    `${count}, encrypted with ${facts.keyId}`,
    "let that key's policy allow cloudwatch.amazonaws.com to use it",
  );
}

function listBoundaryChecks(subject: Subject): readonly Check[] {
  const { permissionsBoundaryArn: arn } = subject.plan.context;
  const what = 'permissionsBoundaryArn';
  if (arn === undefined) return [];
  const misplaced = judgeAccount(arn, what, subject);
  if (misplaced !== undefined) return [defineKnown(matter, what, [misplaced])];
  return [
    defineCheck({
      matter,
      what,
      gather: (reader) => reader.find(accountReads.getPolicy, { PolicyArn: arn }),
      judge: (answer) => [
        answer === undefined
          ? mend(
              'there is no such policy',
              'aws iam list-policies --scope Local; then -c permissionsBoundaryArn=…',
            )
          : ok('is there; whether it allows enough is not looked at'),
      ],
    }),
  ];
}

/** Whether API Gateway can write logs, and nobody else's role is replaced. */
export function judgeLogRole(
  { roleArn, exists }: LogRoleFacts,
  { plan, installed }: Pick<Subject, 'plan' | 'installed'>,
): Finding {
  const { apiLogRole } = plan.context;
  if (roleArn === undefined) {
    if (apiLogRole === 'create') return ok('none yet: one is made');
    return mend('existing, and the region has none', '-c apiLogRole=create');
  }
  if (!exists) return mend(`${roleArn} is set, and IAM does not have it`, '-c apiLogRole=create');
  if (apiLogRole === 'existing') return ok(roleArn);
  if (installed?.has(`${plan.name}-api`)) return ok(`${roleArn}: this installation's, or it is replaced`);
  return note(`${roleArn} would be replaced for all APIs of the region`, '-c apiLogRole=existing keeps it');
}

function listTruststoreChecks({ plan }: Subject): readonly Check[] {
  const { truststoreUri, truststoreVersion } = plan.context;
  if (truststoreUri === undefined) return [];
  const [, bucket = '', key = ''] = /^s3:\/\/([^/]+)\/(.+)$/.exec(truststoreUri) ?? [];
  const version = truststoreVersion === undefined ? '' : ` --version-id ${truststoreVersion}`;
  const next = `aws s3api head-object --bucket ${bucket} --key ${key}${version}`;
  return [defineKnown(matter, 'truststoreUri', [unchecked('objects of S3 are not looked at', next)])];
}

/** Clusters of this account and region; others are asked about under roles that only functions assume. */
function listClusterChecks(subject: Subject): readonly Check[] {
  const { clusterArns } = subject.plan.context;
  const isHere = (arn: string) =>
    parseArn(arn).region === subject.region && parseArn(arn).account === subject.account;
  const here = clusterArns.filter(isHere);
  const left = clusterArns.length - Math.min(here.length, eachMax);
  return [
    ...here.slice(0, eachMax).map((arn) => {
      const name = parseArn(arn).resource.slice('cluster/'.length);
      return defineCheck({
        matter,
        what: 'clusterArns',
        gather: (reader) => reader.find(accountReads.describeCluster, { name }),
        judge: (answer) => [about(name, judgeCluster(answer?.cluster?.status))],
      });
    }),
    ...(left > 0 ? [defineKnown(matter, 'clusterArns', [unchecked(`${left} more are not looked at`)])] : []),
  ];
}

/** Whether a cluster can be reached; undefined is one that there is not. */
export function judgeCluster(status: string | undefined): Finding {
  if (status === undefined)
    return mend('there is no such cluster', 'aws eks list-clusters; then -c clusterArns=…');
  return status === 'ACTIVE' || status === 'UPDATING'
    ? ok(status)
    : mend(status, 'aws eks describe-cluster --name …');
}

/** Roles of this account; others cannot be seen from here. */
function listRoleChecks(subject: Subject): readonly Check[] {
  const { accountRoleArns } = subject.plan.context;
  const here = accountRoleArns.filter((arn) => parseArn(arn).account === subject.account);
  const left = accountRoleArns.length - Math.min(here.length, eachMax);
  return [
    ...here.slice(0, eachMax).map((arn) => {
      const RoleName = arn.slice(arn.lastIndexOf('/') + 1);
      return defineCheck({
        matter,
        what: 'accountRoleArns',
        gather: (reader) => reader.find(accountReads.getRole, { RoleName }),
        judge: (answer) => [about(RoleName, judgeRole(answer?.Role?.Arn, arn))],
      });
    }),
    ...(left > 0
      ? [
          defineKnown(matter, 'accountRoleArns', [
            unchecked(`${left} of other accounts or beyond the first ${eachMax}`),
          ]),
        ]
      : []),
  ];
}

/** Whether a role is there; undefined is one that there is not. */
export function judgeRole(found: string | undefined, arn: string): Finding {
  const make = 'make it: docs/deploy.md#let-it-into-your-clusters';
  if (found === undefined) return mend('there is no such role', make);
  return found === arn
    ? ok('is there')
    : mend(`the role of that name is ${found}`, '-c accountRoleArns=… with its path');
}

async function readTopic(TopicArn: string, reader: AccountReader): Promise<TopicFacts | undefined> {
  const answer = await reader.find(accountReads.getTopicAttributes, { TopicArn });
  if (answer === undefined) return undefined;
  const attributes: { readonly [name: string]: string | undefined } = { ...answer.Attributes };
  return {
    keyId: attributes['KmsMasterKeyId'] || undefined,
    subscriptions: Number(attributes['SubscriptionsConfirmed'] ?? 0),
  };
}

async function readLogRole(reader: AccountReader): Promise<LogRoleFacts> {
  const { cloudwatchRoleArn: roleArn } = await reader.get(accountReads.getApiAccount, {});
  if (!roleArn) return { roleArn: undefined, exists: false };
  const RoleName = roleArn.slice(roleArn.lastIndexOf('/') + 1);
  const answer = await reader.find(accountReads.getRole, { RoleName });
  return { roleArn, exists: answer !== undefined };
}
