import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App, Stack } from 'aws-cdk-lib';
import { createStacks } from '../stacks/all-stacks.ts';

/** How many there are of what is paid for by its number, or might be taken to be. */
export interface TemplateCounts {
  /** Metrics that alarms watch: what an alarm costs goes by them. */
  readonly alarmMetrics: number;
  readonly alarms: number;
  readonly dashboards: number;
  /** Metrics that are not AWS' own: those that alarms watch or dashboards show, and those that metric filters make of logs. */
  readonly customMetrics: number;
  readonly logGroups: number;
  readonly eventRules: number;
  /** Rules that start a function again and again. */
  readonly schedules: number;
  readonly functions: number;
  /** Queues that Lambda polls, dead letters included. */
  readonly polledQueues: number;
  readonly tables: number;
  readonly secrets: number;
  readonly keys: number;
  /** Interface endpoints that are made. */
  readonly endpoints: number;
}

interface Resource {
  readonly type: string;
  readonly properties: Fields;
}

type Fields = { readonly [name: string]: unknown };

/** An installation as deploy.md advises: private, with an endpoint of its own, callers known by a secret. */
const usualOptions = {
  vpcId: 'vpc-0123456789abcdef0',
  subnetIds: 'subnet-0123456789abcdef0,subnet-0123456789abcdef1',
  clientCidrs: '10.20.0.0/16',
  authentication: 'secret',
};

/** Counts what the templates of a usual installation have. They are synthesized, some seconds; no function is bundled. */
export function countTemplates(): TemplateCounts {
  const resources = synthesize();
  const count = (type: string, isMeant: (fields: Fields) => boolean = () => true): number =>
    resources.filter((each) => each.type === type && isMeant(each.properties)).length;
  const alarms = resources.filter(({ type }) => type === 'AWS::CloudWatch::Alarm');
  const watched = alarms.flatMap(({ properties }) => listMetrics(properties));
  const filters = resources.filter(({ type }) => type === 'AWS::Logs::MetricFilter');
  const made = filters.flatMap(({ properties }) => toList(properties['MetricTransformations']));
  const dashboards = resources.filter(({ type }) => type === 'AWS::CloudWatch::Dashboard');
  const shown = dashboards.flatMap(({ properties }) => listShownMetrics(properties['DashboardBody']));
  const custom = [...watched, ...shown, ...made.map(toFilterMetric)].filter(
    (name) => !name.startsWith('AWS/'),
  );
  return {
    alarmMetrics: watched.length,
    alarms: alarms.length,
    dashboards: count('AWS::CloudWatch::Dashboard'),
    customMetrics: new Set(custom).size,
    logGroups: count('AWS::Logs::LogGroup'),
    eventRules: count('AWS::Events::Rule'),
    schedules: count('AWS::Events::Rule', (rule) => rule['ScheduleExpression'] !== undefined),
    functions: count('AWS::Lambda::Function'),
    polledQueues: count('AWS::Lambda::EventSourceMapping'),
    tables: count('AWS::DynamoDB::Table'),
    secrets: count('AWS::SecretsManager::Secret'),
    keys: count('AWS::KMS::Key'),
    endpoints: count('AWS::EC2::VPCEndpoint'),
  };
}

/** All resources of all stacks. */
function synthesize(): readonly Resource[] {
  const outdir = mkdtempSync(join(tmpdir(), 'busdriver-cost-'));
  try {
    const { context } = readJson(join(import.meta.dirname, '..', '..', 'cdk.json'));
    const app = new App({
      outdir,
      // It takes longer than all else, and only numbers are wanted.
      builtinCloudFormationValidation: false,
      treeMetadata: false,
      context: { ...toFields(context), 'aws:cdk:bundling-stacks': [], ...usualOptions },
    });
    createStacks(app);
    app.synth();
    const stacks = app.node.findAll().filter((construct) => Stack.isStack(construct));
    return stacks.flatMap(({ templateFile }) => {
      const resources = toFields(readJson(join(outdir, templateFile))['Resources']);
      return Object.values(resources).map((resource) => {
        const { Type, Properties } = toFields(resource);
        return { type: String(Type), properties: toFields(Properties) };
      });
    });
  } finally {
    rmSync(outdir, { recursive: true, force: true });
  }
}

/** Names of the metrics of an alarm with their dimensions; of an expression all that it is made of. */
function listMetrics(alarm: Fields): string[] {
  const queries = toList(alarm['Metrics']).flatMap(({ MetricStat }) =>
    MetricStat === undefined ? [] : [toFields(toFields(MetricStat)['Metric'])],
  );
  const all = alarm['MetricName'] === undefined ? queries : [alarm];
  return all.map(({ Namespace, MetricName, Dimensions }) =>
    toMetricName([Namespace, MetricName, ...toList(Dimensions).flatMap(({ Name, Value }) => [Name, Value])]),
  );
}

/** Names of the metrics on a dashboard, whose body is JSON in a text, or in parts of one. */
function listShownMetrics(body: unknown): string[] {
  const joined = toFields(body)['Fn::Join'];
  const parts: readonly unknown[] = Array.isArray(joined) && Array.isArray(joined[1]) ? joined[1] : [body];
  // What CloudFormation puts in between are names of regions and the like.
  const text = parts.map((part) => (typeof part === 'string' ? part : 'x')).join('');
  return toList(toFields(JSON.parse(text))['widgets']).flatMap(({ properties }) => {
    const metrics = toFields(properties)['metrics'];
    return (Array.isArray(metrics) ? metrics : []).map((metric: unknown) =>
      toMetricName((Array.isArray(metric) ? metric : []).filter((part) => typeof part === 'string')),
    );
  });
}

function toFilterMetric({ MetricNamespace, MetricName, Dimensions }: Fields): string {
  return toMetricName([
    MetricNamespace,
    MetricName,
    ...toList(Dimensions).flatMap(({ Key, Value }) => [Key, Value]),
  ]);
}

/** Namespace, name, and names and values of dimensions, in one text. */
function toMetricName(parts: readonly unknown[]): string {
  return parts.map((part) => (typeof part === 'string' ? part : JSON.stringify(part))).join(' ');
}

function readJson(file: string): Fields {
  return toFields(JSON.parse(readFileSync(file, 'utf8')));
}

function toFields(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

function toList(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? value.map(toFields) : [];
}
