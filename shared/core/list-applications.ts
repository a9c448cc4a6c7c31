import type { ProviderSet } from './provider-set.ts';
import type { ApplicationClusters } from './views.ts';

/** An application that some account runs, as `GET /applications` lists it. */
export interface ApplicationView {
  readonly name: string;
  readonly attributes: { readonly name: string };
  /** Names of its clusters (`deployment web`) by account, sorted. */
  readonly clusterNames: { readonly [account: string]: readonly string[] };
}

/** Every application that the accounts of all providers run, sorted by name. */
export async function listApplications(
  { providers }: Pick<ProviderSet, 'providers'>,
  signal: AbortSignal,
): Promise<ApplicationView[]> {
  const found = await Promise.all(providers.map((provider) => provider.listApplications?.(signal) ?? []));
  const applications = Map.groupBy(found.flat(), ({ application }) => application);
  return [...applications]
    .sort(([one], [other]) => compareText(one, other))
    .map(([name, parts]) => ({ name, attributes: { name }, clusterNames: mergeClusters(parts) }));
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

/** Order of two texts by code unit. */
function compareText(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}
