import { builtInKinds } from '#providers/kubernetes/kinds/index.ts';
import type { KindDefinition } from '#providers/kubernetes/kinds/kind.ts';
import { getSettledStatus } from '#providers/kubernetes/kinds/status.ts';
import { operationDefinitions } from '#providers/kubernetes/operations/index.ts';
import { v1OperationDefinitions } from '#providers/kubernetes/v1/operations/index.ts';
import { type Addition, addition } from './additions.ts';
import type { RepositoryTexts } from './repository-texts.ts';

const operations = 'shared/providers/kubernetes/operations';
const operationSpecs = `test/${operations}/specs/index.ts`;
const v1Operations = 'shared/providers/kubernetes/v1/operations';
const v1Specs = `test/${v1Operations}/specs/index.ts`;
const fixtures = 'test/fixtures/kubernetes/';
const statusTest = 'test/shared/providers/kubernetes/kinds/status.test.ts';
const artifactsIndex = 'shared/providers/artifacts/index.ts';
const artifactSamples = 'test/shared/providers/artifacts/type-samples.ts';
const providerSamples = 'test/shared/providers/conformance.cluster.test.ts';

/** Spinnaker's name of a kind, `replicaSet`, and Kubernetes', `ReplicaSet`. */
interface KindItem {
  readonly kind: string;
  readonly kubernetesKind: string;
}

const newKind: KindItem = { kind: 'widget', kubernetesKind: 'Widget' };

