import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { InvalidInputError } from '#core/errors.ts';
import type { JsonObject } from '#core/json.ts';
import { builtInKinds } from '#providers/kubernetes/kinds/index.ts';
import type { Capability, KindDefinition, ReplacerSet } from '#providers/kubernetes/kinds/kind.ts';
import { deployPriorities } from '#providers/kubernetes/kinds/priority.ts';
import { getSettledStatus } from '#providers/kubernetes/kinds/status.ts';
import { annotationKeys } from '#providers/kubernetes/manifest/annotations.ts';
import { operationDefinitions } from '#providers/kubernetes/operations/index.ts';
import type { PreparedOperation } from '#tasks/operation.ts';
import {
  getOperation,
  loadOperations,
  openProvider,
} from '#test/shared/providers/kubernetes/provider-setup.ts';
import { formatTable, putTable } from './generated-tables.ts';
import { root } from './source-files.ts';

const page = readFileSync(join(root, 'docs/kubernetes.md'), 'utf8');
const provider = openProvider([{ name: 'test', kubeconfigContents: '{}' }]);
await loadOperations(provider);

/** What is said of capabilities in the table of kinds; that of others is said by the operations. */
const capabilityWords: { readonly [capability in Capability]?: string } = {
  traffic: 'behind services',
  loadBalances: 'balances load',
  pods: 'its pods follow',
};

const referenceWords: { readonly [set in ReplacerSet]: string } = {
  none: '',
  podTemplate: 'pod template',
  pod: 'images, configs',
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
});

function listOperations(): string[][] {
  return operationDefinitions.map(({ name, purpose }) => {
    const attempts = builtInKinds.map((kind) => ({ kind: kind.name, prepared: prepare(name, kind) }));
    const able = attempts.filter(({ prepared }) => prepared !== undefined);
    const unable = attempts.filter(({ prepared }) => prepared === undefined).map(({ kind }) => kind);
    const few = able.map(({ kind }) => kind).join(', ');
    const but = unable.length === 0 ? 'all' : `all but ${unable.join(', ')}`;
    const link = `[\`${name}\`](contract.md#${name.toLowerCase()})`;
    const phase = able[0]?.prepared?.phase ?? '';
    return [link, purpose, able.length > unable.length ? but : few, `\`${phase}\``];
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

function hasRules({ getStatus }: KindDefinition): boolean {
  return getStatus !== getSettledStatus;
}
