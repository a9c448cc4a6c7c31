import { describe, expect, it } from 'vitest';
import { queues } from '#functions/queues.ts';
import type { Use } from '#functions/route.ts';
import { routes } from '#functions/routes.ts';
import { schedules } from '#functions/schedules.ts';
import { accountFactsPartition } from '#platform/aws/tables.ts';
import { loadSourceFiles } from '#test/architecture/source-files.ts';
import { getList, getOptions } from '../assembly/option-sets.ts';
import { getFunctionStatements, getResources, type Statement } from './policies.ts';
import { getTemplate, synthesize } from './synthesize.ts';

const set = 'private, endpoint of the operator: three hundred clusters by name';
/** In Secrets Manager, S3 and Parameter Store. */
const [accountSecretArn = '', objectArn = '', parameterArn = ''] = getList(set, 'accountSecretArns');
const templates = synthesize(getOptions(set));
const statements = getFunctionStatements(templates.values());

interface Row {
  readonly module: string;
  readonly reaches?: string;
  readonly uses?: readonly Use[] | undefined;
}

/** Routes that answer alike share a function. */
const routeRows = [...new Map(routes.map((route) => [route.module, route])).values()];

const rows: readonly Row[] = [
  ...routeRows,
  ...schedules,
  ...queues,
  ...queues.map(({ deadLetterModule, deadLetterUses }) => ({
    module: deadLetterModule,
    uses: deadLetterUses,
  })),
];

/** What every function may do: write its log and its traces. */
const always = [
  'logs:CreateLogStream',
  'logs:PutLogEvents',
  'xray:PutTelemetryRecords',
  'xray:PutTraceSegments',
];

/** What Lambda must do for a function in a VPC. */
const inVpc = [
  ...['ec2:AssignPrivateIpAddresses', 'ec2:CreateNetworkInterface', 'ec2:DeleteNetworkInterface'],
  ...['ec2:DescribeNetworkInterfaces', 'ec2:DescribeSubnets', 'ec2:UnassignPrivateIpAddresses'],
];

function getName(module: string): string {
  return module.slice(module.lastIndexOf('/') + 1);
}

function getStatements(module: string): readonly Statement[] {
  const found = statements.get(getName(module));
  if (found === undefined) throw new Error(`no function for ${module}`);
  return found;
}

/** What a function may do beyond what every one may. */
function getGranted(module: string): string[] {
  const allowed = getStatements(module).filter(({ effect }) => effect === 'Allow');
  const actions = new Set(allowed.flatMap(({ actions }) => actions));
  return [...actions].filter((action) => !always.includes(action) && !inVpc.includes(action)).sort();
}

function findModules(isGranted: (statement: Statement) => boolean): string[] {
  const found = rows.filter(({ module }) => getStatements(module).some(isGranted));
  return found.map(({ module }) => module).sort();
}

