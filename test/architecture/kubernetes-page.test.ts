import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { InvalidInputError } from '../../shared/core/errors.ts';
import type { JsonObject } from '../../shared/core/json.ts';
import type { PreparedOperation } from '../../shared/core/tasks/operation.ts';
import { accountOptions } from '../../shared/providers/kubernetes/account/account-fields.ts';
import { builtInKinds } from '../../shared/providers/kubernetes/kinds/index.ts';
import type {
  Capability,
  KindDefinition,
  ReplacerSet,
} from '../../shared/providers/kubernetes/kinds/kind.ts';
import { deployPriorities } from '../../shared/providers/kubernetes/kinds/priority.ts';
import { settledStatus } from '../../shared/providers/kubernetes/kinds/status.ts';
import { annotationKeys } from '../../shared/providers/kubernetes/manifest/annotations.ts';
import { operationDefinitions } from '../../shared/providers/kubernetes/operations/index.ts';
import { getOperation, openProvider } from '../shared/providers/kubernetes/provider-setup.ts';
import { root } from './source-files.ts';

const page = readFileSync(join(root, 'docs/kubernetes.md'), 'utf8');
const provider = openProvider([{ name: 'test', kubeconfigContents: '{}' }]);

/** What each operation does, in a few words. */
const purposes: { readonly [operation: string]: string } = {
  deployManifest: 'creates or changes objects',
  scaleManifest: 'sets the number of replicas',
  deleteManifest: 'deletes one object, or those that labels select, and waits until they are gone',
  patchManifest: 'changes an object by a strategic, merge or JSON patch',
  cleanupArtifacts: 'deletes old versions of what was deployed',
  undoRolloutManifest: 'goes back to an earlier revision',
  pauseRolloutManifest: 'stops a rollout for the time being',
  resumeRolloutManifest: 'lets a paused rollout go on',
  rollingRestartManifest: 'makes all pods anew, bit by bit',
  enableManifest: 'puts a workload behind its services',
  disableManifest: 'takes a workload from its services',
  resizeServerGroup: 'sets the number of replicas',
  runJob: 'runs a Job, in place of an earlier one of its name',
};

/** What is said of capabilities in the table of kinds; that of others is said by the operations. */
const capabilityWords: { readonly [capability in Capability]?: string } = {
  traffic: 'behind services',
  loadBalances: 'balances load',
  pods: 'its pods follow',
};

const referenceWords: { readonly [set in ReplacerSet]: string } = {
  none: '',
  podTemplate: 'pod template',
  pod: 'images',
  scaleTarget: 'scale target',
};

describe('docs/kubernetes.md', () => {
  it('has the tables of the code: `npx vitest run test/architecture/kubernetes-page.test.ts --update` writes them', async () => {
    const tables = {
      operations: formatTable(['Operation', 'What it does', 'Kinds', 'History phase'], listOperations()),
      kinds: formatTable(
        ['Order', 'Kind', 'Also', 'Scope', 'Versions', 'Class', 'Traffic', 'References', 'Status'],
        builtInKinds.map(toKindRow),
      ),
      priorities: formatTable(
        ['Name', 'Order'],
        Object.entries(deployPriorities).map(([name, order]) => [`\`${name}\``, String(order)]),
      ),
    };
    const written = Object.entries(tables).reduce((text, [name, table]) => putTable(text, name, table), page);
    await expect(written).toMatchFileSnapshot(join(root, 'docs/kubernetes.md'));
  });

  it('tells every annotation that is read or written', () => {
    const { ignoreCaching: _, ...keys } = annotationKeys;
    expect(Object.values(keys).filter((key) => !page.includes(`| \`${key}\` |`))).toEqual([]);
  });

  it('tells every option of an account', () => {
    const section = page.slice(page.indexOf('\n## Options of an account'));
    expect(accountOptions.filter((option) => !section.includes(`\`${option}\``))).toEqual([]);
  });

  it('tells the rules of every kind that has some', () => {
    const section = page.slice(page.indexOf('\n## When an object is stable'));
    const kinds = builtInKinds.filter(hasRules).map(({ name }) => name);
    expect(kinds.filter((kind) => !section.includes(`| ${kind} |`))).toEqual([]);
  });
});

function listOperations(): string[][] {
  return operationDefinitions.map(({ name }) => {
    const attempts = builtInKinds.map((kind) => ({ kind: kind.name, prepared: prepare(name, kind) }));
    const able = attempts.filter(({ prepared }) => prepared !== undefined);
    const unable = attempts.filter(({ prepared }) => prepared === undefined).map(({ kind }) => kind);
    const few = able.map(({ kind }) => kind).join(', ');
    const but = unable.length === 0 ? 'all' : `all but ${unable.join(', ')}`;
    const link = `[\`${name}\`](contract.md#${name.toLowerCase()})`;
    const phase = able[0]?.prepared?.phase ?? '';
    return [link, purposes[name] ?? '', able.length > unable.length ? but : few, `\`${phase}\``];
  });
}

/** The operation for an object of a kind; undefined when it is refused. */
function prepare(
  operation: string,
  { name: kind, kubernetesKind }: KindDefinition,
): PreparedOperation | undefined {
  const fullName = `${kind} web`;
  const apiVersion = kind === 'job' ? 'batch/v1' : 'v1';
  const manifest: JsonObject = { apiVersion, kind: kubernetesKind, metadata: { name: 'web' } };
  const description: JsonObject = {
    ...{ account: 'test', application: 'shop', moniker: { app: 'shop' } },
    ...{ manifestName: fullName, serverGroupName: fullName, capacity: { desired: 1 }, revision: 1 },
    ...{ patchBody: {}, options: operation === 'patchManifest' ? { mergeStrategy: 'merge' } : {} },
    ...{ manifests: [manifest], manifest },
  };
  try {
    return getOperation(provider, operation).prepare(description);
  } catch (error) {
    if (error instanceof InvalidInputError) return undefined;
    throw error;
  }
}

function toKindRow(kind: KindDefinition): string[] {
  const words = [...kind.capabilities].flatMap((capability) => capabilityWords[capability] ?? []);
  return [
    kind.deployable ? String(kind.deployPriority) : 'not deployed',
    `\`${kind.name}\``,
    kind.aliases.map((alias) => `\`${alias}\``).join(', '),
    kind.namespaced ? 'namespace' : 'cluster',
    kind.versioned ? 'yes' : '',
    kind.spinnakerKind === 'unclassified' ? '' : kind.spinnakerKind,
    words.join(', '),
    referenceWords[kind.replacers],
    hasRules(kind) ? 'yes' : '',
  ];
}

function hasRules(kind: KindDefinition): boolean {
  return kind.getStatus({ apiVersion: 'apps/v1' }) !== settledStatus;
}

function formatTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const ruler = `|${head.map(() => '---|').join('')}`;
  const lines = [head, ...rows].map((cells) => `| ${cells.join(' | ')} |`.replaceAll(/ {2,}/g, ' '));
  return [lines[0], ruler, ...lines.slice(1)].join('\n');
}

/** The page with a table in its place. */
function putTable(text: string, name: string, table: string): string {
  const begin = `<!-- generated: ${name} -->\n`;
  const start = text.indexOf(begin) + begin.length;
  expect(start).toBeGreaterThan(begin.length);
  return `${text.slice(0, start)}\n${table}\n\n${text.slice(text.indexOf('<!-- end -->', start))}`;
}
