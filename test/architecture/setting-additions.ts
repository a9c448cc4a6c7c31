import * as metrics from '#core/metrics.ts';
import { contextOptions } from '#infra/aws/context/context-options.ts';
import { startProgram } from '#infra/local/cli-options.ts';
import { formatHelp } from '#infra/options.ts';
import { variables } from '#platform/config.ts';
import { accountOptions } from '#providers/kubernetes/account/account-fields.ts';
import { type Addition, addition, findAll, has, readSection, writeTables } from './additions.ts';
import { readText } from './source-files.ts';

const config = 'shared/platform/config.ts';
const configTest = 'test/shared/platform/config.test.ts';
const startTest = 'test/infra/local/cli-options.test.ts';
const optionSets = 'test/infra/aws/assembly/option-sets.ts';
const known = new Set<string>(Object.values(variables));

/** What is configured and measured. */
export const settingAdditions: readonly Addition[] = [
  addition('setting', 'a setting of the environment', {
    items: Object.entries(variables).map(([setting, variable]) => ({ setting, variable })),
    newcomer: { setting: 'quietHours', variable: 'BUSDRIVER_QUIET_HOURS' },
    needs: ({ setting, variable }) => [
      findAll('shared/', new RegExp(`\\b(${setting})\\b`, 'g')).length > 1 ||
        `nothing uses ${variable}: use ${setting} of Config, or remove it from ${config}`,
      findVariableText(variable) !== undefined ||
        `${config} does not say what ${variable} means: its setting needs a docstring`,
      has('docs/architecture.md', `| \`${variable}\` |`) ||
        `docs/architecture.md has no row of ${variable}: ${writeTables}`,
      has(configTest, variable) ||
        `no test of ${variable}: ${configTest} must say what becomes of it, and what is refused`,
    ],
  }),
  addition('setting', 'a name of the environment', {
    items: ['functions/', 'infra/', 'shared/'].flatMap((folder) =>
      findAll(folder, /\b(BUSDRIVER_[A-Z][A-Z_]*)\b/g),
    ),
    newcomer: ['infra/local/environment.ts', 'BUSDRIVER_QUIET_HOURS'],
    needs: ([file, variable = '']) => [
      known.has(variable) ||
        `${file} names ${variable}, which ${config} does not know: add its setting there`,
    ],
  }),
  addition('account-option', 'an option of accounts', {
    items: accountOptions.known,
    newcomer: 'quietHours',
    needs: (option) => [
      readSection('docs/kubernetes.md', 'Options of an account').includes(`\`${option}\``) ||
        `docs/kubernetes.md has no row of ${option} below 'Options of an account': add it`,
      ['test/shared/providers/kubernetes/', 'test/fixtures/config/rejected-accounts.yaml'].some((place) =>
        has(place, new RegExp(`\\b${option}\\b['"]?:`)),
      ) ||
        `no test of the option ${option}: test/shared/providers/kubernetes/account/account.test.ts must have an account with it`,
    ],
  }),
  addition('start-option', 'an option of npm start', {
    items: [...formatHelp(startProgram).matchAll(/^ {2}(--[a-z-]+)/gm)].map(([, option = '']) => option),
    newcomer: '--quiet-hours',
    needs: (option) => [
      new RegExp(`^\\| \`${option}[ \`]`, 'm').test(
        readSection('docs/quick-start.md', 'Options of npm start'),
      ) ||
        `docs/quick-start.md has no row of ${option} below 'Options of npm start': add it, as npm start -- --help has it`,
      has(startTest, new RegExp(`['"\`]${option}\\b`)) ||
        `no test of ${option}: ${startTest} must say what it becomes, and what is refused`,
    ],
  }),
  addition('stack-option', 'an option of the stacks', {
    items: contextOptions,
    newcomer: 'quietHours',
    needs: (option) => [
      readSection('docs/stacks.md', 'Options').includes(`| \`${option}\` |`) ||
        `docs/stacks.md has no row of ${option} below 'Options': add it`,
      has(optionSets, new RegExp(`\\b${option}\\b`)) ||
        `no test of ${option}: a choice in ${optionSets} must have it`,
    ],
  }),
  addition('metric', 'a metric', {
    items: Object.entries(metrics).flatMap(([constant, value]) =>
      findMetricNames(value).map((metric) => ({ constant, metric })),
    ),
    newcomer: { constant: 'quietAgentsMetric', metric: 'QuietAgents' },
    needs: ({ constant, metric }) => [
      has('shared/', new RegExp(`(?<!export const )\\b${constant}\\b`)) ||
        `nothing records ${metric}: record ${constant} as files in shared/caching/services/ do, or wherever its value is known`,
      readSection('docs/operate.md', 'Metrics').includes(`| \`${metric}\` |`) ||
        `docs/operate.md has no row of ${metric} below 'Metrics': say what it counts, and which function records it`,
      ['test/shared/', 'test/infra/aws/bundled-functions.templates.test.ts'].some((tests) =>
        has(tests, new RegExp(`\\b${metric}\\b`)),
      ) || `no test of ${metric}: a test in test/shared/caching/services/ must expect its log line`,
    ],
  }),
];

/** What the docstring of its setting in `shared/platform/config.ts` says of a variable; undefined where it has none. */
export function findVariableText(variable: string): string | undefined {
  const setting = new RegExp(`/\\*\\*((?:(?!\\*/)[\\s\\S])*)\\*/\\s+\\w+: \\{\\s*variable: '${variable}'`);
  const [, text] = setting.exec(readText(config)) ?? [];
  return text?.replaceAll(/\s*\n\s*\*\s*/g, ' ').trim();
}

/** The names of metrics in a constant: its own, or those of its members. */
function findMetricNames(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  if ('metricName' in value) return [String(value.metricName)];
  return Object.values(value).flatMap(findMetricNames);
}
