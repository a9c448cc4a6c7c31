import { listFiles, readText } from './source-files.ts';

/** Something that there may be one more of: an operation, a setting. */
export interface Addition {
  /** Name of its guide: what `npm run new` takes. */
  readonly guide: string;
  readonly what: string;
  /** How many there are. */
  readonly count: number;
  /** What is missing of all of them. */
  findForgotten(): string[];
  /** What a new one needs. */
  listNeeds(): Needs;
}

/** What something needs: true where it is there, else a sentence that says what is missing, and what to do. */
export type Needs = readonly (boolean | string)[];

/** What an addition is made of. */
export interface AdditionParts<Item> {
  /** Those that there are. */
  readonly items: readonly Item[];
  /** An example of one that has nothing yet. */
  readonly newcomer: Item;
  needs(item: Item): Needs;
}

/** How a failing test asks for tables that come from the code. */
export const writeTables = 'run npx vitest run test/architecture/tables.test.ts --update';

/** An addition by the name of its guide, what it is, and its parts. */
export function addition<Item>(guide: string, what: string, parts: AdditionParts<Item>): Addition {
  const { items, newcomer, needs } = parts;
  return {
    ...{ guide, what, count: items.length },
    findForgotten: () => items.flatMap(needs).filter((need) => typeof need === 'string'),
    listNeeds: () => needs(newcomer),
  };
}

/** Whether a text, or a match of a pattern, is in some file whose path begins so. */
export function has(prefix: string, sought: string | RegExp): boolean {
  const isIn = (text: string) => (typeof sought === 'string' ? text.includes(sought) : sought.test(text));
  return listFiles(prefix).some((path) => isIn(readText(path)));
}

/** Matches of a pattern in files whose paths begin so: the file, then the groups. */
export function findAll(prefix: string, pattern: RegExp): string[][] {
  return listFiles(prefix).flatMap((path) => {
    const matches = [...readText(path).matchAll(pattern)];
    return matches.map(([, ...groups]) => [path, ...groups.map((group = '') => group)]);
  });
}

/** What is below a heading of a page, up to the next one of its level or above; empty where there is none. */
export function readSection(path: string, heading: string): string {
  const [, marks = '', rest = ''] =
    new RegExp(`^(#+) ${heading}\\n([\\s\\S]*)`, 'm').exec(readText(path)) ?? [];
  return rest.split(new RegExp(`^#{1,${marks.length || 1}} `, 'm'))[0] ?? '';
}

/** The same without what is below lesser headings. */
export function readTop(path: string, heading: string): string {
  return readSection(path, heading).split(/^#+ /m)[0] ?? '';
}
