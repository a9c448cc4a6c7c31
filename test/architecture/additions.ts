import type { RepositoryTexts } from './repository-texts.ts';

/** A rule for whoever adds one more of something: what must be there beside it, and where. */
export interface Rule<Item> {
  /** Whether it is there. */
  isKept(item: Item, texts: RepositoryTexts): boolean;
  /** The sentence about what is missing, and where it goes. */
  tell(item: Item): string;
}

/** What is missing of an item, a sentence each; empty when nothing was forgotten. */
export function findForgotten<Item>(
  rules: readonly Rule<Item>[],
  item: Item,
  texts: RepositoryTexts,
): string[] {
  return rules.filter(({ isKept }) => !isKept(item, texts)).map(({ tell }) => tell(item));
}

/** An operation of Kubernetes accounts. */
export interface OperationItem {
  readonly name: string;
  /** Its file. */
  readonly file: string;
  /** What its definition tells; undefined while the list of operations lacks it. */
  readonly purpose: string | undefined;
}

const operations = 'shared/providers/kubernetes/operations';
const operationSpecs = `test/${operations}/specs/index.ts`;

/** What an operation must have. */
export const operationRules: readonly Rule<OperationItem>[] = [
  {
    isKept: ({ purpose }) => purpose !== undefined,
    tell: ({ name, file }) =>
      `${file} defines ${name}, which ${operations}/index.ts does not list: add its line`,
  },
  {
    isKept: ({ purpose = 'does' }) => /^[a-z].*[^.\s]$/.test(purpose),
    tell: ({ file }) => `${file}: 'purpose' must say what it does, such as 'creates or changes objects'`,
  },
  {
    isKept: ({ name }, texts) => texts.read('docs/contract.md').includes(`\n### ${name}\n`),
    tell: ({ name }) =>
      `docs/contract.md has no section '### ${name}' below 'Operations': describe its fields there`,
  },
  {
    isKept: ({ name }, texts) => texts.read('docs/kubernetes.md').includes(`| [\`${name}\`](contract.md#`),
    tell: ({ name }) =>
      `docs/kubernetes.md has no row of ${name}: run npx vitest run test/architecture/kubernetes-page.test.ts --update`,
  },
  {
    isKept: ({ name }, texts) => texts.read('docs/openapi.json').includes(`"${name}"`),
    tell: ({ name }) => `docs/openapi.json does not have ${name}: run npm run openapi`,
  },
  {
    isKept: ({ name }, texts) => new RegExp(`^    ${name}[,:]`, 'm').test(texts.read(operationSpecs)),
    tell: ({ name }) =>
      `no test of ${name}: add its specification to ${operationSpecs}, through which it must pass testOperation()`,
  },
];

/** A constant in a file of `v1/operations/` that is an operation of V1 accounts. */
export interface V1OperationFileItem {
  readonly file: string;
  readonly constant: string;
}

const v1Operations = 'shared/providers/kubernetes/v1/operations';
const v1Specs = `test/${v1Operations}/specs/index.ts`;

/** What it must have. */
export const v1OperationFileRules: readonly Rule<V1OperationFileItem>[] = [
  {
    isKept: ({ constant }, texts) =>
      new RegExp(`^  ${constant},$`, 'm').test(texts.read(`${v1Operations}/index.ts`)),
    tell: ({ file, constant }) =>
      `${file} defines ${constant}, which ${v1Operations}/index.ts does not list: add its line`,
  },
];

/** An operation of V1 accounts that is listed. */
export type V1OperationItem = Pick<OperationItem, 'name'>;

/** What such an operation must have. */
export const v1OperationRules: readonly Rule<V1OperationItem>[] = [
  {
    isKept: ({ name }, texts) =>
      new RegExp(`^\\|[^|]*\`${name}\``, 'm').test(texts.readTop('docs/kubernetes-v1.md', 'Operations')),
    tell: ({ name }) =>
      `docs/kubernetes-v1.md has no row of ${name} in the table below 'Operations': say its phase, its result and its fields`,
  },
  {
    isKept: ({ name }, texts) => texts.read('docs/openapi.json').includes(`"${name}"`),
    tell: ({ name }) => `docs/openapi.json does not have ${name}: run npm run openapi`,
  },
  {
    isKept: ({ name }, texts) => texts.read(v1Specs).includes(`  ['${name}', `),
    tell: ({ name }) =>
      `no test of ${name}: add its specification to ${v1Specs}, through which it must pass testOperation()`,
  },
];

