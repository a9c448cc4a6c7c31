import { Template } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { synthesize } from '../stacks/synthesize.ts';
import {
  findBlindAlarms,
  findRepeatedRuns,
  findUnwatchedQueues,
  findUnwatchedSchedules,
} from './alarm-rules.ts';
import type { Assembly } from './assembly-rules.ts';
import { findExportLocks, findLargePolicies, findLargeTemplates, findLostData } from './assembly-rules.ts';

/** A resource as a template has it, to be changed. */
interface Resource {
  Type: string;
  Properties: { [name: string]: unknown };
}

interface Json {
  Resources: { [id: string]: Resource };
  Outputs: { [id: string]: unknown };
  Parameters: { [id: string]: unknown };
}

const sound: Assembly = synthesize();

/** The same stacks, one of them changed. */
function edit(stack: string, change: (json: Json) => void): Assembly {
  const json: Json = {
    Resources: {},
    Outputs: {},
    Parameters: {},
    ...structuredClone(sound.get(stack)?.toJSON()),
  };
  change(json);
  return new Map([...sound, [stack, Template.fromJSON({ ...json })]]);
}

/** The first resource of a type, of those with a property if that is told. @throws Error when there is none */
function find(
  json: Json,
  type: string,
  property?: readonly [name: string, value: unknown],
): [string, Resource] {
  const found = Object.entries(json.Resources).find(
    ([, { Type, Properties }]) =>
      Type === type && (property === undefined || Properties[property[0]] === property[1]),
  );
  if (found === undefined) throw new Error(`no ${type}`);
  return found;
}

/** The same stacks, with a property of the first resource of a type changed, or removed. */
function set(stack: string, type: string, changes: { readonly [property: string]: unknown }): Assembly {
  return edit(stack, (json) => Object.assign(find(json, type)[1].Properties, changes));
}

/** The same stacks without a resource. */
function drop(stack: string, type: string, property?: readonly [name: string, value: unknown]): Assembly {
  return edit(stack, (json) => delete json.Resources[find(json, type, property)[0]]);
}

const alarm = 'AWS::CloudWatch::Alarm';

describe('a rule about alarms finds', () => {
  it('nothing in what is sound', () => {
    expect(findBlindAlarms(sound)).toEqual([]);
    expect(findUnwatchedSchedules(sound)).toEqual([]);
    expect(findUnwatchedQueues(sound)).toEqual([]);
    expect(findRepeatedRuns(sound)).toEqual([]);
  });

  const ofFunctions = { Name: 'FunctionName' };
  const ours = { Namespace: 'Busdriver', MetricName: 'DeadLetters', Dimensions: [ofFunctions] };
  it.each<[what: string, changes: object, told: RegExp]>([
    ['a metric that nobody writes', { MetricName: 'QueueDepth' }, /nobody writes/],
    ['a namespace that is not', { Namespace: 'AWS/Queue' }, /nobody writes/],
    ['dimensions under which it is not', { Dimensions: [] }, /nobody writes/],
    [
      'a dimension too many',
      { MetricName: 'Errors', Dimensions: [ofFunctions, { Name: 'Reason' }] },
      /nobody writes/,
    ],
    ['a metric of ours under the wrong dimensions', ours, /nobody writes/],
    ['silence without a meaning', { TreatMissingData: undefined }, /what no data means/],
    ['silence that is passed over', { TreatMissingData: 'ignore' }, /what no data means/],
  ])('%s', (_what, changes, told) => {
    expect(findBlindAlarms(set('operations', alarm, { ...changes }))).toEqual([expect.stringMatching(told)]);
  });

  it('a metric that nobody writes among those that an alarm reckons with', () => {
    const Metrics = [{ MetricStat: { Metric: { Namespace: 'AWS/Lambda', MetricName: 'Fails' } } }];
    const changes = { Namespace: undefined, MetricName: undefined, Dimensions: undefined, Metrics };
    expect(findBlindAlarms(set('operations', alarm, changes))).toEqual([expect.stringContaining('"Fails"')]);
  });

  it.each(['"ConsumedReadCapacityUnits"', '"StaleAccounts"'])(
    'a graph of a metric that nobody writes: %s',
    (name) => {
      const broken = edit('dashboard', (json) => {
        const [, { Properties }] = find(json, 'AWS::CloudWatch::Dashboard');
        const body = JSON.stringify(Properties['DashboardBody']);
        Properties['DashboardBody'] = JSON.parse(
          body.replace(JSON.stringify(name).slice(1, -1), '\\"Nothing\\"'),
        );
      });
      expect(findBlindAlarms(broken)).toEqual([expect.stringContaining('"Nothing"')]);
    },
  );

  it.each([
    ['operations', 'sweep-tasks'],
    ['caching', 'schedule-agents'],
  ])('a schedule whose silence nobody notices, of %s', (stack, name) => {
    const silent = ['AlarmName', `busdriver-dev-${name}-silent`] as const;
    const quiet = edit(stack, (json) => {
      find(json, alarm, silent)[1].Properties['TreatMissingData'] = 'notBreaching';
    });
    const ofAnother = edit(stack, (json) => {
      find(json, alarm, silent)[1].Properties['Dimensions'] = [{ Name: 'FunctionName', Value: 'other' }];
    });
    for (const broken of [drop(stack, alarm, silent), quiet, ofAnother])
      expect(findUnwatchedSchedules(broken)).toEqual([expect.stringMatching(/\w/)]);
  });

  it.each([
    ['operations', 'operations-queue-age'],
    ['operations', 'operations-dead-letters-age'],
    ['caching', 'agent-streams-queue-age'],
  ])('a queue whose age nobody watches: in %s, without %s', (stack, name) => {
    expect(findUnwatchedQueues(drop(stack, alarm, ['AlarmName', `busdriver-dev-${name}`]))).toEqual([
      expect.stringContaining(name.replace(/-age$|-queue-age$/, '')),
    ]);
  });
});

