import { describe, expect, it } from 'vitest';
import * as rules from './additions.ts';
import { findForgotten, type Rule } from './additions.ts';
import * as registries from './registries.ts';
import { RepositoryTexts } from './repository-texts.ts';

const texts = RepositoryTexts.load();

/** What is missing of all items of a registry. */
function findAll<Item>(items: readonly Item[], all: readonly Rule<Item>[]): string[] {
  expect(items.length).toBeGreaterThan(3);
  return items.flatMap((item) => findForgotten(all, item, texts));
}

/** Every sentence tells what is missing, and where it goes. */
describe('nothing is forgotten', () => {
  it.each([
    ['an operation', () => findAll(registries.listOperations(texts), rules.operationRules)],
    [
      'a file of an operation of V1 accounts',
      () => findAll(registries.listV1OperationFiles(texts), rules.v1OperationFileRules),
    ],
    ['an operation of V1 accounts', () => findAll(registries.listV1Operations(), rules.v1OperationRules)],
    ['a kind', () => findAll(registries.listKinds(), rules.kindRules)],
    ['a kind with a status', () => findAll(registries.listStatuses(), rules.statusRules)],
    [
      'a function of a status',
      () => findAll(registries.listStatusFunctions(texts), rules.statusFunctionRules),
    ],
    ['an artifact type', () => findAll(registries.listArtifacts(texts), rules.artifactRules)],
    ['a provider', () => findAll(registries.listProviders(texts), rules.providerRules)],
    ['a setting of the environment', () => findAll(registries.listVariables(), rules.variableRules)],
    [
      'a name of the environment',
      () => findAll(registries.listWrittenVariables(texts), rules.writtenVariableRules),
    ],
    ['an option of accounts', () => findAll(registries.listAccountOptions(), rules.accountOptionRules)],
    ['an option of npm start', () => findAll(registries.listCommandOptions(), rules.commandOptionRules)],
    ['an option of the stacks', () => findAll(registries.listStackOptions(), rules.stackOptionRules)],
    ['a metric', () => findAll(registries.listMetrics(), rules.metricRules)],
  ])('of %s', (_what, find) => {
    expect(find()).toEqual([]);
  });
});

/** Something that nobody has or ever will have, hence the names: the rules must tell of it. */
interface Newcomer {
  readonly what: string;
  find(texts: RepositoryTexts): string[];
  /** How the sentences begin, all of them and in this order. */
  readonly sentences: readonly string[];
  /**
   * What they ask for, by path: the file's text, or what is put below a heading. Undefined where that is a line of a registry, which
   * the item tells.
   */
  readonly answer?: { readonly [path: string]: string | { readonly below: string; readonly text: string } };
}

const operation = {
  name: 'unheardManifest',
  file: 'shared/providers/kubernetes/operations/unheard-manifest.ts',
};
const v1Operation = {
  file: 'shared/providers/kubernetes/v1/operations/unheard.ts',
  constant: 'unheardServerGroup',
};
const status = { kind: 'unheard', kubernetesKind: 'Unheard' };
const statusFunction = { file: 'shared/providers/kubernetes/kinds/unheard.ts', name: 'getUnheardStatus' };
const artifact = {
  file: 'shared/providers/artifacts/unheard.ts',
  opener: 'openUnheardSources',
  types: ['unheard/file'],
};
const written = { file: 'infra/local/environment.ts', variable: 'BUSDRIVER_UNHEARD' };
const metric = { constant: 'unheardMetric', metric: 'Unheard' };

