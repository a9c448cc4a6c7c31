import { builtInKinds } from '#providers/kubernetes/kinds/index.ts';
import type { KindDefinition } from '#providers/kubernetes/kinds/kind.ts';
import { getSettledStatus } from '#providers/kubernetes/kinds/status.ts';
import { operationDefinitions } from '#providers/kubernetes/operations/index.ts';
import { v1OperationDefinitions } from '#providers/kubernetes/v1/operations/index.ts';
import { type Addition, addition, findAll, has, readSection, readTop, writeTables } from './additions.ts';
import { listFiles, readText } from './source-files.ts';

const operations = 'shared/providers/kubernetes/operations';
const operationSpecs = `test/${operations}/specs/index.ts`;
const v1Operations = 'shared/providers/kubernetes/v1/operations';
const v1Specs = `test/${v1Operations}/specs/index.ts`;
const kinds = 'shared/providers/kubernetes/kinds';
const statusTest = `test/${kinds}/status.test.ts`;
const fixtures = 'test/fixtures/kubernetes/';
const kindTests = 'test/acceptance/kubernetes/kind';
const artifacts = 'shared/providers/artifacts';
const artifactSamples = `test/${artifacts}/type-samples.ts`;
const providerSamples = 'test/shared/providers/conformance.cluster.test.ts';

/** Spinnaker's name of a kind, `replicaSet`, and Kubernetes', `ReplicaSet`. */
type KindNames = Pick<KindDefinition, 'name' | 'kubernetesKind'>;

const newKind: KindNames = { name: 'widget', kubernetesKind: 'Widget' };