describe('a rule about what EventBridge starts finds', () => {
  const limits = 'AWS::Lambda::EventInvokeConfig';
  const broken: readonly (readonly [what: string, change: (stack: string) => Assembly])[] = [
    ['without limits', (stack) => drop(stack, limits)],
    ['with limits of another', (stack) => set(stack, limits, { FunctionName: 'other' })],
    ['that Lambda starts again', (stack) => set(stack, limits, { MaximumRetryAttempts: 1 })],
    ['with no word about it', (stack) => set(stack, limits, { MaximumRetryAttempts: undefined })],
    ['that may begin late', (stack) => set(stack, limits, { MaximumEventAgeInSeconds: 61 })],
    ['that may begin hours late', (stack) => set(stack, limits, { MaximumEventAgeInSeconds: undefined })],
  ];
  it.each(broken)('a function %s', (_what, change) => {
    expect(findRepeatedRuns(change('operations'))).toEqual([expect.stringMatching(/sweeptasks/i)]);
    // A schedule, and events that start the same function.
    expect(findRepeatedRuns(change('caching'))).toHaveLength(2);
  });
});

/** A policy document of so many characters and more. */
function describePolicy(characters: number): object {
  return { Statement: [{ Effect: 'Allow', Action: 's3:GetObject', Resource: 'x'.repeat(characters) }] };
}

function addPolicies(type: string, sizes: readonly number[]): Assembly {
  return edit('operations', (json) => {
    const [role] = find(json, 'AWS::IAM::Role');
    for (const [index, size] of sizes.entries()) {
      const Properties = { Roles: [{ Ref: role }], PolicyDocument: describePolicy(size) };
      json.Resources[`Added${index}`] = { Type: `AWS::IAM::${type}`, Properties };
    }
  });
}

/** So many things by names of their own. */
function count(quantity: number, thing: object): { [name: string]: object } {
  return Object.fromEntries(Array.from({ length: quantity }, (_, index) => [`Thing${index}`, thing]));
}

describe('a rule about sizes finds', () => {
  it('nothing in what is sound', () => {
    expect([...findLargePolicies(sound), ...findLargeTemplates(sound)]).toEqual([]);
    expect(findLargePolicies(addPolicies('ManagedPolicy', [6_000]))).toEqual([]);
  });

  it.each([
    ['a managed policy', 'ManagedPolicy', [6_144], /managed policy Added0 has 6\d+/],
    ['inline policies together', 'Policy', [5_000, 5_300], /inline policies of .* have 1\d{4}/],
    ['a role', 'ManagedPolicy', Array<number>(11).fill(9), /has 11 managed policies/],
  ] as const)('%s with more than IAM takes', (...[, type, sizes, told]) => {
    expect(findLargePolicies(addPolicies(type, sizes))).toEqual([expect.stringMatching(told)]);
  });

  const topic = { Type: 'AWS::SNS::Topic', Properties: {} };
  it.each([
    ['Resources', 501, topic, /50\d|5[1-9]\d resources/],
    ['Outputs', 201, { Value: 'one' }, /2\d\d outputs/],
    ['Parameters', 201, { Type: 'String' }, /2\d\d parameters/],
  ] as const)('%s beyond what CloudFormation takes', (...[section, quantity, thing, told]) => {
    const broken = edit('operations', (json) => void Object.assign(json[section], count(quantity, thing)));
    expect(findLargeTemplates(broken)).toEqual([expect.stringMatching(told)]);
  });

  it('a template of more than a megabyte', () => {
    const large = set('operations', alarm, { AlarmDescription: 'x'.repeat(1_000_000) });
    expect(findLargeTemplates(large)).toEqual([expect.stringMatching(/operations: 1\d{6} bytes/)]);
  });

  it('variables that Lambda refuses', () => {
    const Environment = { Variables: { ACCOUNTS: 'x'.repeat(4_100) } };
    expect(findLargeTemplates(set('operations', 'AWS::Lambda::Function', { Environment }))).toEqual([
      expect.stringContaining('the variables of'),
    ]);
  });
});