describe('a function', () => {
  it('has a role of its own', () => {
    const roles = [...templates.values()].flatMap((template) =>
      [...getResources(template).values()]
        .filter(({ Type }) => Type === 'AWS::Lambda::Function')
        .map(({ Properties }) => JSON.stringify(Properties['Role'])),
    );
    expect(new Set(roles).size).toBe(rows.length);
  });

  it('may do what it says it does, and nothing else', () => {
    expect(getGranted('api/health/get-health')).toEqual([]);
    const opens = ['kms:Decrypt', 'kms:DescribeKey'];
    const asks = ['dynamodb:GetItem', 'dynamodb:Query'];
    expect(getGranted('api/tasks/get-task')).toEqual([...asks, 'events:PutEvents', ...opens]);
    expect(getGranted('api/features/list-stages')).toEqual(['dynamodb:GetItem', ...opens]);
    const listing = getGranted('api/credentials/list-credentials');
    expect(listing).toEqual(['dynamodb:BatchGetItem', ...asks, ...opens]);
    expect(getGranted('api/operations/start-operations')).toEqual([
      ...['dynamodb:DeleteItem', 'dynamodb:GetItem', 'dynamodb:PutItem', 'dynamodb:Query'],
      ...['dynamodb:UpdateItem', 'events:PutEvents', 'kms:Decrypt', 'kms:DescribeKey', 'kms:Encrypt'],
      ...['kms:GenerateDataKey', 'kms:ReEncryptFrom', 'kms:ReEncryptTo', 'sqs:SendMessage'],
    ]);
  });

  it('that answers GET writes nothing but that accounts are used what was looked up in AWS and what can be reached, and sends for nothing but their agents and the audit', () => {
    const reading =
      /^(dynamodb:(GetItem|BatchGetItem|Query)|kms:(Decrypt|DescribeKey)|secretsmanager:(GetSecretValue|DescribeSecret)|s3:GetObject|ssm:GetParameter|eks:DescribeCluster|sts:AssumeRole)$/;
    const reads = routeRows.filter(({ method }) => method === 'GET');
    const isHarmless = ({ actions, resources, leadingKeys }: Statement): boolean => {
      if (actions.every((action) => reading.test(action) || action.startsWith('kms:'))) return true;
      if (actions.join() === 'events:PutEvents') return true;
      if (actions.join() === 'dynamodb:UpdateItem') return leadingKeys?.join() === 'AGENTS#*';
      if (actions.includes('dynamodb:PutItem')) return leadingKeys?.join() === 'LOOKUP#*,HEALTH';
      return actions.join() === 'sqs:SendMessage' && resources.every((one) => /agents/i.test(one));
    };

    const writing = reads.flatMap(({ module }) =>
      getStatements(module)
        .filter(({ effect, actions }) => effect === 'Allow' && !actions.some(isAlways))
        .filter((statement) => !isHarmless(statement))
        .map(({ actions }) => `${module}: ${actions.join()}`),
    );

    expect(reads.length).toBeGreaterThan(10);
    expect(writing).toEqual([]);
  });

  it.each([
    ['config', 'readAccounts'],
    ['artifacts', 'readArtifactAccounts'],
  ] as const)('reads the secret %s only where it says %s', (secret, use) => {
    expect(findModules((statement) => isSecretRead(statement, secret))).toEqual(listModules(use));
  });

  it('that lives on the facts of accounts may read these, and nothing else in the cache, for their sake', () => {
    const isFactsRead = ({ actions, leadingKeys }: Statement): boolean =>
      actions.join() === 'dynamodb:GetItem' && leadingKeys?.join() === accountFactsPartition;
    expect(findModules(isFactsRead)).toEqual(listModules('readAccountFacts'));
    expect(listModules('readAccountFacts').length).toBeGreaterThan(30);
  });

  it('asks for comparisons only where it says so, and does nothing else with epochs', () => {
    const isRequest = ({ actions, leadingKeys }: Statement): boolean =>
      actions.join() === 'dynamodb:UpdateItem' && leadingKeys?.join() === 'EPOCH#*';
    expect(findModules(isRequest)).toEqual(listModules('requestComparisons'));
  });

  it('assumes roles, looks up clusters and reads secrets of accounts only where it reaches clusters', () => {
    const reaching = rows.filter(({ reaches }) => reaches === 'cluster').map(({ module }) => module);
    expect(reaching).toContain('workers/run-operations');
    for (const action of ['sts:AssumeRole', 'eks:DescribeCluster']) {
      expect(findModules(({ actions }) => actions.includes(action))).toEqual(reaching.sort());
    }
    const isRead = ({ actions, resources }: Statement) =>
      actions.includes('secretsmanager:GetSecretValue') && resources.includes(accountSecretArn);
    expect(findModules(isRead)).toEqual(reaching);
  });

  it('reads secrets of accounts by what their store needs, and no more', () => {
    const reaching = rows.filter(({ reaches }) => reaches === 'cluster');
    const expected = new Map([
      [accountSecretArn, ['secretsmanager:DescribeSecret', 'secretsmanager:GetSecretValue']],
      [objectArn, ['s3:GetObject']],
      [parameterArn, ['ssm:GetParameter']],
    ]);

    for (const { module } of reaching) {
      for (const [arn, actions] of expected) {
        const granted = getStatements(module).filter(({ resources }) => resources.includes(arn));
        expect([module, granted.flatMap((statement) => [...statement.actions].sort())]).toEqual([
          module,
          actions,
        ]);
      }
    }
    const secretReads = ['s3:GetObject', 'ssm:GetParameter'];
    for (const action of secretReads) {
      expect(findModules(({ actions }) => actions.includes(action)).sort()).toEqual(
        reaching.map(({ module }) => module).sort(),
      );
    }
  });

  it('shares what it looked up, and which accounts can be reached, only where it reaches clusters', () => {
    const reaching = rows.filter(({ reaches }) => reaches === 'cluster').map(({ module }) => module);

    const isSharing = ({ effect, leadingKeys }: Statement): boolean =>
      effect === 'Allow' && leadingKeys?.join() === 'LOOKUP#*,HEALTH';
    expect(findModules(isSharing)).toEqual(reaching.sort());
    // Discovery is shared where nothing of AWS is named, too.
    const unnamed = getFunctionStatements(synthesize().values());
    expect(
      [...unnamed]
        .filter(([, all]) => all.some(isSharing))
        .map(([name]) => name)
        .sort(),
    ).toEqual([...new Set(reaching.map(getName))].sort());
  });

  it('is granted no wildcard but where AWS knows nothing else', () => {
    const wild = rows.flatMap(({ module }) =>
      getStatements(module)
        .filter(({ effect, resources }) => effect === 'Allow' && resources.some((one) => one.includes('*')))
        .flatMap(({ actions }) => actions),
    );

    const describing = ['ec2:DescribeNetworkInterfaces', 'ec2:DescribeSubnets'];
    expect(new Set(wild)).toEqual(new Set([...always.slice(2), ...inVpc]));
    expect(rows.flatMap(({ module }) => getGranted(module)).filter((action) => action.includes('*'))).toEqual(
      [],
    );
    for (const { module } of rows) {
      const everywhere = getStatements(module).filter(
        ({ effect, resources }) => effect === 'Allow' && resources.includes('*'),
      );
      const actions = everywhere.flatMap(({ actions }) => actions);
      expect(actions.filter((action) => ![...always, ...describing].includes(action))).toEqual([]);
    }
  });

  it('cannot itself touch the network interfaces that Lambda makes for it', () => {
    const denied = rows.filter(({ module }) =>
      getStatements(module).some(
        ({ effect, actions }) => effect === 'Deny' && inVpc.every((one) => actions.includes(one)),
      ),
    );
    const away = rows.filter(({ reaches = 'store' }) => reaches !== 'store');
    expect(denied.map(({ module }) => module)).toEqual(away.map(({ module }) => module));
  });
});

