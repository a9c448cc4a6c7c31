import type { JsonObject } from '#core/json.ts';
import { createManifest } from '#test/shared/providers/kubernetes/manifests.ts';
import { readFixture } from '#test/support/run/fixture.ts';

export interface SampleObject {
  readonly manifest: JsonObject;
  /** What is there before under its name, and where it is made. */
  readonly present?: { readonly collection: string; readonly object: JsonObject };
}

interface SampleKind {
  readonly apiVersion: string;
  readonly kind: string;
  readonly plural: string;
  /** Beside its metadata; `the-object` stands for its name. */
  readonly content: JsonObject;
  /** How each of its three objects comes about; default applied, new. */
  readonly methods?: readonly Method[];
  readonly isGlobal?: boolean;
}

type Method = 'new' | 'changed' | 'replace' | 'replace-new' | 'recreate' | 'server-side' | 'generate';

const strategies: { readonly [M in Method]?: string } = {
  replace: 'replace',
  'replace-new': 'replace',
  recreate: 'recreate',
  'server-side': 'server-side-apply',
};
const kinds = readFixture<readonly SampleKind[]>('tasks/sixty-objects.yaml');

/** 60 objects of 20 kinds, submitted in every way; the names of cluster-scoped ones begin with the namespace. */
export function createSixtyObjects(namespace: string): SampleObject[] {
  return kinds.flatMap((kind) =>
    (kind.methods ?? ['new', 'new', 'new']).map((method, index) =>
      createSample(kind, { method, namespace, index }),
    ),
  );
}

export function listGlobalPaths(namespace: string): string[] {
  return kinds
    .filter(({ isGlobal }) => isGlobal)
    .flatMap((kind) =>
      [0, 1, 2].map((index) => `${getCollection(kind, '')}/${getName(kind, namespace, index)}`),
    );
}

function createSample(
  kind: SampleKind,
  { method, namespace, index }: { method: Method; namespace: string; index: number },
): SampleObject {
  const strategy = strategies[method];
  const name = getName(kind, namespace, index);
  const annotations = {
    ...(strategy && { [`strategy.spinnaker.io/${strategy}`]: 'true' }),
    ...(method !== 'new' && { 'strategy.spinnaker.io/versioned': 'false' }),
  };
  const place = { name, ...(!kind.isGlobal && { namespace }) };
  const plain = createManifest(kind.apiVersion, kind.kind, {
    ...place,
    more: nameContent(kind.content, name),
  });
  const metadata =
    method === 'generate'
      ? { namespace, generateName: `${name}-`, annotations }
      : { ...(plain.metadata as JsonObject), annotations };
  const isPresent = ['changed', 'replace', 'recreate'].includes(method);
  return {
    manifest: { ...plain, metadata },
    ...(isPresent && { present: { collection: getCollection(kind, namespace), object: plain } }),
  };
}

function nameContent(content: JsonObject, name: string): JsonObject {
  return JSON.parse(JSON.stringify(content).replaceAll('the-object', name)) as JsonObject;
}

function getName({ kind, isGlobal }: SampleKind, namespace: string, index: number): string {
  return `${isGlobal ? `${namespace}-` : ''}${kind.toLowerCase()}-${index}`;
}

function getCollection({ apiVersion, plural, isGlobal }: SampleKind, namespace: string): string {
  const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  return isGlobal ? `${root}/${plural}` : `${root}/namespaces/${namespace}/${plural}`;
}
