import { findResources } from './deployment-plan.ts';
import { type Check, type Finding, mend, ok } from './rows.ts';
import { findNewStacks, type Subject } from './subject.ts';

/** Lambda keeps as many concurrent executions for functions that reserve none ("Configuring reserved concurrency"). */
const unreservedMin = 100;

/** What one function and its maps take in Lambda, bytes, at most: test/infra/aws/bundling/bundles.templates.test.ts holds them to less. */
const functionBytesMax = 8_000_000;

/** Resource policies of CloudWatch Logs in a region; AWS does not raise it ("CloudWatch Logs quotas"). */
const logPoliciesMax = 10;

const increaseCommand = 'aws service-quotas request-service-quota-increase --service-code';

/** What the deploy needs against what the account has left, of those quotas that it takes much of. */
export function listQuotaChecks(subject: Subject): readonly Check[] {
  return [
    { what: 'concurrent executions of Lambda', find: () => checkConcurrency(subject) },
    { what: 'storage of Lambda, GB', find: () => checkStorage(subject) },
    { what: 'roles of IAM', find: () => checkRoles(subject) },
    { what: 'resource policies of CloudWatch Logs', find: () => checkLogPolicies(subject) },
  ];
}

/** Whether the reserve of our functions can be taken. */
async function checkConcurrency({ plan, reads }: Subject): Promise<Finding> {
  const reserving = findResources(plan.stacks, 'AWS::Lambda::Function').flatMap(({ properties }) => {
    const { FunctionName, ReservedConcurrentExecutions: reserved } = properties;
    return typeof reserved === 'number' ? [{ FunctionName: String(FunctionName), reserved }] : [];
  });
  const [{ AccountLimit = {} }, ...reserves] = await Promise.all([
    reads.getAccountSettings.get({}),
    ...reserving.map(({ FunctionName }) => reads.getFunctionConcurrency.find({ FunctionName })),
  ]);
  const { ConcurrentExecutions: limit = 0, UnreservedConcurrentExecutions: unreserved = 0 } = AccountLimit;
  const available = unreserved + sum(reserves.map((answer) => answer?.ReservedConcurrentExecutions ?? 0));
  const needed = sum(reserving.map(({ reserved }) => reserved));
  const left = available - needed;
  const count = `limit ${limit}, ${available} not reserved by others, ${needed} to be reserved`;
  if (left >= unreservedMin) return ok(`${count}; ${left} are left for all other functions`);
  const desired = Math.max(1000, limit + unreservedMin - left);
  const increase = `${increaseCommand} lambda --quota-code L-B99A9384 --desired-value ${desired}`;
  const spare = available - unreservedMin;
  const less = spare >= 2 ? `; or -c concurrency=operations=${spare}` : '';
  return mend(`${count}: Lambda must keep ${unreservedMin} for the others`, `${increase}${less}`);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}

async function checkStorage(subject: Subject): Promise<Finding> {
  const functions = findResources(await findNewStacks(subject), 'AWS::Lambda::Function');
  const { AccountLimit, AccountUsage } = await subject.reads.getAccountSettings.get({});
  const toGb = (bytes = 0): number => Math.round(bytes / 1e8) / 10;
  return judgeQuota(
    {
      limit: toGb(AccountLimit?.TotalCodeSize),
      used: toGb(AccountUsage?.TotalCodeSize),
      needed: toGb(functionBytesMax * functions.length),
    },
    'delete functions and versions that nobody needs',
  );
}

async function checkRoles(subject: Subject): Promise<Finding> {
  const needed = findResources(await findNewStacks(subject), 'AWS::IAM::Role').length;
  const { SummaryMap = {} } = await subject.reads.getAccountSummary.get({});
  const { RolesQuota: limit = 0, Roles: used = 0 }: { readonly [name: string]: number } = SummaryMap;
  // A quota of the account, which is asked for in this region alone.
  const increase = `${increaseCommand} iam --quota-code L-FE177D64 --desired-value ${used + needed} --region us-east-1`;
  return judgeQuota({ limit, used, needed }, increase);
}

async function checkLogPolicies(subject: Subject): Promise<Finding> {
  const needed = findResources(await findNewStacks(subject), 'AWS::Logs::ResourcePolicy').length;
  const { resourcePolicies = [] } = await subject.reads.describeLogPolicies.get({ limit: 50 });
  return judgeQuota(
    { limit: logPoliciesMax, used: resourcePolicies.length, needed },
    'aws logs describe-resource-policies; then delete-resource-policy of one that nobody needs',
  );
}

/** How many of something there may be, there are, and the deploy adds. */
interface QuotaFacts {
  readonly limit: number;
  readonly used: number;
  readonly needed: number;
}

/** What is left of a quota. @param next what to do where it is not enough */
function judgeQuota({ limit, used, needed }: QuotaFacts, next: string): Finding {
  const count = `${used} of ${limit} used, ${needed} needed`;
  return used + needed > limit ? mend(count, next) : ok(count);
}
