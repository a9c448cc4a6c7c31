import * as metrics from '#core/metrics.ts';
import { contextOptions } from '#infra/aws/context/context-options.ts';
import { startProgram } from '#infra/local/cli-options.ts';
import { formatHelp } from '#infra/options.ts';
import { variables } from '#platform/config.ts';
import { accountOptions } from '#providers/kubernetes/account/account-fields.ts';
import { type Addition, addition } from './additions.ts';
import type { RepositoryTexts } from './repository-texts.ts';

const config = 'shared/platform/config.ts';
const configTest = 'test/shared/platform/config.test.ts';

/** What is configured and measured. */
export const settingAdditions: readonly Addition[] = [
  addition(
    {
      guide: 'setting',
      what: 'a setting of the environment',
      list: () => Object.entries(variables).map(([setting, variable]) => ({ setting, variable })),
      newcomer: { setting: 'quietHours', variable: 'BUSDRIVER_QUIET_HOURS' },
    },
    [
      {
        isKept: ({ setting }, texts) => {
          const name = new RegExp(`\\b${setting}\\b`, 'g');
          const isUsedThere = (texts.read(config).match(name)?.length ?? 0) > 1;
          return (
            isUsedThere ||
            texts.list('shared/').some((file) => file !== config && name.test(texts.read(file)))
          );
        },
        tell: ({ setting, variable }) => [
          `nothing uses ${variable}`,
          `use ${setting} of Config, or remove it from ${config}`,
        ],
      },
      {
        isKept: ({ variable }, texts) => findVariableText(variable, texts.read(config)) !== undefined,
        tell: ({ variable }) => [
          `${config} does not say what ${variable} means`,
          'its setting needs a docstring',
        ],
      },
      {
        isKept: ({ variable }, texts) => texts.read('docs/architecture.md').includes(`| \`${variable}\` |`),
        tell: ({ variable }) => [
          `docs/architecture.md has no row of ${variable}`,
          'run npx vitest run test/architecture/environment-page.test.ts --update',
        ],
      },
      {
        isKept: ({ variable }, texts) => texts.read(configTest).includes(variable),
        tell: ({ variable }) => [
          `no test of ${variable}`,
          `${configTest} must say what becomes of it, and what is refused`,
        ],
      },
    ],
  ),
  addition(
    {
      guide: 'setting',
      what: 'a name of the environment',
      list: listWrittenVariables,
      newcomer: { file: 'infra/local/environment.ts', variable: 'BUSDRIVER_QUIET_HOURS', isKnown: false },
    },
    [
      {
        isKept: ({ isKnown }) => isKnown,
        tell: ({ file, variable }) => [
          `${file} names ${variable}, which ${config} does not know`,
          'add its setting there',
        ],
      },
    ],
  ),
  addition(
    {
      guide: 'account-option',
      what: 'an option of accounts',
      list: () => accountOptions.map((option: string) => ({ option })),
      newcomer: { option: 'quietHours' },
    },
    [
      {
        isKept: ({ option }, texts) =>
          texts.readSection('docs/kubernetes.md', 'Options of an account').includes(`\`${option}\``),
        tell: ({ option }) => [
          `docs/kubernetes.md has no row of ${option} below 'Options of an account'`,
          'add it',
        ],
      },
      {
        isKept: ({ option }, texts) =>
          texts.isNamedIn('test/shared/providers/kubernetes/', new RegExp(`\\b${option}\\b['"]?:`)),
        tell: ({ option }) => [
          `no test of the option ${option}`,
          'test/shared/providers/kubernetes/account/account.test.ts must have an account with it',
        ],
      },
    ],
  ),
  addition(
    {
      guide: 'start-option',
      what: 'an option of npm start',
      newcomer: { option: '--quiet-hours' },
      list: () =>
        [...formatHelp(startProgram).matchAll(/^ {2}(--[a-z-]+)/gm)].map(([, option = '']) => ({ option })),
    },
    [
      {
        isKept: ({ option }, texts) =>
          new RegExp(`^\\| \`${option}[ \`]`, 'm').test(
            texts.readSection('docs/quick-start.md', 'Options of npm start'),
          ),
        tell: ({ option }) => [
          `docs/quick-start.md has no row of ${option} below 'Options of npm start'`,
          'add it, as npm start -- --help has it',
        ],
      },
      {
        isKept: ({ option }, texts) =>
          new RegExp(`['"\`]${option}\\b`).test(texts.read('test/infra/local/cli-options.test.ts')),
        tell: ({ option }) => [
          `no test of ${option}`,
          'test/infra/local/cli-options.test.ts must say what it becomes, and what is refused',
        ],
      },
    ],
  ),
  addition(
    {
      guide: 'stack-option',
      what: 'an option of the stacks',
      list: () => contextOptions.map((option: string) => ({ option })),
      newcomer: { option: 'quietHours' },
    },
    [
      {
        isKept: ({ option }, texts) =>
          texts.readSection('docs/stacks.md', 'Options').includes(`| \`${option}\` |`),
        tell: ({ option }) => [`docs/stacks.md has no row of ${option} below 'Options'`, 'add it'],
      },
      {
        isKept: ({ option }, texts) =>
          new RegExp(`\\b${option}\\b`).test(texts.read('test/infra/aws/assembly/option-sets.ts')),
        tell: ({ option }) => [
          `no test of ${option}`,
          'a choice in test/infra/aws/assembly/option-sets.ts must have it',
        ],
      },
    ],
  ),
  addition(
    {
      guide: 'metric',
      what: 'a metric',
      list: listMetrics,
      newcomer: { constant: 'quietAgentsMetric', metric: 'QuietAgents' },
    },
    [
      {
        isKept: ({ constant }, texts) =>
          texts.isNamedIn('shared/', new RegExp(`(?<!export const )\\b${constant}\\b`)),
        tell: ({ constant, metric }) => [
          `nothing records ${metric}`,
          `record ${constant} as files in shared/caching/services/ do, or wherever its value is known`,
        ],
      },
      {
        isKept: ({ metric }, texts) =>
          texts.readSection('docs/operate.md', 'Metrics').includes(`| \`${metric}\` |`),
        tell: ({ metric }) => [
          `docs/operate.md has no row of ${metric} below 'Metrics'`,
          'say what it counts, and which function records it',
        ],
      },
      {
        isKept: ({ metric }, texts) =>
          texts.isNamedIn('test/shared/', new RegExp(`\\b${metric}\\b`)) ||
          texts.isNamedIn(
            'test/infra/aws/bundled-functions.templates.test.ts',
            new RegExp(`\\b${metric}\\b`),
          ),
        tell: ({ metric }) => [
          `no test of ${metric}`,
          'a test in test/shared/caching/services/ must expect its log line',
        ],
      },
    ],
  ),
];

