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

/**
 * Reads a name of Spinnaker's convention `app-stack-detail-v000`, as Netflix's frigga 0.28 does. Any other name gives an empty moniker.
 * Never throws.
 *
 * @param pick what of the cluster's name has the other parts. Default: all of it
 */
export function parseMoniker(name: string, pick = (cluster: string) => cluster): Moniker {
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
