import { expect, test } from 'vitest';
import { parseKubeconfigContext } from '#providers/kubernetes/credentials/kubeconfig.ts';
import { readKubeconfigContext } from '#providers/kubernetes/credentials/kubeconfig-reading.ts';
import { watchMainLoop } from '#test/support/run/main-loop.ts';

const owner = { name: 'edge', placement: 'local', isConfined: true } as const;

/** A kubeconfig with further entries that nobody uses. */
function writeKubeconfig(entries: number): string {
  const others = Array.from({ length: entries }, (_, each) => `- {name: other-${each}}`);
  return `current-context: main
contexts: [{name: main, context: {cluster: main, user: main, namespace: shop}}]
clusters: [{name: main, cluster: {server: 'https://kube.example.com'}}]
users:
- {name: main, user: {token: planted, as: ann, as-groups: [admins]}}
${others.join('\n')}
`;
}

test.each([
  { where: 'in a thread where it is long and came by an API', entries: 6_000, account: owner, threads: 1 },
  { where: 'at once where it is short', entries: 10, account: owner, threads: 0 },
  { where: 'at once for operators', entries: 6_000, account: { ...owner, isConfined: false }, threads: 0 },
  {
    where: 'at once in a function of Lambda',
    entries: 6_000,
    account: { ...owner, placement: 'deployed' as const },
    threads: 0,
  },
])('a kubeconfig is read $where, and comes to the same', async ({ entries, account, threads }) => {
  const text = writeKubeconfig(entries);
  const expected = parseKubeconfigContext(text);
  let found: unknown;
  const report = await watchMainLoop(async () => {
    found = await readKubeconfigContext(text, account);
  });
  expect(found).toEqual(expected);
  expect(report).toMatchObject({ threadsSeen: threads, threadsLeft: 0 });
});

test('a long kubeconfig that is wrong is refused in the same words', async () => {
  const text = writeKubeconfig(6_000);
  await expect(readKubeconfigContext(text, { ...owner, context: 'none' })).rejects.toThrow(
    'context "none" does not exist (it has "main")',
  );
  await expect(readKubeconfigContext(`${text}- }planted`, owner)).rejects.toThrow(
    /^it is not valid YAML \(line \d+\)$/,
  );
});
