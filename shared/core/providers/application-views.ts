import { compareNames, compareText } from '../text-order.ts';
import type { ApplicationClusters } from '../views/views.ts';

/** An application that some account runs, as `GET /applications` lists it. */
export interface ApplicationView {
  readonly name: string;
  readonly attributes: { readonly name: string };
  /** Names of its clusters (`deployment web`) by account, sorted. */
  readonly clusterNames: { readonly [account: string]: readonly string[] };
}

/** The applications that accounts run, by name in any case, each once. */
export function toApplicationViews(parts: readonly ApplicationClusters[]): ApplicationView[] {
  const applications = Map.groupBy(parts, ({ application }) => application);
  return [...applications]
    .map(([name, own]) => ({ name, attributes: { name }, clusterNames: mergeClusters(own) }))
    .sort((one, other) => compareNames(one.name, other.name));
}

/** The clusters of one application by account, each once. */
function mergeClusters(parts: readonly ApplicationClusters[]): ApplicationView['clusterNames'] {
  const accounts = Map.groupBy(parts, ({ account }) => account);
  return Object.fromEntries(
    [...accounts]
      .sort(([one], [other]) => compareText(one, other))
      .map(([account, of]) => [
        account,
        [...new Set(of.flatMap(({ clusters }) => clusters))].sort(compareText),
      ]),
  );
}