/** What the docstring of its setting in `shared/platform/config.ts` says of a variable; undefined where it has none. */
export function findVariableText(variable: string, source: string): string | undefined {
  const setting = new RegExp(`/\\*\\*((?:(?!\\*/)[\\s\\S])*)\\*/\\s+\\w+: \\{\\s*variable: '${variable}'`);
  return setting
    .exec(source)?.[1]
    ?.replaceAll(/\s*\n\s*\*\s*/g, ' ')
    .trim();
}

/** Names of ours in the environment that files of the code write out. */
function listWrittenVariables(texts: RepositoryTexts) {
  const known = new Set<string>(Object.values(variables));
  const files = ['functions/', 'infra/', 'shared/'].flatMap((folder) => texts.list(folder));
  return files.flatMap((file) =>
    [...texts.read(file).matchAll(/\b(BUSDRIVER_[A-Z][A-Z_]*)\b/g)].map(([, variable = '']) => ({
      ...{ file, variable },
      isKnown: known.has(variable),
    })),
  );
}

/** The metrics. */
function listMetrics() {
  return Object.entries(metrics).flatMap(([constant, value]) =>
    findMetricNames(value).map((metric) => ({ constant, metric })),
  );
}

/** The names of metrics in a constant: its own, or those of its members. */
function findMetricNames(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  if ('metricName' in value) return [String(value.metricName)];
  return Object.values(value).flatMap(findMetricNames);
}
