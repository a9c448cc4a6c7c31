import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '#core/json.ts';
import { type AccountLimits, narrowAccount } from '#infra/agent/config/account-limits.ts';

const none: AccountLimits = {
  ...{ namespaces: [], omitNamespaces: [], kinds: [], omitKinds: [] },
  ...{ onlyNamespacedResources: false, onlySpinnakerManaged: false, metrics: true },
};

describe("what an agent's file says of an account", () => {
  const [onlyA = {}, onlyB = {}] = ['a', 'b'].map((name) => ({ namespaces: [name], omitNamespaces: [] }));
  const withoutTwo = { omitNamespaces: ['a', 'b'] };
  const [twoNamespaces, twoKinds] = [{ namespaces: ['a', 'b'] }, { kinds: ['deployment', 'pod'] }];
  const onlyDeployment = { kinds: ['deployment'], omitKinds: [] };
  const [bounded, managed] = [{ clusterScopedKinds: false }, { onlySpinnakerManaged: true }];
  const unmeasured = { metrics: false };
  it.each<[what: string, definition: JsonObject, limits: Partial<AccountLimits>, expected: object]>([
    ['names namespaces where the definition names none', {}, { namespaces: ['a'] }, onlyA],
    ['names some of them', twoNamespaces, { namespaces: ['b', 'c'] }, onlyB],
    ['leaves out one of them', twoNamespaces, { omitNamespaces: ['a'] }, onlyB],
    ['names one that is left out', { omitNamespaces: ['a'] }, twoNamespaces, onlyB],
    ['leaves out more', { omitNamespaces: ['a'] }, withoutTwo, { namespaces: [], ...withoutTwo }],
    ['names kinds in another way', twoKinds, { kinds: ['Deployment.apps'] }, onlyDeployment],
    ['leaves out a kind', twoKinds, { omitKinds: ['Pod'] }, onlyDeployment],
    ['bounds it to namespaces', {}, { onlyNamespacedResources: true }, bounded],
    ['does not open it', bounded, {}, bounded],
    ['bounds it to Spinnaker', {}, managed, managed],
    ['does not open that', managed, {}, managed],
    ['takes metrics away', { metrics: true }, unmeasured, unmeasured],
    ['does not add them', unmeasured, { metrics: true }, unmeasured],
  ])('%s', (...[, definition, limits, expected]) => {
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
