/** Order of two texts by code unit, for `sort`. Independent of language: the same everywhere. */
export function compareText(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

/** Order of two names: first without case, so that people find them; then by code unit. */
export function compareNames(one: string, other: string): number {
  return compareText(one.toLowerCase(), other.toLowerCase()) || compareText(one, other);
}

/** Sorted by name, as `compareNames` orders them. */
export function sortByName<View extends { readonly name: string }>(views: readonly View[]): View[] {
  return [...views].sort((one, other) => compareNames(one.name, other.name));
}
