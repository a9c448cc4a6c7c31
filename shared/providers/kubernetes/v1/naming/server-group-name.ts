import { type Moniker, parseMoniker } from '#core/moniker.ts';

/** A labelled variable: one letter, a zero, the value. */
const labelledVariable = /^[a-zA-Z]0[a-zA-Z0-9]+$/;

/** The parts of a cluster's name. Empty ones count as absent. */
interface ClusterParts {
  readonly application: string;
  readonly stack?: string | undefined;
  readonly detail?: string | undefined;
}

/**
 * Reads a name of the convention `app-stack-detail-v000` as the Frigga of V1 does (`Names.parseName`). Labelled variables at the end of a
 * cluster's name, such as `-d0dev`, belong to the cluster and to none of its parts. Kubernetes' own roles have no parts. Never throws.
 */
export function parseServerGroupName(name: string): Moniker {
  return name.includes(':') ? {} : parseMoniker(name, omitLabelledVariables);
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

/** The first segment is always the application's. */
function omitLabelledVariables(cluster: string): string {
  const segments = cluster.split('-');
  const last = segments.findLastIndex((segment) => !labelledVariable.test(segment));
  return segments.slice(0, Math.max(last, 0) + 1).join('-');
}
