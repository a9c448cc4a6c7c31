import { expect, it } from 'vitest';
import { SessionPlaces } from '#agents/services/session-places.ts';

const clock = { ms: 0, monotonic: () => clock.ms };

function note(places: SessionPlaces, count: number) {
  return Array.from({ length: count }, (_, index) => places.note(`session-${index}`, 60));
}

it('spreads sessions evenly, the longer the more there are', () => {
  const places = new SessionPlaces({ clock });
  note(places, 1_000);
  const told = note(places, 1_000);
  expect(new Set(told.map(({ spreadMs }) => spreadMs))).toEqual(new Set([60_000]));
  const perSecond = Map.groupBy(told, ({ returnMs }) => Math.floor(returnMs / 1_000));
  expect(perSecond.size).toBe(60);
  for (const each of perSecond.values()) expect(each.length).toBeLessThanOrEqual(20);
});

it('keeps nobody waiting where there are few, and forgets who is gone', () => {
  const places = new SessionPlaces({ clock });
  expect(places.note('one', 60)).toEqual({ returnMs: 0, spreadMs: 60 });
  note(places, 500);
  clock.ms += 121_000;
  expect(places.note('one', 60)).toEqual({ returnMs: 0, spreadMs: 60 });
});

it('takes five minutes at most', () => {
  const places = new SessionPlaces({ clock });
  expect(note(places, 10_000).at(-1)?.spreadMs).toBe(300_000);
});