/** What providers are made of. */
export const providerAdditions: readonly Addition[] = [
  addition(
    {
      guide: 'operation',
      what: 'an operation',
      list: listOperations,
      newcomer: { name: 'labelManifest', file: `${operations}/label-manifest.ts`, purpose: undefined },
    },
    [
      {
        isKept: ({ purpose }) => purpose !== undefined,
        tell: ({ name, file }) => [
          `${file} defines ${name}, which ${operations}/index.ts does not list`,
          'add its line',
        ],
      },
      {
        isKept: ({ purpose = 'does' }) => /^[a-z].*[^.\s]$/.test(purpose),
        tell: ({ file }) => [
          `${file} has no 'purpose' that says what it does`,
          "such as 'creates or changes objects'",
        ],
      },
      {
        isKept: ({ name }, texts) => texts.read('docs/contract.md').includes(`\n### ${name}\n`),
        tell: ({ name }) => [
          `docs/contract.md has no section '### ${name}' below 'Operations'`,
          'describe its fields there',
        ],
      },
      {
        isKept: ({ name }, texts) =>
          texts.read('docs/kubernetes.md').includes(`| [\`${name}\`](contract.md#`),
        tell: ({ name }) => [
          `docs/kubernetes.md has no row of ${name}`,
          'run npx vitest run test/architecture/kubernetes-page.test.ts --update',
        ],
      },
      {
        isKept: ({ name }, texts) => texts.read('docs/openapi.json').includes(`"${name}"`),
        tell: ({ name }) => [`docs/openapi.json does not have ${name}`, 'run npm run openapi'],
      },
      {
        isKept: ({ name }, texts) => new RegExp(`^    ${name}[,:]`, 'm').test(texts.read(operationSpecs)),
        tell: ({ name }) => [
          `no test of ${name}`,
          `add its specification to ${operationSpecs}, through which it must pass testOperation()`,
        ],
      },
    ],
  ),
  addition(
    {
      guide: 'v1-operation',
      what: 'a file of a V1 operation',
      list: listV1OperationFiles,
      newcomer: { constant: 'pauseServerGroup', file: `${v1Operations}/pause-server-group.ts` },
    },
    [
      {
        isKept: ({ constant }, texts) =>
          new RegExp(`^  ${constant},$`, 'm').test(texts.read(`${v1Operations}/index.ts`)),
        tell: ({ file, constant }) => [
          `${file} defines ${constant}, which ${v1Operations}/index.ts does not list`,
          'add its line',
        ],
      },
    ],
  ),
  addition(
    {
      guide: 'v1-operation',
      what: 'a V1 operation',
      list: () => v1OperationDefinitions.map(({ name }) => ({ name })),
      newcomer: { name: 'pauseServerGroup' },
    },
    [
      {
        isKept: ({ name }, texts) =>
          new RegExp(`^\\|[^|]*\`${name}\``, 'm').test(texts.readTop('docs/kubernetes-v1.md', 'Operations')),
        tell: ({ name }) => [
          `docs/kubernetes-v1.md has no row of ${name} in the table below 'Operations'`,
          'say its phase, its result and its fields',
        ],
      },
      {
        isKept: ({ name }, texts) => texts.read('docs/openapi.json').includes(`"${name}"`),
        tell: ({ name }) => [`docs/openapi.json does not have ${name}`, 'run npm run openapi'],
      },
      {
        isKept: ({ name }, texts) => texts.read(v1Specs).includes(`  ['${name}', `),
        tell: ({ name }) => [
          `no test of ${name}`,
          `add its specification to ${v1Specs}, through which it must pass testOperation()`,
        ],
      },
    ],
  ),
  addition({ guide: 'kind', what: 'a kind', list: () => builtInKinds.map(toKindItem), newcomer: newKind }, [
    {
      isKept: (item, texts) => listFixtures(item, texts).length > 0,
      tell: ({ kind, kubernetesKind }) => [
        `no test of the status of ${kind}`,
        `add ${fixtures}${toKebab(kubernetesKind)}-stable.yaml, an object of it that is stable`,
      ],
    },
    {
      isKept: ({ kubernetesKind }, texts) =>
        texts.isNamedIn('test/acceptance/kubernetes/kind', `'${kubernetesKind}'`),
      tell: ({ kind }) => [
        `no test deploys an object of ${kind}`,
        'add one to test/acceptance/kubernetes/kind-samples.ts, or the kind to what clusters serve no more in kinds.test.ts',
      ],
    },
  ]),
  addition(
    {
      guide: 'kind-status',
      what: 'a kind with a status',
      newcomer: newKind,
      list: () => builtInKinds.filter(({ getStatus }) => getStatus !== getSettledStatus).map(toKindItem),
    },
    [
      {
        isKept: ({ kind }, texts) =>
          texts.readTop('docs/kubernetes.md', 'When an object is stable').includes(`| ${kind} |`),
        tell: ({ kind }) => [
          `docs/kubernetes.md has no row of ${kind} below 'When an object is stable'`,
          'say when it is',
        ],
      },
      {
        isKept: (item, texts) => listFixtures(item, texts).length > 1,
        tell: ({ kind, kubernetesKind }) => [
          `no test of the status of ${kind}`,
          `add ${fixtures}${toKebab(kubernetesKind)}-….yaml, one for each status, …-stable and …-unreported among them`,
        ],
      },
      {
        isKept: (item, texts) => {
          const names = listFixtures(item, texts);
          return names.length > 0 && names.every((name) => texts.read(statusTest).includes(`'${name}'`));
        },
        tell: ({ kubernetesKind }) => [
          `${statusTest} does not have each ${fixtures}${toKebab(kubernetesKind)}-….yaml in 'states'`,
          'say there which status it has',
        ],
      },
    ],
  ),
  addition(
    {
      guide: 'kind-status',
      what: 'a function of a status',
      list: listStatusFunctions,
      newcomer: {
        name: 'getWidgetStatus',
        file: 'shared/providers/kubernetes/kinds/widget.ts',
        isUsed: false,
      },
    },
    [
      {
        isKept: ({ isUsed }) => isUsed,
        tell: ({ file, name }) => [
          `${file} has ${name}, which no kind has`,
          "name it as 'getStatus' in the kind's row of shared/providers/kubernetes/kinds/table.ts",
        ],
      },
    ],
  ),
  addition(
    {
      guide: 'artifact-type',
      what: 'an artifact type',
      list: listArtifacts,
      newcomer: { file: 'shared/providers/artifacts/svn.ts', opener: 'openSvnSources', types: ['svn/file'] },
    },
    [
      {
        isKept: ({ opener }, texts) => new RegExp(`^  ${opener},$`, 'm').test(texts.read(artifactsIndex)),
        tell: ({ file, opener }) => [
          `${file} has ${opener}, which ${artifactsIndex} does not list`,
          "add its line to 'kinds'",
        ],
      },
      {
        isKept: ({ types }) => types.length > 0,
        tell: ({ file }) => [
          `${file} names no artifact types`,
          "add them as 'types', such as ['github/file']",
        ],
      },
      {
        isKept: ({ types }, texts) => {
          const section = texts.readSection('docs/contract.md', 'Artifacts');
          return types.every(
            (type) => section.includes(`\`${type}\``) || section.includes(`\`${toFamily(type)}\``),
          );
        },
        tell: ({ types }) => [
          `docs/contract.md has no row of ${types.join(', ')} in the table below 'Artifacts'`,
          'add it',
        ],
      },
      {
        isKept: ({ file, types }, texts) => {
          const tests = texts.list(toTest(file).replace(/test\.ts$/, '')).map((path) => texts.read(path));
          return types.some((type) => tests.some((text) => text.includes(`'${type}'`)));
        },
        tell: ({ file, types }) => [`no test of ${types.join(', ')}`, `add ${toTest(file)}`],
      },
      {
        isKept: ({ opener }, texts) => texts.read(artifactSamples).includes(`    open: ${opener},\n`),
        tell: ({ opener }) => [
          `${opener} does not pass testArtifactType()`,
          `add its entry to 'samples' of ${artifactSamples}`,
        ],
      },
    ],
  ),
  addition(
    { guide: 'provider', what: 'a provider', list: listProviders, newcomer: { plugin: 'widgetPlugin' } },
    [
      {
        isKept: ({ plugin }, texts) => texts.read(providerSamples).includes(`  plugin: ${plugin},\n`),
        tell: ({ plugin }) => [
          `${plugin} does not pass testProvider()`,
          `add a sample of it to ${providerSamples}`,
        ],
      },
    ],
  ),
];

