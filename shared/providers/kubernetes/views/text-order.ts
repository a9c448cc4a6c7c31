/** Order of two texts by code unit. */
export function compareText(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

/** Sorted by name whatever its case, then by code unit. */
export function sortByName<View extends { readonly name: string }>(views: readonly View[]): View[] {
  return [...views].sort(
    (one, other) =>
      compareText(one.name.toLowerCase(), other.name.toLowerCase()) || compareText(one.name, other.name),
  );
}
