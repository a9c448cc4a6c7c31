import { type KindDefinition, type SpinnakerKind, spinnakerKinds } from './kind.ts';
import { parseKind, splitKind, toKindKey } from './name.ts';
import { deployPriorities, parseDeployPriority } from './priority.ts';
import { builtInKinds, defineKind } from './table.ts';

export { builtInKinds };

/** A kind that an account's configuration describes (`customResources[]`). */
export interface CustomResource {
  /** `Kind.group`, for example `CronTab.stable.example.com`. */
  readonly kubernetesKind: string;
  /** One of Spinnaker's kinds in any case; anything else counts as unclassified. Default: `unclassified`. */
  readonly spinnakerKind?: string | undefined;
  /** A whole number or the name of a priority. Default: 100, with the workloads. */
  readonly deployPriority?: string | number | undefined;
  /** Default: false. */
  readonly versioned?: boolean | undefined;
  /** Default: true. */
  readonly namespaced?: boolean | undefined;
}

/** The kinds of one account. */
export interface KindRegistry {
  /** The definition of a kind in any spelling. Never fails: an unknown kind is deployed last, unversioned, and keeps its own name. */
  find(kind: string): KindDefinition;
  /** Every known kind: the account's own, then the built-in ones that they do not replace. */
  readonly kinds: readonly KindDefinition[];
  /** Spinnaker's kind by kind, as `GET /credentials` shows it: custom ones exactly as configured. */
  readonly spinnakerKindMap: { readonly [kind: string]: string };
}

/**
 * The kinds of an account: its custom resources first, then the built-in table, then the default for anything else.
 *
 * @throws InvalidInputError for a deploy priority that is neither a number nor a known name.
 */
export function createKindRegistry(customResources: readonly CustomResource[] = []): KindRegistry {
  const definitions = new Map<string, KindDefinition>();
  for (const kind of [...customResources.map(defineCustomKind), ...builtInKinds]) {
    const key = toKindKey(kind.name);
    if (!definitions.has(key)) definitions.set(key, kind);
  }
  return {
    find: (kind) => definitions.get(toKindKey(kind)) ?? defineUnknownKind(kind),
    kinds: [...definitions.values()],
    spinnakerKindMap: Object.fromEntries([
      ...builtInKinds.map((kind) => [kind.name, kind.spinnakerKind]),
      ...customResources.map((custom) => [custom.kubernetesKind, custom.spinnakerKind ?? 'unclassified']),
    ]),
  };
}

/** The definition of a configured kind. */
function defineCustomKind(custom: CustomResource): KindDefinition {
  const name = parseKind(custom.kubernetesKind);
  return defineKind({
    name,
    // An account may redefine a Secret, but never expose its data.
    sensitiveKeys: builtInKinds.find((kind) => kind.name === name)?.sensitiveKeys ?? [],
    kubernetesKind: splitKind(custom.kubernetesKind).name,
    deployPriority: parseDeployPriority(
      custom.deployPriority ?? deployPriorities.WORKLOAD_PRIORITY,
      custom.kubernetesKind,
    ),
    spinnakerKind: findSpinnakerKind(custom.spinnakerKind) ?? 'unclassified',
    versioned: custom.versioned ?? false,
    namespaced: custom.namespaced ?? true,
  });
}

/** The definition of an unknown kind. */
function defineUnknownKind(kind: string): KindDefinition {
  const name = parseKind(kind);
  return defineKind({
    name,
    kubernetesKind: splitKind(name).name,
    known: false,
    deployPriority: deployPriorities.LOWEST_PRIORITY,
  });
}

/** Spinnaker's kind of that name, in any case. */
function findSpinnakerKind(name: string | undefined): SpinnakerKind | undefined {
  return spinnakerKinds.find((kind) => kind.toLowerCase() === name?.toLowerCase());
}
