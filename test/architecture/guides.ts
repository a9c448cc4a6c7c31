import type { Step } from './additions.ts';
import { providerAdditions } from './provider-additions.ts';
import { newRoute, routeRules } from './route-rules.ts';
import { settingAdditions } from './setting-additions.ts';

/** How to add something. What the check asks for besides comes of the rules. */
interface Guide {
  readonly what: string;
  /** What to begin with. */
  readonly begin: readonly string[];
  /** What else is needed, and which test misses it: of what no rule looks after. */
  readonly further?: readonly Step[];
  /** What to run at the end; `npm run check` comes first. */
  readonly run: readonly string[];
}

const kinds = 'npx vitest run test/shared/providers/kubernetes/kinds';

/** By the names that `npm run new` takes. */
const guides: { readonly [name: string]: Guide } = {
  route: {
    what: 'A route of the API',
    begin: [
      'a row in functions/routes.ts, with its access, its audit and what it uses',
      'its module below functions/api/',
      'out of the cache: made by viewHandler, with a method of ViewReader in shared/views/views.ts, read in shared/providers/kubernetes/reads/',
    ],
    run: [
      'npx vitest run test/shared/contract test/acceptance/contract/open-api.test.ts test/acceptance/access',
    ],
  },
  operation: {
    what: 'An operation on manifests',
    begin: ['a file in shared/providers/kubernetes/operations/, and a line in index.ts there'],
    run: ['npx vitest run test/shared/providers/kubernetes/operations'],
  },
  'v1-operation': {
    what: 'An operation of accounts of the V1 provider',
    begin: [
      'a file in shared/providers/kubernetes/v1/operations/, and a line in index.ts there',
      'its fields and rules in shared/providers/kubernetes/v1/descriptions/',
    ],
    further: [
      [
        'test/acceptance/v1/v1-operations.test.ts has no wrong description of it',
        'add one in which everything is wrong to test/acceptance/v1/v1-bad-input-data.ts',
      ],
    ],
    run: [
      'npx vitest run test/shared/providers/kubernetes/v1/operations test/acceptance/v1/v1-operations.test.ts',
    ],
  },
  kind: {
    what: 'A kind of Kubernetes objects',
    begin: [
      'a row in shared/providers/kubernetes/kinds/table.ts',
      'npx vitest run test/architecture/kubernetes-page.test.ts --update',
    ],
    run: [kinds],
  },
  'kind-status': {
    what: 'A status of a kind',
    begin: ['a file in shared/providers/kubernetes/kinds/, named as getStatus in the row of the kind'],
    run: ['npx vitest run test/architecture/kubernetes-page.test.ts --update', kinds],
  },
  'artifact-type': {
    what: 'A type of artifacts',
    begin: ["a file in shared/providers/artifacts/, and a line below 'kinds' in index.ts there"],
    run: ['npx vitest run test/shared/providers/artifacts'],
  },
  provider: {
    what: 'A provider: docs/providers.md says what a plug-in is',
    begin: [
      'a folder in shared/providers/ whose index.ts exports a ProviderPlugin, and a line in shared/providers/index.ts',
      'with operations: a line in shared/providers/operation-providers.ts, for the routes of its tasks',
    ],
    run: [
      'npx vitest run test/shared/providers/conformance.cluster.test.ts test/shared/accounts/account-facts.test.ts',
    ],
  },
  setting: {
    what: 'A setting of the environment',
    begin: [
      "an entry in 'settings' of shared/platform/config.ts, whose docstring is its row in docs/architecture.md",
      'its value, where stacks or npm start set it: infra/aws/constructs/shared-resources.ts, infra/local/environment.ts',
    ],
    run: ['npx vitest run test/shared/platform/config.test.ts'],
  },
  'account-option': {
    what: 'An option of Kubernetes accounts',
    begin: [
      'a field in shared/providers/kubernetes/account/account-fields.ts',
      'whether functions without secrets may know it: public-settings.ts beside it',
    ],
    run: [
      'npx vitest run test/shared/accounts/account-facts.test.ts test/shared/providers/kubernetes/account',
    ],
  },
  'start-option': {
    what: 'An option of npm start',
    begin: ['a flag in infra/local/cli-options.ts'],
    run: ['npx vitest run test/infra/local'],
  },
  'stack-option': {
    what: 'An option of the stacks',
    begin: ['an option in infra/aws/context/context.ts', 'its step in test/deploy/option-steps.ts'],
    run: ['npx vitest run test/infra test/deploy', 'npm run test:deploy -- --only=update'],
  },
  metric: {
    what: 'A metric',
    begin: [
      'a constant in shared/core/metrics.ts, and what records it, as files in shared/caching/services/ do',
      "with an alarm: 'watchedMetrics' of its queue's row in functions/queues.ts",
    ],
    run: ['npx vitest run test/shared/platform/services test/infra/aws/constructs'],
  },
  alarm: {
    what: 'An alarm',
    begin: ['its construct in infra/aws/constructs/'],
    further: [
      [
        "docs/operate.md has no section '### <its name>' below 'Alarms'",
        "write it, with '**Means' and '**Do:**', and name the alarm in the table 'What is normal'",
      ],
      [
        'the bill and its figures count one alarm less',
        'change infra/tools/cost/assumptions.ts, then docs/scale.md and docs/deploy.md',
      ],
    ],
    run: ['npx vitest run test/infra/aws test/infra/tools/cost'],
  },
};

/** What there are guides for, a line each. */
export function listGuides(): string[] {
  return Object.entries(guides).map(([name, { what }]) => `${name.padEnd(15)} ${what}`);
}

/** Names of guides. */
export const guideNames: readonly string[] = Object.keys(guides);

/** How to add something, with a table of what tests ask for; undefined where there is no such guide. */
export function findGuide(name: string): string | undefined {
  const guide = Object.hasOwn(guides, name) ? guides[name] : undefined;
  if (guide === undefined) return undefined;
  const { what, begin, further = [], run } = guide;
  const steps = [...listSteps(name), ...further];
  return [
    what,
    '\nBegin with',
    ...begin.map((each) => `- ${each}`),
    '\nThen add what the tests miss, here of an example:\n',
    '| Missing | Do |',
    '|---|---|',
    ...steps.map(([missing, todo]) => `| ${missing} | ${todo} |`),
    '\nRun',
    ...['npm run check', ...run].map((each) => `- ${each}`),
  ].join('\n');
}

/** What the rules ask for. */
function listSteps(name: string): readonly Step[] {
  if (name === 'route') return routeRules.map(({ tell }) => tell(newRoute));
  return [...providerAdditions, ...settingAdditions]
    .filter(({ guide }) => guide === name)
    .flatMap(({ steps }) => steps);
}