const newcomers: readonly Newcomer[] = [
  {
    what: 'an operation',
    find: (given) =>
      findForgotten(rules.operationRules, { ...operation, purpose: 'sets labels of an object' }, given),
    sentences: [
      "docs/contract.md has no section '### unheardManifest'",
      'docs/kubernetes.md has no row of unheardManifest: run npx vitest run',
      'docs/openapi.json does not have unheardManifest: run npm run openapi',
      'no test of unheardManifest: add its specification to test/shared/providers/kubernetes/operations/specs/index.ts',
    ],
    answer: {
      'docs/contract.md': { below: '## Operations', text: '### unheardManifest\n' },
      'docs/kubernetes.md': {
        below: '## Operations',
        text: '| [`unheardManifest`](contract.md#unheardmanifest) |',
      },
      'docs/openapi.json': '{"unheardManifest": {}}',
      'test/shared/providers/kubernetes/operations/specs/index.ts': '    unheardManifest,\n',
    },
  },
  {
    what: 'an operation that is not listed',
    find: (given) =>
      findForgotten(rules.operationRules.slice(0, 1), { ...operation, purpose: undefined }, given),
    sentences: [
      'shared/providers/kubernetes/operations/unheard-manifest.ts defines unheardManifest, which shared/providers/kubernetes/operations/index.ts does not list',
    ],
  },
  {
    what: 'the purpose of an operation',
    find: (given) => findForgotten(rules.operationRules.slice(1, 2), { ...operation, purpose: '' }, given),
    sentences: [
      "shared/providers/kubernetes/operations/unheard-manifest.ts: 'purpose' must say what it does",
    ],
  },
  {
    what: 'an operation of V1 accounts that is not listed',
    find: (given) => findForgotten(rules.v1OperationFileRules, v1Operation, given),
    sentences: [
      'shared/providers/kubernetes/v1/operations/unheard.ts defines unheardServerGroup, which shared/providers/kubernetes/v1/operations/index.ts does not list',
    ],
  },
  {
    what: 'an operation of V1 accounts',
    find: (given) => findForgotten(rules.v1OperationRules, { name: v1Operation.constant }, given),
    sentences: [
      "docs/kubernetes-v1.md has no row of unheardServerGroup in the table below 'Operations'",
      'docs/openapi.json does not have unheardServerGroup: run npm run openapi',
      'no test of unheardServerGroup: add its specification to test/shared/providers/kubernetes/v1/operations/specs/index.ts',
    ],
    answer: {
      'docs/kubernetes-v1.md': {
        below: '## Operations',
        text: '| `other`, `unheardServerGroup` | `UNHEARD` |',
      },
      'docs/openapi.json': '{"unheardServerGroup": {}}',
      'test/shared/providers/kubernetes/v1/operations/specs/index.ts': "  ['unheardServerGroup', unheard],\n",
    },
  },
  {
    what: 'a kind',
    find: (given) => findForgotten(rules.kindRules, status, given),
    sentences: [
      'no test of the status of unheard: add test/fixtures/kubernetes/unheard-stable.yaml',
      'no test deploys an object of unheard: add one to test/acceptance/kubernetes/kind-samples.ts',
    ],
    answer: {
      'test/fixtures/kubernetes/unheard-stable.yaml': 'kind: Unheard\n',
      'test/acceptance/kubernetes/kind-samples.ts': "sample('v1 unheards', 'Unheard')",
    },
  },
  {
    what: 'a kind with a status',
    find: (given) => findForgotten(rules.statusRules, status, given),
    sentences: [
      "docs/kubernetes.md has no row of unheard below 'When an object is stable'",
      'no test of the status of unheard: add test/fixtures/kubernetes/unheard-….yaml',
    ],
    answer: {
      'docs/kubernetes.md': { below: '## When an object is stable', text: '| unheard | when it is |' },
      'test/fixtures/kubernetes/unheard-stable.yaml': 'kind: Unheard\n',
      'test/fixtures/kubernetes/unheard-unreported.yaml': 'kind: Unheard\n',
      'test/shared/providers/kubernetes/kinds/status.test.ts': "'unheard-stable', 'unheard-unreported'",
    },
  },
  {
    what: 'a status that no test expects',
    find: (given) =>
      findForgotten(
        rules.statusRules.slice(2),
        status,
        given.with({ 'test/fixtures/kubernetes/unheard-new.yaml': 'kind: Unheard\n' }),
      ),
    sentences: [
      'test/shared/providers/kubernetes/kinds/status.test.ts does not have each test/fixtures/kubernetes/unheard-….yaml',
    ],
    answer: { 'test/shared/providers/kubernetes/kinds/status.test.ts': "'unheard-new'" },
  },
  {
    what: 'a status that no kind has',
    find: (given) => findForgotten(rules.statusFunctionRules, { ...statusFunction, isUsed: false }, given),
    sentences: ['shared/providers/kubernetes/kinds/unheard.ts has getUnheardStatus, which no kind has'],
  },
  {
    what: 'an artifact type',
    find: (given) => findForgotten(rules.artifactRules, artifact, given),
    sentences: [
      'shared/providers/artifacts/unheard.ts has openUnheardSources, which shared/providers/artifacts/index.ts does not list',
      "docs/contract.md has no row of unheard/file in the table below 'Artifacts'",
      'no test of unheard/file: add test/shared/providers/artifacts/unheard.test.ts',
      'openUnheardSources does not pass testArtifactType()',
    ],
    answer: {
      'shared/providers/artifacts/index.ts': 'const kinds = [\n  openUnheardSources,\n];',
      'docs/contract.md': { below: '## Artifacts', text: '| any | `unheard/file` | `artifacts.unheard` |' },
      'test/shared/providers/artifacts/unheard.test.ts': "const type = 'unheard/file';",
      'test/shared/providers/artifacts/type-samples.ts': '    open: openUnheardSources,\n',
    },
  },
  {
    what: 'a provider',
    find: (given) => findForgotten(rules.providerRules, { plugin: 'unheardPlugin' }, given),
    sentences: ['unheardPlugin does not pass testProvider()'],
    answer: { 'test/shared/providers/conformance.cluster.test.ts': '  plugin: unheardPlugin,\n' },
  },
  {
    what: 'a setting of the environment',
    find: (given) => findForgotten(rules.variableRules, { ...written, setting: 'unheard' }, given),
    sentences: [
      'nothing uses BUSDRIVER_UNHEARD: use unheard of Config',
      'shared/runtime/config.ts does not say what BUSDRIVER_UNHEARD means',
      'docs/architecture.md has no row of BUSDRIVER_UNHEARD: run npx vitest run',
      'no test of BUSDRIVER_UNHEARD: test/shared/runtime/config.test.ts',
    ],
    answer: {
      'shared/runtime/services/base.ts': 'config.unheard',
      'shared/runtime/config.ts': "/** What it is. */\n  unheard: { variable: 'BUSDRIVER_UNHEARD'",
      'docs/architecture.md': '| `BUSDRIVER_UNHEARD` | What it is. |',
      'test/shared/runtime/config.test.ts': "BUSDRIVER_UNHEARD: 'yes'",
    },
  },
  {
    what: 'a name of the environment that nothing reads',
    find: (given) => findForgotten(rules.writtenVariableRules, { ...written, isKnown: false }, given),
    sentences: [
      'infra/local/environment.ts names BUSDRIVER_UNHEARD, which shared/runtime/config.ts does not know',
    ],
  },
  {
    what: 'an option of accounts',
    find: (given) => findForgotten(rules.accountOptionRules, { option: 'unheardOption' }, given),
    sentences: [
      "docs/kubernetes.md has no row of unheardOption below 'Options of an account'",
      'no test of the option unheardOption: test/shared/providers/kubernetes/account/account.test.ts',
    ],
    answer: {
      'docs/kubernetes.md': {
        below: '## Options of an account',
        text: '| `unheardOption` | `0` | how long it waits |',
      },
      'test/shared/providers/kubernetes/account/account.test.ts': '{ unheardOption: 1 }',
    },
  },
  {
    what: 'an option of npm start',
    find: (given) => findForgotten(rules.commandOptionRules, { option: '--unheard' }, given),
    sentences: [
      'README.md has no row of --unheard',
      'no test of --unheard: test/infra/local/cli-options.test.ts',
    ],
    answer: {
      'README.md': '| `--unheard` | how long it waits |',
      'test/infra/local/cli-options.test.ts': "['--unheard']",
    },
  },
  {
    what: 'an option of the stacks',
    find: (given) => findForgotten(rules.stackOptionRules, { option: 'unheardOption' }, given),
    sentences: [
      "docs/stacks.md has no row of unheardOption below 'Options'",
      'no test of unheardOption: a choice in test/infra/assembly/option-sets.ts',
    ],
    answer: {
      'docs/stacks.md': { below: '## Options', text: '| `unheardOption` | `0` | how long it waits |' },
      'test/infra/assembly/option-sets.ts': '{ unheardOption: 1 }',
    },
  },
  {
    what: 'a metric',
    find: (given) => findForgotten(rules.metricRules, metric, given),
    sentences: [
      'nothing tells Unheard: record unheardMetric in shared/runtime/services/agent-metrics.ts',
      "docs/operate.md has no row of Unheard below 'Metrics'",
      'no test of Unheard: test/shared/runtime/services/agent-metrics.test.ts',
    ],
    answer: {
      'shared/runtime/services/agent-metrics.ts': 'record(unheardMetric)',
      'docs/operate.md': { below: '### Metrics', text: '| `Unheard` | what it is | nobody |' },
      'test/shared/runtime/services/agent-metrics.test.ts': "{ Name: 'Unheard' }",
    },
  },
];

describe('what was forgotten', () => {
  it.each(newcomers)('of $what is told', ({ find, sentences }) => {
    expect(find(texts)).toEqual(sentences.map((sentence) => expect.stringContaining(sentence)));
  });

  it.each(newcomers.filter(hasAnswer))('of $what is not told once it is there', ({ find, answer }) => {
    const changes = Object.entries(answer).map(([path, part]) => [
      path,
      typeof part === 'string' ? part : putBelow(texts.read(path), part),
    ]);
    expect(find(texts.with(Object.fromEntries(changes)))).toEqual([]);
  });
});

function hasAnswer(newcomer: Newcomer): newcomer is Newcomer & Required<Pick<Newcomer, 'answer'>> {
  return newcomer.answer !== undefined;
}

function putBelow(page: string, { below, text }: { readonly below: string; readonly text: string }): string {
  expect(page).toContain(`\n${below}\n`);
  return page.replace(`\n${below}\n`, `\n${below}\n\n${text}\n`);
}