/** What providers are made of. */
export const providerAdditions: readonly Addition[] = [
  addition('operation', 'an operation', {
    items: findAll(
      `${operations}/`,
      /^export const \w+ = defineOperation\(kubernetesV2, \{\s+name: '(\w+)',(?:\s+purpose: ['"`](.*)['"`],)?/gm,
    ),
    newcomer: [`${operations}/label-manifest.ts`, 'labelManifest', ''],
    needs: ([file, name, purpose = '']) => [
      operationDefinitions.some((listed) => listed.name === name) ||
        `${file} defines ${name}, which ${operations}/index.ts does not list: add its line`,
      /^[a-z].*[^.\s]$/.test(purpose) ||
        `${file} has no 'purpose' that says what it does: write one, such as 'creates or changes objects'`,
      has('docs/contract.md', `\n### ${name}\n`) ||
        `docs/contract.md has no section '### ${name}' below 'Operations': describe its fields there`,
      has('docs/kubernetes.md', `| [\`${name}\`](contract.md#`) ||
        `docs/kubernetes.md has no row of ${name}: ${writeTables}`,
      has('docs/openapi.json', `"${name}"`) || `docs/openapi.json does not have ${name}: run npm run openapi`,
      has(operationSpecs, new RegExp(`^    ${name}[,:]`, 'm')) ||
        `no test of ${name}: add its specification to ${operationSpecs}, through which it must pass testOperation()`,
    ],
  }),
  addition('v1-operation', 'a file of a V1 operation', {
    items: findAll(`${v1Operations}/`, /^export const (\w+) = defineOperation\(/gm),
    newcomer: [`${v1Operations}/pause-server-group.ts`, 'pauseServerGroup'],
    needs: ([file, constant]) => [
      has(`${v1Operations}/index.ts`, `\n  ${constant},\n`) ||
        `${file} defines ${constant}, which ${v1Operations}/index.ts does not list: add its line`,
    ],
  }),
  addition('v1-operation', 'a V1 operation', {
    items: v1OperationDefinitions.map(({ name }) => name),
    newcomer: 'pauseServerGroup',
    needs: (name) => [
      new RegExp(`^\\|[^|]*\`${name}\``, 'm').test(readTop('docs/kubernetes-v1.md', 'Operations')) ||
        `docs/kubernetes-v1.md has no row of ${name} in the table below 'Operations': say its phase, its result and its fields`,
      has('docs/openapi.json', `"${name}"`) || `docs/openapi.json does not have ${name}: run npm run openapi`,
      has(v1Specs, `  ['${name}', `) ||
        `no test of ${name}: add its specification to ${v1Specs}, through which it must pass testOperation()`,
    ],
  }),
  addition<KindNames>('kind', 'a kind', {
    items: builtInKinds,
    newcomer: newKind,
    needs: ({ name, kubernetesKind: kind }) => [
      listFixtures(kind).length > 0 ||
        `no test of the status of ${name}: add ${toFixtures(kind)}-stable.yaml, an object of it that is stable`,
      has(kindTests, `'${kind}'`) ||
        `no test deploys an object of ${name}: add one to ${kindTests}-samples.ts, or the kind to what clusters serve no more in ${kindTests}s.slow.test.ts`,
    ],
  }),
  addition<KindNames>('kind-status', 'a kind with a status', {
    items: builtInKinds.filter(({ getStatus }) => getStatus !== getSettledStatus),
    newcomer: newKind,
    needs: ({ name, kubernetesKind: kind }) => [
      readTop('docs/kubernetes.md', 'When an object is stable').includes(`| ${name} |`) ||
        `docs/kubernetes.md has no row of ${name} below 'When an object is stable': say when it is`,
      listFixtures(kind).length > 1 ||
        `no test of the status of ${name}: add ${toFixtures(kind)}-….yaml, one for each status, …-stable and …-unreported among them`,
      (listFixtures(kind).length > 0 && listFixtures(kind).every((each) => has(statusTest, `'${each}'`))) ||
        `${statusTest} does not have each ${toFixtures(kind)}-….yaml in 'states': say there which status it has`,
    ],
  }),
  addition('kind-status', 'a function of a status', {
    items: findAll(`${kinds}/`, /^export function (get\w+Status)\(manifest: Manifest\): ManifestStatus/gm),
    newcomer: [`${kinds}/widget.ts`, 'getWidgetStatus'],
    needs: ([file, name]) => [
      builtInKinds.some(({ getStatus }) => getStatus.name === name) ||
        `${file} has ${name}, which no kind has: name it as 'getStatus' in the kind's row of ${kinds}/table.ts`,
    ],
  }),
  addition('artifact-type', 'an artifact type', {
    items: findAll(`${artifacts}/`, /^export function (open\w+Sources)\([\s\S]*?\): OpenedSources/gm),
    newcomer: [`${artifacts}/svn.ts`, 'openSvnSources'],
    needs: ([file = '', opener]) => {
      const types = listTypes(readText(file));
      const named = types.join(', ') || 'its types';
      const test = `test/${file.replace(/\.ts$/, '.test.ts')}`;
      return [
        has(`${artifacts}/index.ts`, `\n  ${opener},\n`) ||
          `${file} has ${opener}, which ${artifacts}/index.ts does not list: add its line to 'kinds'`,
        types.length > 0 || `${file} names no artifact types: add them as 'types', such as ['github/file']`,
        (types.length > 0 && types.every(isOnPage)) ||
          `docs/contract.md has no row of ${named} in the table below 'Artifacts': add it`,
        types.some((type) => has(test.replace(/test\.ts$/, ''), `'${type}'`)) ||
          `no test of ${named}: add ${test}`,
        has(artifactSamples, `    open: ${opener},\n`) ||
          `${opener} does not pass testArtifactType(): add its entry to 'samples' of ${artifactSamples}`,
      ];
    },
  }),
  addition('provider', 'a provider', {
    items: findAll('shared/providers/plugins.ts', /^export \{ (\w+Plugin) \}/gm),
    newcomer: ['', 'widgetPlugin'],
    needs: ([, plugin]) => [
      has(providerSamples, `  plugin: ${plugin},\n`) ||
        `${plugin} does not pass testProvider(): add a sample of it to ${providerSamples}`,
    ],
  }),
];

/** The types of artifacts that a file names: `github/file`. */
function listTypes(text: string): string[] {
  const lists = [...text.matchAll(/\btypes(?:: [^=\n]+ =| =|:) \[([^\]]*)\]/g)];
  return lists.flatMap(([, list = '']) => list.match(/[\w*]+\/[\w*]+/g) ?? []);
}

/** Whether a type of artifacts has its row, or its family, `kubernetes/…`, has. */
function isOnPage(type: string): boolean {
  const section = readSection('docs/contract.md', 'Artifacts');
  return [type, type.replace(/[^/]*$/, '…')].some((name) => section.includes(`\`${name}\``));
}

/** Names of the fixtures that are objects of a kind. */
function listFixtures(kubernetesKind: string): string[] {
  return listFiles(fixtures)
    .filter((path) => has(path, new RegExp(`^kind: ${kubernetesKind}$`, 'm')))
    .map((path) => path.slice(fixtures.length).replace(/\.yaml$/, ''))
    .filter((name) => !name.includes('/'));
}

/** How the names of those of a kind begin: `…/replica-set` for `ReplicaSet`. */
function toFixtures(kubernetesKind: string): string {
  return `${fixtures}${kubernetesKind.replaceAll(/(?<=[a-z])[A-Z]/g, '-$&').toLowerCase()}`;
}
