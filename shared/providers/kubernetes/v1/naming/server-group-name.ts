import type { Moniker } from '#core/moniker.ts';

/** What precedes the push suffix: `-v` and three to six digits at the end of the name. */
const pushSuffix = /^(?<cluster>[\w.~^-]*)-v(?<sequence>\d{3,6})$/;
/** The characters of a name of the convention; Frigga parses no others. */
const nameCharacters = /^[\w.~^-]+$/;
/** A labelled variable: one letter, a zero, the value. */
const labelledVariable = /^[a-zA-Z]0[a-zA-Z0-9]+$/;

/** The parts of a cluster's name. Empty ones count as absent. */
export interface ClusterParts {
  readonly application: string;
  readonly stack?: string | undefined;
  readonly detail?: string | undefined;
}

/**
 * Reads a name of the convention `app-stack-detail-v000` as Netflix's Frigga does (`Names.parseName`). Labelled variables at the end of a
 * cluster's name, such as `-d0dev`, belong to the cluster and to none of its parts. A name with any other character has no parts. Never
 * throws.
 */
export function parseServerGroupName(name: string): Moniker {
  if (!nameCharacters.test(name)) return {};
  const { cluster = name, sequence } = pushSuffix.exec(name)?.groups ?? {};
  const [app = '', stack = '', ...details] = omitLabelledVariables(cluster.split('-'));
  if (app === '') return {};
  const detail = details.join('-');
  return {
    app,
    cluster,
    ...(stack !== '' && { stack }),
    ...(detail !== '' && { detail }),
    ...(sequence !== undefined && { sequence: Number(sequence) }),
  };
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
function omitLabelledVariables(segments: readonly string[]): readonly string[] {
  const last = segments.findLastIndex((segment) => !labelledVariable.test(segment));
  return segments.slice(0, Math.max(last, 0) + 1);
}
