import path from 'node:path';
import { expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { startAgent } from '#test/support/agents/agent-process.ts';
import {
  createNamespace,
  describeWithCluster,
  findObject,
  requestApi,
} from '#test/support/cluster/cluster.ts';
import { makeTempDir } from '#test/support/run/temp-dir.ts';
import { toDeploy } from '#test/support/system/config-map-deploy.ts';
import { startSystem } from '#test/support/system/system.ts';
import { runCommand } from '../command-line.ts';

describeWithCluster('busdriver agent', (cluster) => {
  test('enrols a cluster, which then takes deploys, until its agents are revoked', async () => {
    await using home = await createNamespace('agent-home');
    await using shop = await createNamespace('agent-shop');
    await using system = await startSystem({ settings: { busdriver: { agents: { enabled: true } } } });
    const run = (...words: readonly string[]) =>
      runCommand(['agent', ...words, '--url', system.url, '--user', 'ann@example.com']);
    const image = 'registry.test/busdriver-agent:1';
    const options = ['--kubeconfig', cluster.kubeconfig, '--namespace', home.name, '--image', image];
    const paths = {
      deployment: `/apis/apps/v1/namespaces/${home.name}/deployments/agent-edge-7`,
      account: `/api/v1/namespaces/${home.name}/serviceaccounts/agent-edge-7`,
    };

    await expectPlan(run, { options, namespace: home.name });
    expect(await findObject(paths.account)).toBeUndefined();
    expect((await run('list')).stderr).toContain('has no account with agents');

    // No pod runs here: what the Deployment would start is started by the test, with a token of its service account.
    const enrolling = run('enroll', 'edge-7', ...options, '--wait', '120');
    await expect.poll(() => findObject(paths.deployment)).toBeDefined();
    const answer = await requestApi('POST', `${paths.account}/token`, {
      ...{ apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest' },
      spec: { audiences: ['busdriver:local'], expirationSeconds: 600 },
    });
    const { token } = (answer as { readonly status: { readonly token: string } }).status;
    await using agent = await startAgent({
      ...{ url: system.url, token },
      accounts: [{ name: 'edge-7', kubeConfigFile: cluster.kubeconfig }],
    });
    const enrolled = await enrolling;
    expect([enrolled.code, enrolled.stderr]).toEqual([0, 'Next: busdriver agent check edge-7\n']);
    expect(enrolled.stdout).toMatch(/^Deployment agent-home-\w+\/agent-edge-7 +created$/m);
    expect(enrolled.stdout).toMatch(/^account edge-7 +stored$/m);
    expect(enrolled.stdout).toMatch(/^agents +1 of 2 connected$/m);
    const deploy = async (name: string) =>
      system.waitForTask(await system.postOperations([toDeploy('edge-7', shop.name, [name])]), {
        timeoutMs: 60_000,
      });
    expect((await deploy('through')).status.failed).toBe(false);
    expect(await findObject(`/api/v1/namespaces/${shop.name}/configmaps/through`)).toBeDefined();

    await expectUnchanged(run, options);

    const revoked = await run('revoke', 'edge-7');
    expect(revoked.stdout).toBe(
      'the agents of account edge-7 are revoked; what runs in its cluster is as it was\n',
    );
    await expect.poll(() => agent.log).toContain('the agents of account edge-7 are revoked');
    expect((await run('list')).stdout).toMatch(/^edge-7 +revoked +0\/2 /m);
    expect((await run('check', 'edge-7')).stdout).toMatch(
      /^health +failed +DISCONNECTED: its agents are revoked$/m,
    );
    expect(await findObject(paths.deployment)).toBeDefined();
    await removeRights(home.name);
  });

  test('tells what to do where a cluster or a server is of no use', async () => {
    await using dir = await makeTempDir();
    await using system = await startSystem({ config: [] });
    const run = (...words: readonly string[]) => runCommand(['agent', ...words, '--url', system.url]);
    expect(await run('enroll', 'edge', '--kubeconfig', cluster.kubeconfig)).toMatchObject({
      ...{ code: 1, stderr: expect.stringContaining('Next: make one with npm run images, push it') },
    });
    const none = ['--image', 'a', '--kubeconfig', path.join(dir.path, 'none')];
    const missing = await run('enroll', 'edge', ...none);
    expect(missing.code).toBe(1);
    expect(missing.stderr).toContain('Next: name a kubeconfig by --kubeconfig');
    const unserved = await run('list');
    expect([unserved.code, unserved.stderr]).toEqual([
      1,
      `error: ${system.url} serves no agents\nNext: set busdriver.agents.enabled to true in its settings\n`,
    ]);
    expect((await run('enroll', 'a b')).code).toBe(2);
    expect((await run('enroll', 'edge', '--replicas', '0')).stderr).toContain('from 1 to 100');
    expect((await run('enroll', 'edge', '--print', '--dry-run')).code).toBe(2);
  });
});

/** What stands in no namespace goes with none. */
async function removeRights(namespace: string): Promise<void> {
  const prefix = '/apis/rbac.authorization.k8s.io/v1';
  for (const plural of ['clusterroles', 'clusterrolebindings'])
    await requestApi('DELETE', `${prefix}/${plural}/${namespace}-agent-edge-7`);
}

type Run = (...words: readonly string[]) => ReturnType<typeof runCommand>;

/** What an enrolment would do can be printed, and be tried: neither changes anything. */
async function expectPlan(
  run: Run,
  { options, namespace }: { readonly options: readonly string[]; readonly namespace: string },
): Promise<void> {
  const plan = await run('enroll', 'edge-7', ...options, '--print');
  expect(plan).toMatchObject({ code: 0, stderr: '' });
  const kinds = parseAllDocuments(plan.stdout).map((document) => document.toJS()?.kind);
  // The account comes first, as a comment.
  expect(kinds.filter(Boolean)).toEqual([
    ...['Namespace', 'ServiceAccount', 'ClusterRole', 'ClusterRoleBinding'],
    ...['ConfigMap', 'Deployment', 'PodDisruptionBudget'],
  ]);
  expect(plan.stdout).toContain(`subject: system:serviceaccount:${namespace}:agent-edge-7`);
  const dry = await run('enroll', 'edge-7', ...options, '--dry-run');
  expect(dry.stdout).toMatch(/^account edge-7 +would be stored$/m);
}

/** Doing it again changes nothing, and the check says what is missing. */
async function expectUnchanged(run: Run, options: readonly string[]): Promise<void> {
  const again = await run('enroll', 'edge-7', ...options);
  expect(again.code).toBe(0);
  expect(again.stdout).toMatch(/^ServiceAccount agent-home-\w+\/agent-edge-7 +unchanged$/m);
  expect(again.stdout).toMatch(/^account edge-7 +changed$/m);
  expect((await run('list')).stdout).toMatch(/^edge-7 +enrolled +1\/2 +\d\S+ +v1\.\S+ +0 +/m);
  const check = await run('check', 'edge-7');
  expect(check.code).toBe(1);
  expect(check.stdout).toMatch(/^enrolment +ok +enrolled at \S+ by ann@example\.com$/m);
  expect(check.stdout).toMatch(/^replicas +failed +1 of 2 connected: /m);
  expect(check.stdout).toMatch(/^versions +ok +\d/m);
  expect(check.stdout).toMatch(/^cluster +ok +https:\S+ v1\.\S+ uid [-0-9a-f]{36}$/m);
}
