import { InvalidInputError } from '#core/errors.ts';
import { builtInKinds } from '#providers/kubernetes/kinds/index.ts';
import type { Capability, KindDefinition, ReplacerSet } from '#providers/kubernetes/kinds/kind.ts';
import { getSettledStatus } from '#providers/kubernetes/kinds/status.ts';
import { operationDefinitions } from '#providers/kubernetes/operations/index.ts';
import type { PreparedOperation } from '#tasks/operation.ts';
import {
  getOperation,
  loadOperations,
  openProvider,
} from '#test/shared/providers/kubernetes/provider-setup.ts';

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

const provider = openProvider([{ name: 'test', kubeconfigContents: '{}' }]);
await loadOperations(provider);

/** A row for each operation: its name, what it does, for which kinds, and the phase that its history has. */
export function listOperations(): string[] {
  return operationDefinitions.map(({ name, purpose }) => {
    const attempts = builtInKinds.map((kind) => ({ kind: kind.name, prepared: prepare(name, kind) }));
    const able = attempts.filter(({ prepared }) => prepared !== undefined);
    const unable = attempts.filter(({ prepared }) => prepared === undefined).map(({ kind }) => kind);
    const few = able.map(({ kind }) => kind).join(', ');
    const but = unable.length === 0 ? 'all' : `all but ${unable.join(', ')}`;
    const link = `[\`${name}\`](contract.md#${name.toLowerCase()})`;
    const of = able.length > unable.length ? but : few;
    return `${link} | ${purpose} | ${of} | \`${able[0]?.prepared?.phase ?? ''}\``;
  });
}

/** The operation for an object of a kind; undefined when it is refused. */
function prepare(name: string, kind: KindDefinition): PreparedOperation | undefined {
  const fullName = `${kind.name} web`;
  const apiVersion = kind.name === 'job' ? 'batch/v1' : 'v1';
  const manifest = { apiVersion, kind: kind.kubernetesKind, metadata: { name: 'web' } };
  try {
    return getOperation(provider, name).prepare({
      ...{ account: 'test', application: 'shop', moniker: { app: 'shop' } },
      ...{ manifestName: fullName, serverGroupName: fullName, capacity: { desired: 1 }, revision: 1 },
      ...{ patchBody: {}, options: name === 'patchManifest' ? { mergeStrategy: 'merge' } : {} },
      ...{ manifests: [manifest], manifest },
    });
  } catch (error) {
    if (error instanceof InvalidInputError) return undefined;
    throw error;
  }
}

/** A row for each kind. */
export function listKinds(): string[] {
  return builtInKinds.map((kind) => {
    const capabilities = [...kind.capabilities].flatMap((capability) => capabilityWords[capability] ?? []);
    return [
      kind.deployable ? String(kind.deployPriority) : 'not deployed',
      `\`${kind.name}\``,
      kind.aliases.map((alias) => `\`${alias}\``).join(', '),
      kind.namespaced ? 'namespace' : 'cluster',
      kind.versioned ? 'yes' : '',
      kind.spinnakerKind === 'unclassified' ? '' : kind.spinnakerKind,
      capabilities.join(', '),
      referenceWords[kind.replacers],
      kind.getStatus === getSettledStatus ? '' : 'yes',
    ].join(' | ');
  });
}
