import { expect, test } from 'vitest';
import { AnswerMemory, type AnswerPlace } from '#providers/kubernetes/transport/answer-memory.ts';

/** Asks for places, and keeps what becomes of it. */
class Guests {
  readonly placed: string[] = [];
  readonly evicted: string[] = [];
  readonly places = new Map<string, AnswerPlace>();
  readonly #memory: AnswerMemory;

  constructor(memory: AnswerMemory) {
    this.#memory = memory;
  }

  /** @param name begins with the account's: `a1` is of `a` */
  enter(name: string): () => void {
    return this.#memory.enter({
      account: name.charAt(0),
      onEvicted: () => this.evicted.push(name),
      onPlaced: (place) => {
        this.placed.push(name);
        this.places.set(name, place);
      },
    });
  }
}

test('gives places while there are some, of which one account gets a part', () => {
  const memory = new AnswerMemory({ places: 3, placesOfAccount: 2, holdMs: 60_000 });
  const guests = new Guests(memory);
  for (const name of ['a1', 'a2', 'a3', 'b1', 'b2', 'c1']) guests.enter(name);
  expect(guests.placed).toEqual(['a1', 'a2', 'b1']);
  expect(memory.taken).toBe(3);
});

test('who has fewest places comes first, in the order of asking', () => {
  const memory = new AnswerMemory({ places: 2, placesOfAccount: 2, holdMs: 60_000 });
  const guests = new Guests(memory);
  for (const name of ['a1', 'a2', 'a3', 'b1', 'c1']) guests.enter(name);
  for (const name of ['a1', 'a2', 'b1']) guests.places.get(name)?.release();
  guests.places.get('a1')?.release();
  expect(guests.placed).toEqual(['a1', 'a2', 'b1', 'a3', 'c1']);
  expect(memory.taken).toBe(2);
});

test('who gives up asking gets none', () => {
  const memory = new AnswerMemory({ places: 1, placesOfAccount: 1, holdMs: 60_000 });
  const guests = new Guests(memory);
  guests.enter('a1');
  guests.enter('b1')();
  guests.enter('c1');
  guests.places.get('a1')?.release();
  expect(guests.placed).toEqual(['a1', 'c1']);
});

test('an answer that takes its time makes memory for another account, and one that is complete does not', async () => {
  const memory = new AnswerMemory({ places: 2, placesOfAccount: 2, holdMs: 20 });
  const guests = new Guests(memory);
  for (const name of ['a1', 'a2', 'b1', 'b2']) guests.enter(name);
  guests.places.get('a1')?.settle();
  await expect.poll(() => guests.placed).toEqual(['a1', 'a2', 'b1']);
  expect(guests.evicted).toEqual(['a2']);
  guests.places.get('a2')?.release();
  expect(memory.taken).toBe(2);
});

test('an account does not drive out its own answers', async () => {
  const memory = new AnswerMemory({ places: 2, placesOfAccount: 1, holdMs: 1 });
  const guests = new Guests(memory);
  for (const name of ['a1', 'a2', 'b1', 'b2']) guests.enter(name);
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(guests.placed).toEqual(['a1', 'b1']);
  expect(guests.evicted).toEqual([]);
});
