import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ObjectFacts } from '#providers/kubernetes/rows/facts.ts';
import { newAccount } from '#test/contracts/cache-bench.ts';
import { useLocalTables } from '#test/support/engines/local-tables.ts';
import { openCachedAccounts } from './cached-accounts.ts';

const open = useLocalTables();

/** Names of few letters, so that many hold each other. */
const arbitraryName = fc.stringMatching(/^[a-c]{1,2}(-[ab0-1]{1,2})?$/);

const kinds = {
  replicaSet: 'serverGroups',
  deployment: 'serverGroupManagers',
  pod: 'instances',
  service: 'loadBalancers',
  configMap: 'configs',
} as const;

const arbitraryFacts = fc
  .record({
    kind: fc.constantFrom('replicaSet', 'deployment', 'pod', 'service', 'configMap'),
    namespace: arbitraryName,
    name: arbitraryName,
    app: fc.option(arbitraryName, { nil: undefined }),
    cluster: fc.option(fc.constantFrom('deployment Cab', 'say "b"', 'b\\a'), { nil: undefined }),
  })
  .map(({ kind, namespace, name, app, cluster }): ObjectFacts => {
    const uid = `${kind} ${namespace} ${name}`;
    const moniker = { ...(app && { app }), ...(cluster && { cluster }) };
    const common = { apiVersion: 'v1', resourceVersion: '1', createdTime: 1, labels: {}, owners: [] };
    return { ...common, kind, spinnakerKind: kinds[kind], namespace, name, uid, moniker };
  });

const arbitraryObjects = fc.uniqueArray(arbitraryFacts, { maxLength: 30, selector: ({ uid }) => uid });

const arbitraryQuery = fc.oneof(
  fc.stringMatching(/^[a-cA-B0-1:-]{0,3}$/),
  fc.constantFrom('deployment c', 'SET', 'pod a', '"', '\\', 'a:b', '%'),
);

/** What a search for objects finds: by the contract, one object after the other. */
function computeFinds(account: string, objects: readonly ObjectFacts[], query: string): string[] {
  const wanted = query.toLowerCase();
  return objects
    .flatMap(({ kind, namespace, name, spinnakerKind, moniker: { app, cluster } }) => {
      const isGrouped = spinnakerKind.startsWith('serverGroup');
      const application = isGrouped || spinnakerKind === 'loadBalancers' ? app : undefined;
      const own = isGrouped && app ? cluster : undefined;
      const texts = [`${kind}:${account}:${namespace}:${name}`, `${kind} ${name}`, application, own];
      const isFound = texts.some((text) => text?.toLowerCase().includes(wanted));
      return isFound ? [toLine([spinnakerKind, `${kind} ${name}`, namespace, application, own])] : [];
    })
    .sort();
}

function toLine(members: readonly unknown[]): string {
  return JSON.stringify(members);
}

test('a search finds exactly what has the text in its key, application or cluster, whatever the names', async () => {
  await fc.assert(
    fc.asyncProperty(
      arbitraryObjects,
      fc.array(arbitraryQuery, { minLength: 3 }),
      async (objects, queries) => {
        const account = newAccount();
        const { reader, writeFacts } = await openCachedAccounts(open, [{ name: account }]);
        await writeFacts(account, objects);
        for (const query of queries) {
          const { value } = await reader.search({ query, types: [...new Set(Object.values(kinds))] });
          const finds = value.map(({ type, name, namespace, application, cluster }) =>
            toLine([type, name, namespace, application, cluster]),
          );
          expect(finds.sort(), query).toEqual(computeFinds(account, objects, query));
        }
      },
    ),
    { numRuns: 20 },
  );
});
