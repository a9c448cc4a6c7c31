import { expect } from 'vitest';
import { readFixture } from '#test/support/run/fixture.ts';

/** Names that requests and answers have in angle brackets, and what they are. */
export interface DeckObjects {
  readonly application: string;
  readonly namespace: string;
  readonly replicaSet: string;
  readonly pod: string;
  readonly podUid: string;
  readonly taskId: string;
}

/** One request of Deck, as Gate hands it on, with what Deck reads of the answer. */
export interface DeckRequest {
  readonly page: string;
  readonly method?: 'GET' | 'POST' | 'PUT';
  /** Path and query; parts in angle brackets stand for names of the objects. */
  readonly target: string;
  readonly body?: unknown;
  /** Default 200. */
  readonly status?: number;
  /** What {@link toExpected} turns into what `toEqual` compares the answer with. */
  readonly shows?: unknown;
}

export const deckRequests = readFixture<readonly DeckRequest[]>('deck-requests.yaml');

/** A text whose names in angle brackets are filled in. */
export function fillIn(text: string, objects: DeckObjects): string {
  return text.replaceAll(/<(\w+)>/g, (_, name: keyof DeckObjects) => objects[name]);
}

const matchers = new Map<string, unknown>([
  ['$anything', expect.anything()],
  ['$Number', expect.any(Number)],
  ['$Boolean', expect.any(Boolean)],
  ['$String', expect.any(String)],
  ['$Array', expect.any(Array)],
]);

/** What `toEqual` compares an answer with: members that Deck does not read are left to it. */
export function toExpected(shown: unknown, objects: DeckObjects): unknown {
  if (typeof shown === 'string') return matchers.get(shown) ?? fillIn(shown, objects);
  if (Array.isArray(shown)) return shown.map((item) => toExpected(item, objects));
  if (typeof shown !== 'object' || shown === null) return shown;
  const members = Object.entries(shown).map(
    ([name, member]) => [fillIn(name, objects), toExpected(member, objects)] as const,
  );
  const [[sort, inner] = []] = members;
  if (sort === '$containing') return expect.objectContaining(inner as object);
  if (sort === '$including') return expect.arrayContaining(inner as unknown[]);
  return Object.fromEntries(members);
}
