import type { RepositoryTexts } from './repository-texts.ts';

/** What is missing, and what to do about it. */
export type Step = readonly [missing: string, todo: string];

/** What must be there beside something, and where. */
export interface Rule<Item> {
  /** Whether it is there. */
  isKept(item: Item, texts: RepositoryTexts): boolean;
  /** The sentence about what is missing, in its two halves. */
  tell(item: Item): Step;
}

/** Something that there may be one more of. */
export interface Addition {
  /** Name of its guide: what `npm run new` takes. */
  readonly guide: string;
  readonly what: string;
  /** What one that has nothing yet lacks. */
  readonly steps: readonly Step[];
  /** How many of them there are. */
  count(texts: RepositoryTexts): number;
  /** What is missing of all of them, a sentence each. */
  findForgotten(texts: RepositoryTexts): readonly string[];
  /** Rules that look into files, and find what they ask of the first of them in `others`. */
  findLax(texts: RepositoryTexts, others: RepositoryTexts): readonly string[];
}

/** What an addition is made of, besides its rules. */
export interface AdditionOptions<Item> extends Pick<Addition, 'guide' | 'what'> {
  /** Those that there are. */
  list(texts: RepositoryTexts): readonly Item[];
  /** An example of one that has nothing yet. */
  readonly newcomer: Item;
}

/** What is missing of an item, a sentence each; empty when nothing was forgotten. */
export function findForgotten<Item>(
  rules: readonly Rule<Item>[],
  item: Item,
  texts: RepositoryTexts,
): string[] {
  return rules.filter(({ isKept }) => !isKept(item, texts)).map(({ tell }) => tell(item).join(': '));
}

/** An addition by what lists those that there are, and by the rules for whoever adds one more. */
export function addition<Item>(
  { guide, what, list, newcomer }: AdditionOptions<Item>,
  rules: readonly Rule<Item>[],
): Addition {
  return {
    guide,
    what,
    steps: rules.map(({ tell }) => tell(newcomer)),
    count: (texts) => list(texts).length,
    findForgotten: (texts) => list(texts).flatMap((item) => findForgotten(rules, item, texts)),
    findLax: (texts, others) =>
      list(texts)
        .slice(0, 1)
        .flatMap((item) =>
          rules
            .filter(({ isKept }) => isKept.length > 1 && isKept(item, others))
            .map(({ tell }) => tell(item).join(': ')),
        ),
  };
}