/** A kind of the table of kinds. */
export interface KindItem {
  /** Spinnaker's name: `replicaSet`. */
  readonly kind: string;
  /** Kubernetes' name: `ReplicaSet`. */
  readonly kubernetesKind: string;
}

const fixtures = 'test/fixtures/kubernetes/';
const statusTest = 'test/shared/providers/kubernetes/kinds/status.test.ts';

/** What any kind must have. */
export const kindRules: readonly Rule<KindItem>[] = [
  {
    isKept: (item, texts) => listFixtures(item, texts).length > 0,
    tell: ({ kind, kubernetesKind }) =>
      `no test of the status of ${kind}: add ${fixtures}${toKebab(kubernetesKind)}-stable.yaml, an object of it that is stable`,
  },
  {
    isKept: ({ kubernetesKind }, texts) =>
      texts.isNamedIn('test/acceptance/kubernetes/kind', `'${kubernetesKind}'`),
    tell: ({ kind }) =>
      `no test deploys an object of ${kind}: add one to test/acceptance/kubernetes/kind-samples.ts, or the kind to what clusters serve no more in kinds.test.ts`,
  },
];

/** What a kind with a status of its own must have. */
export const statusRules: readonly Rule<KindItem>[] = [
  {
    isKept: ({ kind }, texts) =>
      texts.readTop('docs/kubernetes.md', 'When an object is stable').includes(`| ${kind} |`),
    tell: ({ kind }) =>
      `docs/kubernetes.md has no row of ${kind} below 'When an object is stable': say when it is`,
  },
  {
    isKept: (item, texts) => listFixtures(item, texts).length > 1,
    tell: ({ kind, kubernetesKind }) =>
      `no test of the status of ${kind}: add ${fixtures}${toKebab(kubernetesKind)}-….yaml, one for each status, …-stable and …-unreported among them`,
  },
  {
    isKept: (item, texts) => {
      const names = listFixtures(item, texts);
      return names.length > 0 && names.every((name) => texts.read(statusTest).includes(`'${name}'`));
    },
    tell: ({ kubernetesKind }) =>
      `${statusTest} does not have each ${fixtures}${toKebab(kubernetesKind)}-….yaml in 'states': say there which status it has`,
  },
];

/** A function that tells the status of objects. */
export interface StatusFunctionItem {
  readonly file: string;
  readonly name: string;
  /** Whether some kind has it. */
  readonly isUsed: boolean;
}

/** What such a function must have. */
export const statusFunctionRules: readonly Rule<StatusFunctionItem>[] = [
  {
    isKept: ({ isUsed }) => isUsed,
    tell: ({ file, name }) =>
      `${file} has ${name}, which no kind has: name it as 'getStatus' in the kind's row of shared/providers/kubernetes/kinds/table.ts`,
  },
];

/** A file that opens accounts of artifacts. */
export interface ArtifactItem {
  readonly file: string;
  /** Name of the function that opens them. */
  readonly opener: string;
  /** Types that they fetch: `github/file`. */
  readonly types: readonly string[];
}

const artifactsIndex = 'shared/providers/artifacts/index.ts';
const artifactSamples = 'test/shared/providers/artifacts/type-samples.ts';

/** What a file with accounts of artifacts must have. */
export const artifactRules: readonly Rule<ArtifactItem>[] = [
  {
    isKept: ({ opener }, texts) => new RegExp(`^  ${opener},$`, 'm').test(texts.read(artifactsIndex)),
    tell: ({ file, opener }) =>
      `${file} has ${opener}, which ${artifactsIndex} does not list: add its line to 'kinds'`,
  },
  {
    isKept: ({ types }) => types.length > 0,
    tell: ({ file }) =>
      `${file} names no artifact types: it must have them as 'types', such as ['github/file']`,
  },
  {
    isKept: ({ types }, texts) => {
      const section = texts.readSection('docs/contract.md', 'Artifacts');
      return types.every(
        (type) => section.includes(`\`${type}\``) || section.includes(`\`${toFamily(type)}\``),
      );
    },
    tell: ({ types }) =>
      `docs/contract.md has no row of ${types.join(', ')} in the table below 'Artifacts': add it`,
  },
  {
    isKept: ({ file, types }, texts) => {
      const tests = texts.list(toTest(file).replace(/test\.ts$/, '')).map((path) => texts.read(path));
      return types.some((type) => tests.some((text) => text.includes(`'${type}'`)));
    },
    tell: ({ file, types }) => `no test of ${types.join(', ')}: add ${toTest(file)}`,
  },
  {
    isKept: ({ opener }, texts) => texts.read(artifactSamples).includes(`    open: ${opener},\n`),
    tell: ({ opener }) =>
      `${opener} does not pass testArtifactType(): add its entry to 'samples' of ${artifactSamples}`,
  },
];

