import type { AccountReader } from './account-reader.ts';
import { accountReads } from './account-reads.ts';
import { listTexts } from './deployment-plan.ts';
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
import { type InstalledStack, listNewStacks, type Subject } from './subject.ts';

const matter = 'leftovers';

/** Something of an earlier installation whose name a new stack wants. */
export interface Leftover {
  readonly name: string;
  /** When it was deleted, where its name stays taken for some days. */
  readonly deletedAt?: Date | undefined;
}

/** A kind of resource whose name is ours. */
interface NamedKind {
  readonly what: string;
  readonly type: string;
  /** The property with its name. */
  readonly property: string;
  /** Which of the names are taken. */
  find(names: readonly string[], reader: AccountReader, subject: Subject): Promise<readonly Leftover[]>;
  /** The command that deletes it. */
  toCommand(name: string): string;
}

/** Rows for one kind; what is beyond them is counted. */
const rowsMax = 5;

/** What an earlier installation of this name left, and in which state its stacks are. */
export function listLeftoverChecks(subject: Subject): readonly Check[] {
  return [
    ...listStackChecks(subject),
    ...kinds.map((kind) =>
      defineCheck({
        matter,
        what: kind.what,
        async gather(reader) {
          const names = listTexts(listNewStacks(subject), kind.type, kind.property);
          return names.length === 0 ? [] : kind.find(names, reader, subject);
        },
        judge: (found) => judgeLeftovers(found, kind.toCommand),
      }),
    ),
    ...listInterfaceChecks(subject),
  ];
}

/** Names that are taken, while no stack has them: CloudFormation would fail at each. */
export function judgeLeftovers(found: readonly Leftover[], toCommand: (name: string) => string): Finding[] {
  if (found.length === 0) return [ok('none')];
  const rows = found.slice(0, rowsMax).map(({ name, deletedAt }) => {
    if (deletedAt !== undefined) {
      const taken = `was deleted on ${deletedAt.toISOString()}, and its name stays taken for days`;
      return about(name, mend(taken, `${toCommand(name)} --force-delete-without-recovery, or another stage`));
    }
    const keep = 'to keep it, docs/deploy.md#upgrade-roll-back-remove; or another stage';
    return about(name, mend('is there, and no stack has it', `${toCommand(name)}; ${keep}`));
  });
  const left = found.length - rows.length;
  return left === 0 ? rows : [...rows, mend(`and ${left} more`, 'the same')];
}

function listStackChecks({ plan, installed }: Subject): readonly Check[] {
  const what = 'stack';
  if (installed === undefined) {
    const next = `allow ${accountReads.describeStacks.action} to whoever runs this`;
    return [defineKnown(matter, 'stacks', [unchecked(`needs ${accountReads.describeStacks.action}`, next)])];
  }
  if (installed.size === 0)
    return [defineKnown(matter, 'stacks', [ok(`none is named ${plan.name}-…: a first deploy`)])];
  return [...installed].map(([name, stack]) =>
    defineKnown(matter, what, [about(name, judgeStack(name, stack))]),
  );
}

/** Whether CloudFormation can go on with a stack. */
export function judgeStack(name: string, { status, reason }: InstalledStack): Finding {
  const found = reason === undefined ? status : `${status}: ${reason}`;
  if (status === 'REVIEW_IN_PROGRESS') return note(found, 'an unfinished first deploy: the next one goes on');
  if (status.endsWith('_IN_PROGRESS')) return mend(found, 'wait until it is over');
  if (status === 'ROLLBACK_COMPLETE' || status === 'ROLLBACK_FAILED') {
    const open = name.endsWith('-data')
      ? `aws cloudformation update-termination-protection --no-enable-termination-protection --stack-name ${name}; `
      : '';
    return mend(found, `${open}aws cloudformation delete-stack --stack-name ${name}`);
  }
  if (status === 'DELETE_FAILED')
    return mend(found, `aws cloudformation describe-stack-events --stack-name ${name}; then delete-stack`);
  if (status === 'UPDATE_ROLLBACK_COMPLETE') return note(found, 'its last update went back');
  if (status.endsWith('_FAILED')) return mend(found, `npx cdk rollback ${name}`);
  return ok(found);
}