describe('a rule about changes of options finds', () => {
  const types = [
    ['data', 'AWS::DynamoDB::Table'],
    ['operations', 'AWS::SQS::Queue'],
    ['bus', 'AWS::Events::EventBus'],
    ['api', 'AWS::ApiGateway::RestApi'],
  ] as const;

  it.each(types)('nothing where all stays, in %s', (stack, type) => {
    expect(findLostData(sound, sound)).toEqual([]);
    expect(findLostData(sound, set(stack, type, { Tags: [] }))).toEqual([]);
  });

  it.each(types)('in %s an %s that goes', (stack, type) => {
    expect(findLostData(sound, drop(stack, type))).toEqual([expect.stringMatching(`^${stack}: ${type} `)]);
  });

  it.each([
    ['data', 'AWS::DynamoDB::Table', { TableName: 'other' }],
    ['data', 'AWS::DynamoDB::Table', { KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }] }],
    ['operations', 'AWS::SQS::Queue', { QueueName: 'other' }],
    ['operations', 'AWS::SQS::Queue', { FifoQueue: true }],
    ['bus', 'AWS::Events::EventBus', { Name: 'other' }],
  ] as const)('in %s an %s that is made anew', (stack, type, changes) => {
    expect(findLostData(sound, set(stack, type, changes))).toEqual([
      expect.stringMatching(`^${stack}: ${type} `),
    ]);
  });

  it('a table that moves to another stack', () => {
    const moved = new Map(drop('data', 'AWS::DynamoDB::Table'));
    expect(findLostData(sound, moved)).toHaveLength(1);
  });
});

describe('a rule about exports finds', () => {
  const name = 'busdriver-dev-data:Key';
  const exporting = (Value: unknown): Assembly =>
    edit('data', (json) => Object.assign(json.Outputs, { Key: { Value, Export: { Name: name } } }));
  const Topic = { Type: 'AWS::SNS::Topic', Properties: { TopicName: { 'Fn::ImportValue': name } } };
  const importing = (assembly: Assembly): Assembly =>
    new Map([...assembly, ['importer', Template.fromJSON({ Resources: { Topic } })]]);

  it('nothing where it stays, or nobody imports it', () => {
    const before = importing(exporting('one'));
    expect(findExportLocks(before, before)).toEqual([]);
    expect(findExportLocks(exporting('one'), sound)).toEqual([]);
  });

  it('one that goes or changes while a stack of before imports it', () => {
    const before = importing(exporting('one'));
    const told = [expect.stringContaining(`data: importer imports "${name}"`)];
    expect(findExportLocks(before, importing(sound))).toEqual(told);
    expect(findExportLocks(before, sound)).toEqual(told);
    expect(findExportLocks(before, importing(exporting('two')))).toEqual(told);
  });

  it('one of an id that AWS chooses anew', () => {
    const grouped = (VpcId: string): Assembly => {
      const made = exporting({ 'Fn::GetAtt': ['Group', 'GroupId'] });
      const json = structuredClone(made.get('data')?.toJSON() ?? {}) as Json;
      const Properties = { VpcId, GroupDescription: 'x' };
      json.Resources['Group'] = { Type: 'AWS::EC2::SecurityGroup', Properties };
      return importing(new Map([...made, ['data', Template.fromJSON({ ...json })]]));
    };
    expect(findExportLocks(grouped('vpc-1'), grouped('vpc-1'))).toEqual([]);
    expect(findExportLocks(grouped('vpc-1'), grouped('vpc-2'))).toHaveLength(1);
  });
});
