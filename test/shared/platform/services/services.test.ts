import { afterEach, describe, expect, it, vi } from 'vitest';
import { makeFunction } from '#platform/services/function.ts';
import { Services } from '#platform/services/services.ts';

afterEach(() => void vi.unstubAllEnvs());

describe('the services of an installation', () => {
  it('are made on first use, once, by what their makers need of each other', () => {
    const made: string[] = [];
    const createTable = ({ environment }: Services) => {
      made.push('table');
      return { name: environment['TABLE'] };
    };
    const createStore = (all: Services) => ({ table: all.get(createTable) });
    const services = new Services({ TABLE: 'tasks' });
    const other = new Services({ TABLE: 'others' });

    expect(made).toEqual([]);
    expect(services.get(createStore).table).toBe(services.get(createTable));
    expect(services.get(createStore)).toEqual({ table: { name: 'tasks' } });
    expect(other.get(createStore)).toEqual({ table: { name: 'others' } });
    expect(made).toEqual(['table', 'table']);
  });

  it('are told apart by their kind', () => {
    const create = (_: Services, kind: 'request' | 'work') => ({ kind });
    const services = new Services({});
    expect(services.get(create, 'work')).toEqual({ kind: 'work' });
    expect(services.get(create, 'request')).toEqual({ kind: 'request' });
    expect(services.get(create, 'work')).toBe(services.get(create, 'work'));
  });

  it('are tried again where they could not be made, and kept where they are nothing', () => {
    let calls = 0;
    const create = () => {
      calls += 1;
      if (calls === 1) throw new Error('not yet');
    };
    const services = new Services({});

    expect(() => services.get(create)).toThrow('not yet');
    services.get(create);
    services.get(create);
    expect(calls).toBe(2);
  });

  it('are closed together, the last first', async () => {
    const closed: string[] = [];
    const services = new Services({});
    services.get((all) => all.closeLater(() => void closed.push('table')));
    services.get((all) => all.closeLater(async () => void closed.push('store')));

    await services[Symbol.asyncDispose]();
    await services[Symbol.asyncDispose]();
    expect(closed).toEqual(['store', 'table']);
  });
});

describe('a function', () => {
  const make = vi.fn(
    ({ environment }: Services) =>
      (greeting: string) =>
        `${greeting} ${environment['WHO']}`,
  );

  it('works with the services of its process, which are opened when it is called', () => {
    const handler = makeFunction(make);
    expect(make).not.toHaveBeenCalled();
    vi.stubEnv('WHO', 'process');

    expect(handler('hello')).toBe('hello process');
    expect(handler('bye')).toBe('bye process');
    expect(make).toHaveBeenCalledTimes(1);
  });

  it('works for another installation with its services', () => {
    const handler = makeFunction(make).withServices(new Services({ WHO: 'installation' }));
    expect(handler('hello')).toBe('hello installation');
  });
});