const kinds: readonly NamedKind[] = [
  {
    what: 'table',
    type: 'AWS::DynamoDB::Table',
    property: 'TableName',
    find: (names, reader) =>
      findEach(names, async (TableName) => {
        const answer = await reader.find(accountReads.describeTable, { TableName });
        return answer && { name: TableName };
      }),
    toCommand: (name) =>
      `aws dynamodb update-table --no-deletion-protection-enabled --table-name ${name} && aws dynamodb delete-table --table-name ${name}`,
  },
  {
    what: 'secret',
    type: 'AWS::SecretsManager::Secret',
    property: 'Name',
    find: (names, reader) =>
      findEach(names, async (SecretId) => {
        const answer = await reader.find(accountReads.describeSecret, { SecretId });
        return answer && { name: SecretId, deletedAt: answer.DeletedDate };
      }),
    toCommand: (name) => `aws secretsmanager delete-secret --secret-id ${name}`,
  },
  {
    what: 'alias of a key',
    type: 'AWS::KMS::Alias',
    property: 'AliasName',
    find: (names, reader) =>
      findEach(names, async (KeyId) => {
        const answer = await reader.find(accountReads.describeKey, { KeyId });
        return answer && { name: KeyId };
      }),
    toCommand: (name) => `aws kms delete-alias --alias-name ${name}`,
  },
  {
    what: 'log group',
    type: 'AWS::Logs::LogGroup',
    property: 'LogGroupName',
    find: findLogGroups,
    toCommand: (name) => `aws logs delete-log-group --log-group-name ${name}`,
  },
  {
    what: 'queue',
    type: 'AWS::SQS::Queue',
    property: 'QueueName',
    find: findQueues,
    toCommand: (name) =>
      `aws sqs delete-queue --queue-url "$(aws sqs get-queue-url --queue-name ${name} --output text)"`,
  },
  {
    what: 'event bus',
    type: 'AWS::Events::EventBus',
    property: 'Name',
    find: (names, reader) =>
      findEach(names, async (Name) => {
        const answer = await reader.find(accountReads.describeEventBus, { Name });
        return answer && { name: Name };
      }),
    toCommand: (name) => `aws events delete-event-bus --name ${name}`,
  },
  {
    what: 'parameter',
    type: 'AWS::SSM::Parameter',
    property: 'Name',
    find: (names, reader) =>
      findEach(names, async (Name) => {
        const answer = await reader.find(accountReads.getParameter, { Name });
        return answer && { name: Name };
      }),
    toCommand: (name) => `aws ssm delete-parameter --name ${name}`,
  },
];

async function findEach(
  names: readonly string[],
  find: (name: string) => Promise<Leftover | undefined>,
): Promise<Leftover[]> {
  const found = await Promise.all(names.map(find));
  return found.filter((one) => one !== undefined);
}

/** There are many of them: they are listed by how they begin. */
async function findLogGroups(
  names: readonly string[],
  reader: AccountReader,
  { plan }: Subject,
): Promise<Leftover[]> {
  const prefixes = ['/aws/lambda/', '/aws/apigateway/', '/aws/events/'].map((prefix) => prefix + plan.name);
  const pages = await Promise.all(
    prefixes.map((logGroupNamePrefix) =>
      reader.list(
        accountReads.describeLogGroups,
        (nextToken) => ({ logGroupNamePrefix, nextToken }),
        ({ nextToken }) => nextToken,
      ),
    ),
  );
  const there = new Set(
    pages.flat().flatMap(({ logGroups = [] }) => logGroups.map((group) => group.logGroupName)),
  );
  return names.filter((name) => there.has(name)).map((name) => ({ name }));
}

async function findQueues(
  names: readonly string[],
  reader: AccountReader,
  { plan }: Subject,
): Promise<Leftover[]> {
  const { QueueUrls = [] } = await reader.get(accountReads.listQueues, { QueueNamePrefix: plan.name });
  const there = new Set(QueueUrls.map((url) => url.slice(url.lastIndexOf('/') + 1)));
  return names.filter((name) => there.has(name)).map((name) => ({ name }));
}

function listInterfaceChecks(subject: Subject): readonly Check[] {
  const { vpcId } = subject.plan.context;
  if (vpcId === undefined) return [];
  return [
    defineCheck({
      matter,
      what: 'network interfaces of functions',
      async gather(reader) {
        if (!listNewStacks(subject).some(({ name }) => name === `${subject.plan.name}-network`)) return 0;
        const Filters = [
          { Name: 'vpc-id', Values: [vpcId] },
          { Name: 'description', Values: [`AWS Lambda VPC ENI-${subject.plan.name}-*`] },
        ];
        const answer = await reader.get(accountReads.describeNetworkInterfaces, { Filters });
        return answer.NetworkInterfaces?.length ?? 0;
      },
      judge: (count) => [judgeInterfaces(count)],
    }),
  ];
}

/** Interfaces that Lambda has not yet taken away hold no deploy up, but the removal of what they are in. */
export function judgeInterfaces(count: number): Finding {
  if (count === 0) return ok('none');
  return note(
    `${count} of an earlier installation`,
    'Lambda takes them away, 20 to 45 minutes after their functions',
  );
}
