/** Order of two texts by code unit, as `sort` wants it. No language decides: the same everywhere. */
export function compareText(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

/** Order of two names: whatever their case first, so that people find them; then by code unit. */
export function compareNames(one: string, other: string): number {
  return compareText(one.toLowerCase(), other.toLowerCase()) || compareText(one, other);
}

/** Sorted by name, as `compareNames` orders them. */
export function sortByName<View extends { readonly name: string }>(views: readonly View[]): View[] {
  return [...views].sort((one, other) => compareNames(one.name, other.name));
}
