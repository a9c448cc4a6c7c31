import { getPath } from '../../shared/core/json.ts';
import { type AccountReader, pagesMax } from './account-reader.ts';
import { accountReads } from './account-reads.ts';
import { listConcurrencyChecks } from './concurrency.ts';
import { findResources } from './deployment-plan.ts';
import { judgeQuota, type QuotaCode, type QuotaFacts, readQuota, toIncreaseCommand } from './quota-rules.ts';
import { type Check, defineCheck, ok } from './rows.ts';
import { listNewStacks, type Subject } from './subject.ts';

const matter = 'quotas';

/** A count, which may have ended before everything was counted. */
interface Count {
  readonly used: number;
  readonly isWhole: boolean;
}

/** APIs of one type in a region; AWS raises neither of them ("Quotas for configuring and running a REST API in API Gateway"). */
const apisMax = 600;

/** Resource policies of CloudWatch Logs in a region; AWS does not raise it ("CloudWatch Logs quotas"). */
const logPoliciesMax = 10;

/** What the deploy needs against what the account has left. */
export function listQuotaChecks(subject: Subject): readonly Check[] {
  return [
    ...listConcurrencyChecks(subject),
    ...listIamChecks(subject),
    makeStackCheck(subject),
    ...listApiChecks(subject),
    makeLogPolicyCheck(subject),
    makeQuotaCheck(subject, {
      what: 'event buses',
      code: { serviceCode: 'events', quotaCode: 'L-658A4FD9' },
      type: 'AWS::Events::EventBus',
      count: (reader) => countBuses(reader),
    }),
    makeQuotaCheck(subject, {
      what: 'rules of the default event bus',
      code: { serviceCode: 'events', quotaCode: 'L-244521F2' },
      type: 'AWS::Events::Rule',
      isNeeded: (properties) => properties['EventBusName'] === undefined,
      count: (reader) => countRules(reader),
    }),
    makeQuotaCheck(subject, {
      what: 'tables of DynamoDB',
      code: { serviceCode: 'dynamodb', quotaCode: 'L-F98FE922' },
      type: 'AWS::DynamoDB::Table',
      count: (reader) => countTables(reader),
    }),
    makeQuotaCheck(subject, {
      what: 'interface endpoints of the VPC',
      code: { serviceCode: 'vpc', quotaCode: 'L-29B6F2EB' },
      type: 'AWS::EC2::VPCEndpoint',
      count: (reader) => countEndpoints(subject, reader),
    }),
  ];
}

interface QuotaCheckParts {
  readonly what: string;
  readonly code: QuotaCode;
  /** The resources that count. */
  readonly type: string;
  /** Which of them count. Default: all. */
  isNeeded?(properties: object & { readonly [name: string]: unknown }): boolean;
  count(reader: AccountReader): Promise<Count>;
}

function makeQuotaCheck(subject: Subject, { code, type, ...parts }: QuotaCheckParts): Check {
  const { isNeeded = () => true } = parts;
  return defineCheck({
    matter,
    what: parts.what,
    async gather(reader): Promise<QuotaFacts> {
      const resources = findResources(listNewStacks(subject), type);
      const needed = resources.filter(({ properties }) => isNeeded(properties)).length;
      if (needed === 0) return { limit: 0, used: 0, isWhole: true, needed };
      const [limit, count] = await Promise.all([readQuota(code, reader), parts.count(reader)]);
      return { limit, ...count, needed };
    },
    judge: (facts) => [
      facts.needed === 0
        ? ok('none is needed, or all are there')
        : judgeQuota(facts, toIncreaseCommand(code, facts.used + facts.needed)),
    ],
  });
}

/** IAM tells its quotas and what there is of them in one answer. */
function listIamChecks(subject: Subject): readonly Check[] {
  const kinds = [
    { what: 'roles of IAM', type: 'AWS::IAM::Role', used: 'Roles', limit: 'RolesQuota', code: 'L-FE177D64' },
    {
      what: 'managed policies of IAM',
      type: 'AWS::IAM::ManagedPolicy',
      used: 'Policies',
      limit: 'PoliciesQuota',
      code: 'L-E95E4862',
    },
  ];
  return kinds.map(({ what, type, ...keys }) =>
    defineCheck({
      matter,
      what,
      async gather(reader): Promise<QuotaFacts> {
        const needed = findResources(listNewStacks(subject), type).length;
        const { SummaryMap = {} } = await reader.get(accountReads.getAccountSummary, {});
        const values: { readonly [name: string]: number | undefined } = SummaryMap;
        return { limit: values[keys.limit] ?? 0, used: values[keys.used] ?? 0, isWhole: true, needed };
      },
      judge: (facts) => [
        judgeQuota(
          facts,
          toIncreaseCommand({ serviceCode: 'iam', quotaCode: keys.code }, facts.used + facts.needed),
        ),
      ],
    }),
  );
}