/** The operations that are listed, and those that files define. */
function listOperations(texts: RepositoryTexts) {
  const purposes = new Map(operationDefinitions.map(({ name, purpose }) => [name, purpose]));
  const folder = 'shared/providers/kubernetes/operations/';
  return texts
    .list(folder)
    .flatMap((file) =>
      [...texts.read(file).matchAll(/^export const \w+ = defineOperation\(\{\s+name: '(\w+)'/gm)].map(
        ([, name = '']) => ({ name, file, purpose: purposes.get(name) }),
      ),
    );
}

/** The operations of V1 accounts that files define. */
function listV1OperationFiles(texts: RepositoryTexts) {
  const folder = 'shared/providers/kubernetes/v1/operations/';
  return texts.list(folder).flatMap((file) =>
    [...texts.read(file).matchAll(/^export const (\w+) = define\w+\(/gm)].map(([, constant = '']) => ({
      file,
      constant,
    })),
  );
}

function toKindItem({ name, kubernetesKind }: KindDefinition): KindItem {
  return { kind: name, kubernetesKind };
}

/** The functions in files of kinds that tell a status. */
function listStatusFunctions(texts: RepositoryTexts) {
  const used = new Set(builtInKinds.map(({ getStatus }) => getStatus.name));
  return texts
    .list('shared/providers/kubernetes/kinds/')
    .flatMap((file) =>
      [
        ...texts
          .read(file)
          .matchAll(/^export function (get\w+Status)\(manifest: Manifest\): ManifestStatus/gm),
      ].map(([, name = '']) => ({ file, name, isUsed: used.has(name) })),
    );
}

/** The files with accounts of artifacts. */
function listArtifacts(texts: RepositoryTexts) {
  return texts.list('shared/providers/artifacts/').flatMap((file) => {
    const text = texts.read(file);
    const [, opener] = /^export function (open\w+Sources)\([\s\S]*?\): OpenedSources/m.exec(text) ?? [];
    if (opener === undefined) return [];
    const types = [...text.matchAll(/\btypes(?:: [^=\n]+ =| =|:) \[([^\]]*)\]/g)];
    return [{ file, opener, types: types.flatMap(([, list = '']) => list.match(/[\w*]+\/[\w*]+/g) ?? []) }];
  });
}

/** The providers of the registry. */
function listProviders(texts: RepositoryTexts) {
  const listed = texts.read('shared/providers/index.ts').matchAll(/^ {2}(\w+Plugin),$/gm);
  return [...listed].map(([, plugin = '']) => ({ plugin }));
}

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
