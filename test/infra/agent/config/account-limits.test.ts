import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type AccountLimits, narrowAccount } from '../../../../infra/agent/config/account-limits.ts';

const none: AccountLimits = {
  ...{ namespaces: [], omitNamespaces: [], kinds: [], omitKinds: [] },
  ...{ onlyNamespacedResources: false, onlySpinnakerManaged: false, metrics: true },
};

describe("what an agent's file says of an account", () => {
  it.each([
    [
      'names namespaces where the definition names none',
      { definition: {}, limits: { namespaces: ['a'] }, expected: { namespaces: ['a'], omitNamespaces: [] } },
    ],
    [
      'names some of them',
      {
        definition: { namespaces: ['a', 'b'] },
        limits: { namespaces: ['b', 'c'] },
        expected: { namespaces: ['b'], omitNamespaces: [] },
      },
    ],
    [
      'leaves out one of them',
      {
        definition: { namespaces: ['a', 'b'] },
        limits: { omitNamespaces: ['a'] },
        expected: { namespaces: ['b'], omitNamespaces: [] },
      },
    ],
    [
      'names one that is left out',
      {
        definition: { omitNamespaces: ['a'] },
        limits: { namespaces: ['a', 'b'] },
        expected: { namespaces: ['b'], omitNamespaces: [] },
      },
    ],
    [
      'leaves out more',
      {
        definition: { omitNamespaces: ['a'] },
        limits: { omitNamespaces: ['a', 'b'] },
        expected: { namespaces: [], omitNamespaces: ['a', 'b'] },
      },
    ],
    [
      'names kinds in another way',
      {
        definition: { kinds: ['deployment', 'pod'] },
        limits: { kinds: ['Deployment.apps'] },
        expected: { kinds: ['deployment'], omitKinds: [] },
      },
    ],
    [
      'leaves out a kind',
      {
        definition: { kinds: ['deployment', 'pod'] },
        limits: { omitKinds: ['Pod'] },
        expected: { kinds: ['deployment'], omitKinds: [] },
      },
    ],
    [
      'bounds it to namespaces',
      { definition: {}, limits: { onlyNamespacedResources: true }, expected: { clusterScopedKinds: false } },
    ],
    [
      'does not open it',
      { definition: { clusterScopedKinds: false }, limits: {}, expected: { clusterScopedKinds: false } },
    ],
    [
      'bounds it to Spinnaker',
      { definition: {}, limits: { onlySpinnakerManaged: true }, expected: { onlySpinnakerManaged: true } },
    ],
    [
      'does not open that',
      { definition: { onlySpinnakerManaged: true }, limits: {}, expected: { onlySpinnakerManaged: true } },
    ],
    [
      'takes metrics away',
      { definition: { metrics: true }, limits: { metrics: false }, expected: { metrics: false } },
    ],
    [
      'does not add them',
      { definition: { metrics: false }, limits: { metrics: true }, expected: { metrics: false } },
    ],
  ])('%s', (_what, { definition, limits, expected }) => {
    expect(narrowAccount(definition, { ...none, ...limits })).toMatchObject(expected);
  });

  it.each([
    [{ namespaces: ['a'] }, { namespaces: ['b'] }],
    [{ namespaces: ['a'] }, { omitNamespaces: ['a'] }],
    [{ kinds: ['pod'] }, { kinds: ['service'] }],
  ])('is refused where nothing is left: %o and %o', (definition, limits) => {
    expect(() => narrowAccount(definition, { ...none, ...limits })).toThrow('leaves none of those');
  });

  it('never widens the definition', () => {
    const names = fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd'));
    const either = fc.oneof(
      names.map((namespaces) => ({ namespaces, omitNamespaces: [] as string[] })),
      names.map((omitNamespaces) => ({ namespaces: [] as string[], omitNamespaces })),
    );
    const allows = (
      { namespaces, omitNamespaces }: { namespaces: string[]; omitNamespaces: string[] },
      name: string,
    ) => (namespaces.length === 0 || namespaces.includes(name)) && !omitNamespaces.includes(name);
    fc.assert(
      fc.property(either, names, names, (definition, namespaces, omitNamespaces) => {
        const limits = { namespaces, omitNamespaces };
        const wanted = ['a', 'b', 'c', 'd', 'e'].filter(
          (name) => allows(definition, name) && allows(limits, name),
        );
        let narrowed: typeof definition;
        try {
          narrowed = narrowAccount(definition, { ...none, ...limits }) as unknown as typeof definition;
        } catch {
          expect(wanted).toEqual([]);
          return;
        }
        expect(['a', 'b', 'c', 'd', 'e'].filter((name) => allows(narrowed, name))).toEqual(wanted);
      }),
    );
  });
});