/** A provider of the registry. */
export interface ProviderItem {
  /** What `shared/providers/index.ts` calls its plug-in: `kubernetesPlugin`. */
  readonly plugin: string;
}

const providerSamples = 'test/shared/providers/conformance.cluster.test.ts';

/** What a provider must have. */
export const providerRules: readonly Rule<ProviderItem>[] = [
  {
    isKept: ({ plugin }, texts) => texts.read(providerSamples).includes(`  plugin: ${plugin},\n`),
    tell: ({ plugin }) => `${plugin} does not pass testProvider(): add a sample of it to ${providerSamples}`,
  },
];

/** A setting of the environment. */
export interface VariableItem {
  /** The setting that it holds: `logLevel`. */
  readonly setting: string;
  readonly variable: string;
}

const config = 'shared/runtime/config.ts';
const configTest = 'test/shared/runtime/config.test.ts';

/** What a variable of the environment must have. */
export const variableRules: readonly Rule<VariableItem>[] = [
  {
    isKept: ({ setting }, texts) => {
      const name = new RegExp(`\\b${setting}\\b`, 'g');
      const isUsedThere = (texts.read(config).match(name)?.length ?? 0) > 1;
      return (
        isUsedThere || texts.list('shared/').some((file) => file !== config && name.test(texts.read(file)))
      );
    },
    tell: ({ setting, variable }) =>
      `nothing uses ${variable}: use ${setting} of Config, or remove it from ${config}`,
  },
  {
    isKept: ({ variable }, texts) => findVariableText(variable, texts.read(config)) !== undefined,
    tell: ({ variable }) => `${config} does not say what ${variable} means: its setting needs a docstring`,
  },
  {
    isKept: ({ variable }, texts) => texts.read('docs/architecture.md').includes(`| \`${variable}\` |`),
    tell: ({ variable }) =>
      `docs/architecture.md has no row of ${variable}: run npx vitest run test/architecture/environment-page.test.ts --update`,
  },
  {
    isKept: ({ variable }, texts) => texts.read(configTest).includes(variable),
    tell: ({ variable }) =>
      `no test of ${variable}: ${configTest} must say what becomes of it, and what is refused`,
  },
];

/** What the docstring of its setting in `shared/runtime/config.ts` says of a variable; undefined where it has none. */
export function findVariableText(variable: string, source: string): string | undefined {
  const setting = new RegExp(`/\\*\\*((?:(?!\\*/)[\\s\\S])*)\\*/\\s+\\w+: \\{\\s*variable: '${variable}'`);
  return setting
    .exec(source)?.[1]
    ?.replaceAll(/\s*\n\s*\*\s*/g, ' ')
    .trim();
}

/** A name of ours in the environment that a file of the code writes out. */
export interface WrittenVariableItem extends Pick<VariableItem, 'variable'> {
  readonly file: string;
  readonly isKnown: boolean;
}

/** Where names of the environment may come from. */
export const writtenVariableRules: readonly Rule<WrittenVariableItem>[] = [
  {
    isKept: ({ isKnown }) => isKnown,
    tell: ({ file, variable }) =>
      `${file} names ${variable}, which ${config} does not know: add its setting there`,
  },
];

/** An option of something, by its name. */
export interface OptionItem {
  readonly option: string;
}