function isAlways(action: string): boolean {
  return [...always, ...inVpc].includes(action);
}

function listModules(use: Use): string[] {
  return rows
    .filter(({ uses }) => uses?.includes(use))
    .map(({ module }) => module)
    .sort();
}

/** Whether it is about the secret of that name which the stack makes. */
function isSecretRead({ actions, resources }: Statement, secret: string): boolean {
  const isAbout = (resource: string): boolean => resource.includes(`${secret}secretarn`);
  return actions.includes('secretsmanager:GetSecretValue') && resources.some(isAbout);
}

describe('API Gateway', () => {
  it('may call the functions of routes, and no others', () => {
    const api = getTemplate(templates, 'api');
    // What does not fit into the first policy of its role stands in a managed one.
    const policies = [...getResources(api).values()].filter(({ Type }) =>
      /^AWS::IAM::(Managed)?Policy$/.test(Type),
    );
    const invoking = JSON.stringify(policies);

    expect(policies).toHaveLength(2);
    expect(invoking.match(/Outputs\.\w+Arn/g)).toHaveLength(routeRows.length);
    expect(invoking).not.toContain('*');
  });
});

describe('what a row says of its uses', () => {
  const sources = new Map(loadSourceFiles().map(({ path, text }) => [path, text]));
  const opens = ({ module }: Row, pattern: RegExp): boolean =>
    pattern.test(sources.get(`functions/${module}.ts`) ?? '');

  it('agrees with the services that its function opens', () => {
    const wrong = rows.filter((row) => {
      // The gate looks at accounts before any function that it lets callers into.
      const accounts = opens(
        row,
        /open(Providers|Operations|Reads)\b|viewHandler|apiHandler|providerHandler/,
      );
      // Whether agents of an account are connected stands beside the tasks.
      const tasks = opens(
        row,
        /open(Tasks|TaskList|WorkTasks|Operations)\b|get(ExpandedAccount|AgentHealth)\b|listExpandedAccounts\b/,
      );
      const agents = opens(row, /openAgents\b/);
      const streams = opens(row, /openStreams\b/);
      const views = opens(row, /viewHandler/);
      const cache = views || opens(row, /open(Reads|Cache|AgentStore)\b/);
      const uses: readonly Use[] = row.uses ?? [];
      return (
        accounts !== (uses.includes('readAccountFacts') || uses.includes('readAccounts')) ||
        (uses.includes('readArtifactAccounts') && !accounts) ||
        tasks !== (uses.includes('readTasks') || uses.includes('findAgents')) ||
        (streams && !['readCache', 'writeCache', 'sendStreams'].every((use) => uses.includes(use as Use))) ||
        (cache && !uses.includes('readCache')) ||
        (views && !['wakeAgents', 'sendAgents'].every((use) => uses.includes(use as Use))) ||
        (agents && !['readCache', 'writeCache', 'sendAgents'].every((use) => uses.includes(use as Use)))
      );
    });

    expect(wrong.map(({ module }) => module)).toEqual([]);
  });
});
