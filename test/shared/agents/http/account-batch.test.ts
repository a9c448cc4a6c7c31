import { describe, expect, it } from 'vitest';
import { changeEach, checkEach, checkNamesDiffer } from '#agents/http/account-batch.ts';
import {
  AccessDeniedError,
  InvalidInputError,
  NotFoundError,
  RefusedChangeError,
  UnavailableError,
} from '#core/errors.ts';

const logged: string[] = [];
const record = (message: string) => void logged.push(message);
const log = { debug: record, info: record, warn: record, error: record };
const options = { signal: new AbortController().signal, log };
const place = (...names: readonly string[]) => names.map((name, index) => ({ name, place: `[${index}]` }));

describe('checkEach', () => {
  it('tells all that is wrong in the order of the list, each violation with its place', async () => {
    const checked = checkEach(place('good', 'bad', 'gone', 'worse'), ({ name }) => {
      if (name === 'bad') throw new InvalidInputError(['type: one', 'agent: two']);
      if (name === 'gone') throw new NotFoundError('No account found with name gone');
      if (name === 'worse') throw new RefusedChangeError('Cannot create account');
    });
    await expect(checked).rejects.toMatchObject({
      errors: [
        '[1].type: one',
        '[1].agent: two',
        '[2]: No account found with name gone',
        '[3]: Cannot create account',
      ],
    });
  });

  it('leaves errors of an account that stands alone as they are', async () => {
    const alone = [{ name: 'a', place: '' }];
    const check = (error: Error) =>
      checkEach(alone, () => {
        throw error;
      });
    await expect(check(new InvalidInputError('type: one'))).rejects.toMatchObject({ errors: ['type: one'] });
    await expect(check(new RefusedChangeError('no'))).rejects.toBeInstanceOf(RefusedChangeError);
  });

  it('throws a right that is missing as it is', async () => {
    const checked = checkEach(place('a', 'b'), ({ name }) => {
      if (name === 'b') throw new AccessDeniedError('denied');
    });
    await expect(checked).rejects.toBeInstanceOf(AccessDeniedError);
  });
});

describe('checkNamesDiffer', () => {
  it('names each account that stands in a list again, whatever its case', () => {
    expect(() => checkNamesDiffer(place('a', 'b', 'c'))).not.toThrow();
    expect(() => checkNamesDiffer(place('a', 'b', 'A'))).toThrow('[2].name: the list has A more than once');
  });
});

describe('changeEach', () => {
  it('tells what was done and what was not when it fails in the middle', async () => {
    const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
    const begun: string[] = [];
    const changed = changeEach(place(...names), options, async ({ name }) => {
      begun.push(name);
      // Four are under way at a time: the others end before it.
      await new Promise<void>((resolve) => setImmediate(resolve));
      if (name === 'e') throw new UnavailableError('The store is away');
    });
    const error = await changed.then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(UnavailableError);
    const { message } = error as Error;
    const [, done = '', left = ''] = /^The store is away; done: (.*); not done: (.*)$/.exec(message) ?? [];
    expect([...done.split(', '), ...left.split(', ')].sort()).toEqual(names);
    expect(done.split(', ')).toEqual(expect.arrayContaining(['a', 'b', 'c', 'd']));
    expect(left.split(', ')).toContain('e');
    expect(logged).toEqual(['some accounts of a list were not changed']);
  });

  it('tells nothing of a defect but that it ended there', async () => {
    const changed = changeEach(place('a', 'b', 'c', 'd', 'e'), options, async ({ name }) => {
      if (name === 'e') throw new TypeError('inner matter');
    });
    await expect(changed).rejects.toThrow(/^Not all of it could be done; done: a, b, c, d; not done: e$/);
  });

  it('throws as it is what failed before anything was done', async () => {
    const denied = new AccessDeniedError('denied');
    const changed = changeEach(place('a'), options, () => Promise.reject(denied));
    await expect(changed).rejects.toBe(denied);
  });

  it('begins nothing once the time is over', async () => {
    const ended = AbortSignal.abort(new Error('over'));
    const begun: string[] = [];
    const changed = changeEach(place('a', 'b'), { ...options, signal: ended }, async ({ name }) => {
      begun.push(name);
    });
    await expect(changed).rejects.toThrow('over');
    expect(begun).toEqual([]);
  });
});