/** CloudFormation counts nested stacks, too. */
function makeStackCheck(subject: Subject): Check {
  const code = { serviceCode: 'cloudformation', quotaCode: 'L-0485CB21' };
  return defineCheck({
    matter,
    what: 'stacks of CloudFormation',
    async gather(reader): Promise<QuotaFacts> {
      const stacks = listNewStacks(subject);
      const needed = stacks.length + findResources(stacks, 'AWS::CloudFormation::Stack').length;
      const [{ AccountLimits = [] }, pages] = await Promise.all([
        reader.get(accountReads.describeAccountLimits, {}),
        reader.list(
          accountReads.describeStacks,
          (NextToken) => ({ NextToken }),
          ({ NextToken }) => NextToken,
        ),
      ]);
      const limit = AccountLimits.find(({ Name }) => Name === 'StackLimit')?.Value ?? 0;
      const used = pages.flatMap(({ Stacks = [] }) => Stacks).length;
      return { limit, used, isWhole: pages.length < pagesMax, needed };
    },
    judge: (facts) => [judgeQuota(facts, toIncreaseCommand(code, facts.used + facts.needed))],
  });
}

function listApiChecks(subject: Subject): readonly Check[] {
  const { stacks, context } = subject.plan;
  const type = context.publicApi ? 'REGIONAL' : 'PRIVATE';
  const resourceCode = { serviceCode: 'apigateway', quotaCode: 'L-01C8A9E0' };
  return [
    defineCheck({
      matter,
      what: `${type.toLowerCase()} REST APIs`,
      async gather(reader): Promise<QuotaFacts> {
        const needed = findResources(listNewStacks(subject), 'AWS::ApiGateway::RestApi').length;
        const pages = await reader.list(
          accountReads.getRestApis,
          (position) => ({ limit: 500, position }),
          ({ position }) => position,
        );
        const apis = pages
          .flatMap(({ items = [] }) => items)
          .filter((api) => api.endpointConfiguration?.types?.includes(type));
        return { limit: apisMax, used: apis.length, isWhole: pages.length < pagesMax, needed };
      },
      judge: (facts) => [judgeQuota(facts, 'delete APIs, or take another region: AWS does not raise it')],
    }),
    defineCheck({
      matter,
      what: 'resources of the REST API',
      async gather(reader): Promise<QuotaFacts> {
        const needed = countApiResources(stacks);
        return { limit: await readQuota(resourceCode, reader), used: 0, isWhole: true, needed };
      },
      judge: (facts) => [judgeQuota(facts, toIncreaseCommand(resourceCode, facts.needed))],
    }),
  ];
}

/** Each part of a path is a resource, which paths that begin alike share. */
export function countApiResources(stacks: Subject['plan']['stacks']): number {
  const paths = findResources(stacks, 'AWS::ApiGateway::RestApi').flatMap(({ properties }) =>
    Object.keys(Object(getPath(properties, 'Body', 'paths'))),
  );
  const resources = paths.flatMap((path) => {
    const parts = path.split('/').filter((part) => part !== '');
    return parts.map((_, index) => parts.slice(0, index + 1).join('/'));
  });
  // The root is one, too.
  return new Set(resources).size + 1;
}

function makeLogPolicyCheck(subject: Subject): Check {
  return defineCheck({
    matter,
    what: 'resource policies of CloudWatch Logs',
    async gather(reader): Promise<QuotaFacts> {
      const needed = findResources(listNewStacks(subject), 'AWS::Logs::ResourcePolicy').length;
      const { resourcePolicies = [] } = await reader.get(accountReads.describeLogPolicies, { limit: 50 });
      return { limit: logPoliciesMax, used: resourcePolicies.length, isWhole: true, needed };
    },
    judge: (facts) => [
      judgeQuota(
        facts,
        'aws logs describe-resource-policies; then delete-resource-policy of one that nobody needs',
      ),
    ],
  });
}

async function countBuses(reader: AccountReader): Promise<Count> {
  const pages = await reader.list(
    accountReads.listEventBuses,
    (NextToken) => ({ NextToken }),
    ({ NextToken }) => NextToken,
  );
  return {
    used: pages.flatMap(({ EventBuses = [] }) => EventBuses).length,
    isWhole: pages.length < pagesMax,
  };
}

async function countRules(reader: AccountReader): Promise<Count> {
  const pages = await reader.list(
    accountReads.listRules,
    (NextToken) => ({ NextToken }),
    ({ NextToken }) => NextToken,
  );
  return { used: pages.flatMap(({ Rules = [] }) => Rules).length, isWhole: pages.length < pagesMax };
}

async function countTables(reader: AccountReader): Promise<Count> {
  const pages = await reader.list(
    accountReads.listTables,
    (ExclusiveStartTableName) => ({ ExclusiveStartTableName }),
    ({ LastEvaluatedTableName }) => LastEvaluatedTableName,
  );
  return {
    used: pages.flatMap(({ TableNames = [] }) => TableNames).length,
    isWhole: pages.length < pagesMax,
  };
}

async function countEndpoints({ plan }: Subject, reader: AccountReader): Promise<Count> {
  const Filters = [
    { Name: 'vpc-id', Values: [plan.context.vpcId ?? ''] },
    { Name: 'vpc-endpoint-type', Values: ['Interface'] },
  ];
  const pages = await reader.list(
    accountReads.describeVpcEndpoints,
    (NextToken) => ({ Filters, NextToken }),
    ({ NextToken }) => NextToken,
  );
  return {
    used: pages.flatMap(({ VpcEndpoints = [] }) => VpcEndpoints).length,
    isWhole: pages.length < pagesMax,
  };
}
