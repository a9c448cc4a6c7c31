import type { Stack } from '@aws-sdk/client-cloudformation';
import { listTexts } from './deployment-plan.ts';
import { type Check, type Finding, mend, note, ok } from './rows.ts';
import { findNewStacks, type Subject } from './subject.ts';

/** Rows for one kind; what is beyond them is counted. */
const rowsMax = 5;

/** Log groups that are looked through. */
const logGroupsMax = 1000;

/** A kind of resource whose name is ours, and which may outlive its stack. */
interface NamedKind {
  readonly what: string;
  readonly type: string;
  /** The property with its name. */
  readonly property: string;
  /** The command that deletes NAME. */
  readonly command: string;
  /** Which of the names are taken. @throws NotReadError */
  findTaken(names: readonly string[], subject: Subject): Promise<readonly string[]>;
}

/** Tables and secrets are kept when a stack goes, and a function that is still at work makes its log group again. */
const kinds: readonly NamedKind[] = [
  {
    what: 'table',
    type: 'AWS::DynamoDB::Table',
    property: 'TableName',
    command:
      'aws dynamodb update-table --no-deletion-protection-enabled --table-name NAME && aws dynamodb delete-table --table-name NAME',
    findTaken: (names, { reads }) => keepTaken(names, (TableName) => reads.describeTable.find({ TableName })),
  },
  {
    what: 'secret',
    type: 'AWS::SecretsManager::Secret',
    property: 'Name',
    // One that was deleted keeps its name for days, unless it was deleted so.
    command: 'aws secretsmanager delete-secret --force-delete-without-recovery --secret-id NAME',
    findTaken: (names, { reads }) => keepTaken(names, (SecretId) => reads.describeSecret.find({ SecretId })),
  },
  {
    what: 'log group',
    type: 'AWS::Logs::LogGroup',
    property: 'LogGroupName',
    command: 'aws logs delete-log-group --log-group-name NAME',
    findTaken: findLogGroups,
  },
];

/** In which state the stacks of this name are, and what an earlier installation left. */
export function listLeftoverChecks(subject: Subject): readonly Check[] {
  return [
    { what: 'stack', find: () => checkStacks(subject) },
    ...kinds.map(({ what, type, property, command, findTaken }) => ({
      what,
      async find() {
        const names = listTexts(await findNewStacks(subject), type, property);
        return toFindings(names.length === 0 ? [] : await findTaken(names, subject), command);
      },
    })),
  ];
}

/** Names that are taken, while no stack has them: CloudFormation would fail at each. */
function toFindings(names: readonly string[], command: string): Finding | Finding[] {
  if (names.length === 0) return ok('none');
  const kept = 'to keep it, docs/deploy.md#upgrade-roll-back-remove; or another stage';
  const rows = names.slice(0, rowsMax).map((name) => ({
    ...mend('has its name still, and no stack has it', `${command.replaceAll('NAME', name)}; ${kept}`),
    about: name,
  }));
  const left = names.length - rows.length;
  return left === 0 ? rows : [...rows, mend(`and ${left} more`, 'the same')];
}

async function checkStacks({ plan, installed }: Subject): Promise<Finding | Finding[]> {
  const stacks = [...(await installed)];
  if (stacks.length === 0) return ok(`none is named ${plan.name}-…: a first deploy`);
  return stacks.map(([name, stack]) => ({ ...judgeStack(name, stack), about: name }));
}

/** Whether CloudFormation can go on with a stack. */
export function judgeStack(name: string, stack: Pick<Stack, 'StackStatus' | 'StackStatusReason'>): Finding {
  const status: string = stack.StackStatus ?? '';
  const reason = stack.StackStatusReason;
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
  if (status === 'UPDATE_ROLLBACK_COMPLETE')
    return note(found, 'its last update went back: the next deploy goes on');
  if (status.endsWith('_FAILED')) return mend(found, `npx cdk rollback ${name}`);
  return ok(found);
}

async function keepTaken(
  names: readonly string[],
  find: (name: string) => Promise<object | undefined>,
): Promise<string[]> {
  const found = await Promise.all(names.map(find));
  return names.filter((_, index) => found[index] !== undefined);
}

/** There are many of them: they are listed by how they begin. */
async function findLogGroups(names: readonly string[], { plan, reads }: Subject): Promise<string[]> {
  const logGroupNamePrefix = `/aws/lambda/${plan.name}-`;
  const there = new Set<string | undefined>();
  let nextToken: string | undefined;
  do {
    const answer = await reads.describeLogGroups.get({ logGroupNamePrefix, nextToken });
    for (const { logGroupName } of answer.logGroups ?? []) there.add(logGroupName);
    nextToken = answer.nextToken;
  } while (nextToken !== undefined && there.size < logGroupsMax);
  return names.filter((name) => there.has(name));
}
