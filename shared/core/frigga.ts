/** An object's place in Spinnaker's naming. Unknown parts are left out. */
export interface Moniker {
  /** Application. */
  readonly app?: string;
  readonly cluster?: string;
  readonly stack?: string;
  readonly detail?: string;
  /** Version, a whole number from 0. */
  readonly sequence?: number;
}

/** Everything before a push suffix: `-v` and three to six digits at the end of the whole name. */
const pushSuffix = /^(?<cluster>[\w.\-~^]*)-v(?<sequence>\d{3,6})$/;
/** Application, then optionally a stack, then optionally the details: only these may hold further hyphens. */
const clusterShape = /^(?<app>[\w.]+)(?:-(?<stack>[\w.]*)(?:-(?<detail>[\w.\-~^]*))?)?$/;
/** Prefix of Kubernetes' own roles (`system:controller:…`): it is the application. */
const systemPrefix = 'system:';
const systemPushSuffix = /^(?<cluster>.*)-v(?<sequence>\d{3,6})$/s;

/** A labelled variable: one letter, a zero, the value. */
const labelledVariable = /^[a-zA-Z]0[a-zA-Z0-9]+$/;

/**
 * Reads a name of Spinnaker's convention `app-stack-detail-v000`, as Netflix's frigga 0.28 does. Any other name gives an empty moniker.
 * Never throws.
 */
export function parseMoniker(name: string): Moniker {
  return parseName(name, (cluster) => cluster);
}

/**
 * Reads a server group's name as Frigga's `Names.parseName` does. Labelled variables at the end of a cluster's name, such as `-d0dev`,
 * belong to the cluster and to none of its parts. Kubernetes' own roles have no parts. Never throws.
 */
export function parseServerGroupName(name: string): Moniker {
  return name.includes(':') ? {} : parseName(name, omitLabelledVariables);
}

/** The parts of a cluster's name. Empty ones count as absent. */
interface ClusterParts {
  readonly application: string;
  readonly stack?: string | undefined;
  readonly detail?: string | undefined;
}

/** `app`, `app-stack`, `app-stack-detail` or `app--detail`. */
export function formatClusterName({ application, stack, detail }: ClusterParts): string {
  if (detail) return `${application}-${stack ?? ''}-${detail}`;
  return stack ? `${application}-${stack}` : application;
}

/** `app-stack-v007` for the sequence 7 of the cluster `app-stack`. @param sequence from 0; padded to three digits */
export function formatServerGroupName(cluster: string, sequence: number): string {
  return `${cluster}-v${String(sequence).padStart(3, '0')}`;
}

/** @param pick the part of the cluster's name that has the other parts */
function parseName(name: string, pick: (cluster: string) => string): Moniker {
  const isSystem = name.startsWith(systemPrefix);
  const { cluster = name, sequence } = (isSystem ? systemPushSuffix : pushSuffix).exec(name)?.groups ?? {};
  const number = sequence === undefined ? {} : { sequence: Number(sequence) };
  if (isSystem) return { app: 'system', cluster, ...number };
  const parts = clusterShape.exec(pick(cluster))?.groups;
  if (parts?.app === undefined) return {};
  return {
    app: parts.app,
    cluster,
    ...(parts.stack ? { stack: parts.stack } : {}),
    ...(parts.detail ? { detail: parts.detail } : {}),
    ...number,
  };
}

/** The first segment is always the application's. */
function omitLabelledVariables(cluster: string): string {
  const segments = cluster.split('-');
  const last = segments.findLastIndex((segment) => !labelledVariable.test(segment));
  return segments.slice(0, Math.max(last, 0) + 1).join('-');
}
