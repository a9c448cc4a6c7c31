import { expect, test } from 'vitest';
import { FunctionSlots } from '#infra/server/front-door/function-slots.ts';

const limits = { concurrency: 2, waitingMax: 3, waitMs: 60_000 };

/** Slots with work that runs until it is ended. */
function startWork(overrides: Partial<typeof limits> = {}) {
  const slots = new FunctionSlots({ ...limits, ...overrides });
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  return {
    slots,
    begun,
    run: (name: string, caller = 'one') =>
      slots.run(caller, async () => {
        begun.push(name);
        await new Promise<void>((resolve) => ends.set(name, resolve));
        return name;
      }),
    end: (name: string) => ends.get(name)?.(),
  };
}

test('no more run at once than there are slots, and those who waited follow in their order', async () => {
  const { run, begun, end } = startWork();
  const all = ['a', 'b', 'c', 'd'].map((name) => run(name));
  await Promise.resolve();
  expect(begun).toEqual(['a', 'b']);
  end('b');
  await all[1];
  await expect.poll(() => begun).toEqual(['a', 'b', 'c']);
  for (const name of ['a', 'c']) end(name);
  await expect.poll(() => begun).toEqual(['a', 'b', 'c', 'd']);
  end('d');
  expect(await Promise.all(all)).toEqual(['a', 'b', 'c', 'd']);
});

test('work that fails gives its slot back', async () => {
  const { slots, run, begun, end } = startWork({ concurrency: 1 });
  const failing = slots.run('one', () => Promise.reject(new Error('no')));
  const next = run('next');
  await expect(failing).rejects.toThrow('no');
  await expect.poll(() => begun).toEqual(['next']);
  end('next');
  await next;
});

test('callers have turns: whoever sends many does not keep the others waiting', async () => {
  const { run, begun, end } = startWork({ concurrency: 1 });
  const all = ['a1', 'a2', 'a3'].map((name) => run(name, 'a'));
  all.push(run('b1', 'b'));
  for (const name of ['a1', 'b1', 'a2', 'a3']) {
    await expect.poll(() => begun.at(-1)).toBe(name);
    end(name);
  }
  await Promise.all(all);
});

test('too many who wait are refused at once, with when to try again', async () => {
  const { slots, run, end } = startWork();
  const all = ['a', 'b', 'c', 'd', 'e'].map((name) => run(name));
  expect(() => slots.checkCapacity()).toThrow('3 requests wait for this function');
  await expect(run('f')).rejects.toMatchObject({ status: 503, headers: { 'Retry-After': '1' } });
  end('a');
  await all[0];
  expect(() => slots.checkCapacity()).not.toThrow();
  for (const name of ['b', 'c', 'd', 'e']) {
    await expect.poll(() => end(name) ?? true).toBe(true);
  }
});

test('who is refused is told when it will be his turn, behind all who were refused before him', async () => {
  let nowMs = 0;
  const slots = new FunctionSlots(
    { concurrency: 2, waitingMax: 1, waitMs: 60_000 },
    { monotonic: () => nowMs },
  );
  const takeSecond = async () => {
    nowMs += 1_000;
  };
  for (let i = 0; i < 100; i += 1) await slots.run('one', takeSecond);
  const ends = Array.from({ length: 3 }, () => Promise.withResolvers<void>());
  const all = ends.map(({ promise }) => slots.run('one', () => promise));
  const told = async () => {
    const error: unknown = await slots.run('one', takeSecond).catch((thrown: unknown) => thrown);
    return (error as { readonly headers: object }).headers;
  };
  const seconds = [1, 2, 2, 3, 3].map((each) => ({ 'Retry-After': String(each) }));
  for (const expected of seconds) expect(await told()).toEqual(expected);
  for (let i = 0; i < 100; i += 1) await told();
  expect(await told()).toEqual({ 'Retry-After': '10' });
  nowMs += 60_000;
  expect(await told()).toEqual({ 'Retry-After': '1' });
  for (const { resolve } of ends) resolve();
  await Promise.all(all);
});

test('a reading of the clock that is no whole number makes nobody wait for a second more', async () => {
  const slots = new FunctionSlots(
    { concurrency: 1, waitingMax: 0, waitMs: 60_000 },
    { monotonic: () => 24.9 },
  );
  const { promise, resolve } = Promise.withResolvers<void>();
  slots.checkCapacity();
  const first = slots.run('one', () => promise);
  await expect(slots.run('one', () => promise)).rejects.toMatchObject({ headers: { 'Retry-After': '1' } });
  resolve();
  await first;
});

test('who waits too long is refused, and keeps nobody from a slot', async () => {
  const { run, begun, end } = startWork({ concurrency: 1, waitMs: 5 });
  const first = run('first');
  await expect(run('late')).rejects.toMatchObject({ status: 503, headers: { 'Retry-After': '1' } });
  end('first');
  await first;
  const next = run('next');
  await expect.poll(() => begun).toEqual(['first', 'next']);
  end('next');
  expect(await next).toBe('next');
});
