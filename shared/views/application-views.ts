import type { ApplicationView } from '#contract/answers/applications.ts';
import { compareText, sortByName } from '#core/text-order.ts';
import type { ApplicationClusters } from './views.ts';

/** The applications of accounts, by name in any case, each once, with its clusters sorted. */
export function toApplicationViews(parts: readonly ApplicationClusters[]): ApplicationView[] {
  const applications = Map.groupBy(parts, ({ application }) => application);
  return sortByName(
    [...applications].map(([name, own]) => ({
      name,
      attributes: { name },
      clusterNames: mergeClusters(own),
    })),
  );
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
