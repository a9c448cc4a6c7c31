import { describe, expect, test } from 'vitest';
import { InvalidInputError } from '#core/errors.ts';
import {
  apiVersionLengthMax,
  checkName,
  containerNameLengthMax,
  findApiVersionProblem,
  findContainerProblem,
  findKindProblem,
  findNameProblem,
  findNamespaceProblem,
  findTextProblem,
  kindLengthMax,
  namespaceLengthMax,
  objectNameLengthMax,
  quoteName,
} from '#providers/kubernetes/api/names.ts';

/** What no name may be, and why. */
const strangers = [
  { problem: /got an empty string$/, names: [''] },
  { problem: /other than '\.' and '\.\.'$/, names: ['.', '..'] },
  {
    problem: /without '\/' and '%'$/,
    names: ['/', 'vault/status', 'x/proxy/', '../secrets', 'a%2Fb', 'a%252Fb', '100%'],
  },
  {
    problem: /without control characters$/,
    names: ['a\0', 'a\r\nhost: b', 'a\u007f', 'a\u0085', 'a\u2028', 'a\ud800'],
  },
].flatMap(({ problem, names }) => names.map((name) => ({ name, problem })));

describe('a name', () => {
  test.each(strangers)('$name is none', ({ name, problem }) => {
    for (const find of [findNameProblem, findNamespaceProblem, findContainerProblem]) {
      expect(find(name)).toMatch(problem);
    }
    expect(() => checkName(name)).toThrow(InvalidInputError);
  });

  test.each(['web', 'web-v000', 'system:node', 'a.b', '...', 'Größe', 'a b', 'a?b#c', '__proto__'])(
    '%j is one',
    (name) => {
      expect(findNameProblem(name)).toBeUndefined();
      expect(checkName(name)).toBe(name);
    },
  );

  test.each([
    [findNameProblem, objectNameLengthMax],
    [findNamespaceProblem, namespaceLengthMax],
    [findContainerProblem, containerNameLengthMax],
    [findKindProblem, kindLengthMax],
    [findApiVersionProblem, apiVersionLengthMax],
  ])('is bounded: %o', (find, max) => {
    expect(find('a'.repeat(max))).toBeUndefined();
    expect(find('a'.repeat(max + 1))).toBe(`expected at most ${max} characters, got ${max + 1}`);
  });

  test('of a million characters is refused at once, whatever it holds', () => {
    const used = process.threadCpuUsage();
    for (const part of ['a', '.', '/', '%', '-', '\0', '\ud800', '😀']) {
      const text = part.repeat(1e6);
      for (const find of [findNameProblem, findNamespaceProblem, findKindProblem, findApiVersionProblem]) {
        expect(find(text)).toBeDefined();
      }
      expect(quoteName(text).length).toBeLessThanOrEqual(101);
    }
    expect(process.threadCpuUsage(used).user / 1_000).toBeLessThan(2_000);
  });
});

test.each(['deploy', 'deployment.apps', 'CronTab.stable.example.com', 'horizontalpodautoscaler', 'A_b-c'])(
  '%j may be a kind',
  (kind) => expect(findKindProblem(kind)).toBeUndefined(),
);

test.each(['', '.', '..', 'pods/log', 'a b', 'a%2f', '-a', 'a\n', 'ä'])('%j is no kind', (kind) => {
  expect(findKindProblem(kind)).toBe('expected a kind of letters, digits, dots and dashes');
});

test.each(['v1', 'apps/v1', 'stable.example.com/v1alpha1'])('%j may be an apiVersion', (apiVersion) => {
  expect(findApiVersionProblem(apiVersion)).toBeUndefined();
});

test.each(['', '/', 'apps/', '/v1', 'apps/v1/namespaces', '../v1', 'apps/..', 'v 1', 'v1%2f'])(
  '%j is no apiVersion',
  (apiVersion) => {
    expect(findApiVersionProblem(apiVersion)).toBe("expected an apiVersion such as 'v1' or 'apps/v1'");
  },
);

test.each([
  [['vault'], 'a list'],
  [{ toString: 'vault' }, 'an object'],
  [7, '7'],
  [true, 'true'],
])('%j is no text', (value, what) => {
  expect(findTextProblem(value, findNamespaceProblem)).toBe(`expected a string, got ${what}`);
});

test.each([undefined, null, ''])('%j is no text that is given', (value) => {
  expect(findTextProblem(value, findNamespaceProblem)).toBeUndefined();
});

test('a message quotes no more of a name than its beginning, and nothing that ends a line', () => {
  expect(quoteName(`a\r\n\u2028${'b'.repeat(200)}`)).toBe(`a\ufffd\ufffd\ufffd${'b'.repeat(96)}…`);
});