/** What an option of Kubernetes accounts must have. Whether it is public, the type of `publicAccountOptions` asks. */
export const accountOptionRules: readonly Rule<OptionItem>[] = [
  {
    isKept: ({ option }, texts) =>
      texts.readSection('docs/kubernetes.md', 'Options of an account').includes(`\`${option}\``),
    tell: ({ option }) => `docs/kubernetes.md has no row of ${option} below 'Options of an account': add it`,
  },
  {
    isKept: ({ option }, texts) =>
      texts.isNamedIn('test/shared/providers/kubernetes/', new RegExp(`\\b${option}\\b['"]?:`)),
    tell: ({ option }) =>
      `no test of the option ${option}: test/shared/providers/kubernetes/account/account.test.ts must have an account with it`,
  },
];

/** What an option of `npm start` must have. */
export const commandOptionRules: readonly Rule<OptionItem>[] = [
  {
    isKept: ({ option }, texts) => new RegExp(`^\\| \`${option}[ \`]`, 'm').test(texts.read('README.md')),
    tell: ({ option }) =>
      `README.md has no row of ${option}: add it to the table of options, as npm start -- --help tells it`,
  },
  {
    isKept: ({ option }, texts) =>
      new RegExp(`['"\`]${option}\\b`).test(texts.read('test/infra/local/cli-options.test.ts')),
    tell: ({ option }) =>
      `no test of ${option}: test/infra/local/cli-options.test.ts must say what it becomes, and what is refused`,
  },
];

/** What an option of the stacks must have. How an installation gets another value, the type of `optionSteps` asks. */
export const stackOptionRules: readonly Rule<OptionItem>[] = [
  {
    isKept: ({ option }, texts) =>
      texts.readSection('docs/stacks.md', 'Options').includes(`| \`${option}\` |`),
    tell: ({ option }) => `docs/stacks.md has no row of ${option} below 'Options': add it`,
  },
  {
    isKept: ({ option }, texts) =>
      new RegExp(`\\b${option}\\b`).test(texts.read('test/infra/assembly/option-sets.ts')),
    tell: ({ option }) => `no test of ${option}: a choice in test/infra/assembly/option-sets.ts must have it`,
  },
];

/** A metric of ours. */
export interface MetricItem {
  /** Name of the constant in `shared/core/metrics.ts`. */
  readonly constant: string;
  /** Name in CloudWatch. */
  readonly metric: string;
}

/** What a metric must have. */
export const metricRules: readonly Rule<MetricItem>[] = [
  {
    isKept: ({ constant }, texts) => texts.isNamedIn('shared/runtime/', new RegExp(`\\b${constant}\\b`)),
    tell: ({ constant, metric }) =>
      `nothing tells ${metric}: record ${constant} in shared/runtime/services/agent-metrics.ts, or wherever its value is known`,
  },
  {
    isKept: ({ metric }, texts) =>
      texts.readSection('docs/operate.md', 'Metrics').includes(`| \`${metric}\` |`),
    tell: ({ metric }) =>
      `docs/operate.md has no row of ${metric} below 'Metrics': say what it counts, and who tells it`,
  },
  {
    isKept: ({ metric }, texts) =>
      texts.isNamedIn('test/shared/runtime/', new RegExp(`\\b${metric}\\b`)) ||
      texts.isNamedIn('test/infra/bundled-functions.test.ts', new RegExp(`\\b${metric}\\b`)),
    tell: ({ metric }) =>
      `no test of ${metric}: test/shared/runtime/services/agent-metrics.test.ts must expect the line that tells it`,
  },
];

/** The test of a file: it stands at the same path. */
function toTest(file: string): string {
  return `test/${file.replace(/\.ts$/, '.test.ts')}`;
}

/** Names of the fixtures that are objects of a kind. */
function listFixtures({ kubernetesKind }: KindItem, texts: RepositoryTexts): string[] {
  const isOfKind = new RegExp(`^kind: ${kubernetesKind}$`, 'm');
  return texts
    .list(fixtures)
    .filter((path) => isOfKind.test(texts.read(path)))
    .map((path) => path.slice(fixtures.length).replace(/\.yaml$/, ''))
    .filter((name) => !name.includes('/'));
}

/** `replica-set` for `ReplicaSet`. */
function toKebab(name: string): string {
  return name.replaceAll(/(?<=[a-z])[A-Z]/g, '-$&').toLowerCase();
}

/** `kubernetes/…` for `kubernetes/configMap`. */
function toFamily(type: string): string {
  return type.replace(/[^/]*$/, '…');
}
