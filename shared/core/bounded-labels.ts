/** Series of one metric at most: further ones are counted together, with `other` as each of their labels. */
export const seriesMax = 1_000;

/** Characters of a label's value that are shown. */
const valueMax = 253;

/** Labels of a series by their names. */
export type Labels = { readonly [label: string]: string };

/** Bounds the series of one metric, whatever its labels hold. */
export class BoundedLabels {
  readonly #series = new Set<string>();

  /** The labels of the series that counts: shortened, or `other` in each where there are too many. */
  bound(labels: Labels): Labels {
    const cut = Object.fromEntries(
      Object.entries(labels).map(([label, value]) => [label, value.slice(0, valueMax)]),
    );
    const key = JSON.stringify(cut);
    if (this.#series.size >= seriesMax - 1 && !this.#series.has(key))
      return Object.fromEntries(Object.keys(cut).map((label) => [label, 'other']));
    this.#series.add(key);
    return cut;
  }
}
