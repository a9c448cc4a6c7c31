import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { startCluster } from '#infra/tools/test-cluster/cluster.ts';
import { describeWithCluster } from '#test/support/cluster/cluster.ts';
import { fillApplication } from '#test/support/cluster/fill-application.ts';
import { makeTempDir } from '#test/support/run/temp-dir.ts';
import { chooseSize } from '#test/support/run/test-size.ts';
import { configureDeployedSystem, getDeployment } from '#test/support/system/deployed-system.ts';
import type { Subject } from '#test/support/system/system.ts';

const deployments = chooseSize({ short: 800, long: 5_000 });
const podsEach = 4;
const accountCount = chooseSize({ short: 100, long: 400 });
const application = 'large';
const filledWithinMs = 1_200_000;
const pollPauseMs = 5_000;

/** Nothing but the API server is to work on what is made, so that it is made in little time. */
const idleControllers = [
  'deployment',
  'replicaset',
  'garbage-collector',
  'resourcequota',
  'disruption',
  'job',
];
const controllers = ['*', ...idleControllers.map((name) => `-${name}-controller`)].join(',');

describeWithCluster('reads of a large application among many accounts', () => {
  it(`show ${deployments} Deployments of ${podsEach} pods, and ${accountCount} accounts`, async () => {
    await using cluster = await startCluster({
      report: tell,
      args: [`--controller-manager-arg=--controllers=${controllers}`],
    });
    await fillApplication({
      ...cluster,
      namespace: application,
      application,
      deployments,
      podsEach,
      report: tell,
    });
    await using dir = await makeTempDir();
    const config = join(dir.path, 'clouddriver.yml');
    // The others are credentials of a pod in which nothing runs: their agents fail at once, and must disturb nobody.
    const others = Array.from({ length: accountCount - 1 }, (_, index) => ({
      name: `other-${String(index).padStart(3, '0')}`,
      serviceAccount: true,
    }));
    const accounts = [
      { name: 'big', kubeconfigFile: cluster.kubeconfig, namespaces: [application] },
      ...others,
    ];
    await writeFile(config, JSON.stringify({ kubernetes: { enabled: true, accounts } }));
    await using subject = await configureDeployedSystem(getDeployment(), { config: [config] });

    const groups = await waitUntilCached(subject);

    expect(new Set(groups.map(({ name }) => name)).size).toBe(deployments);
    expect(groups.filter(({ instances }) => instances.length !== podsEach)).toEqual([]);
    const [first] = groups;
    const one = await read<ServerGroup>(
      subject,
      `/serverGroups/big/${application}/${encodeURIComponent(first?.name ?? '')}`,
    );
    expect(one.instances).toHaveLength(podsEach);
    const managers = await read<unknown[]>(subject, `/applications/${application}/serverGroupManagers`);
    expect(managers).toHaveLength(deployments);
    const clusters = [1, deployments - 1].map((index) => `big:deployment ${toName(index)}`).join(',');
    const chosen = `/applications/${application}/serverGroups?clusters=${encodeURIComponent(clusters)}`;
    expect(await read<unknown[]>(subject, chosen)).toHaveLength(2);
    const search = `/search?q=${toName(42)}&type=serverGroups&platform=kubernetes`;
    const [page] = await read<{ readonly results: readonly unknown[] }[]>(subject, search);
    expect(page?.results).toHaveLength(1);
    const credentials = await read<Account[]>(subject, '/credentials?expand=true');
    expect(credentials).toHaveLength(accountCount);
    expect(
      credentials.every(({ spinnakerKindMap }) => spinnakerKindMap.deployment === 'serverGroupManagers'),
    ).toBe(true);
    const listed = await read<{ readonly name: string }[]>(
      subject,
      '/applications?restricted=false&expand=false',
    );
    expect(listed.map(({ name }) => name)).toContain(application);
  }, 1_800_000);
});

interface ServerGroup {
  readonly name: string;
  readonly instances: readonly unknown[];
}

interface Account {
  readonly spinnakerKindMap: { readonly deployment?: string };
}

/** As fillApplication() calls a Deployment. */
function toName(index: number): string {
  return `${application}-${String(index).padStart(5, '0')}`;
}

/** The server groups once all of them and their pods are shown. @throws Error when that takes too long */
async function waitUntilCached(subject: Subject): Promise<readonly ServerGroup[]> {
  const deadline = performance.now() + filledWithinMs;
  for (;;) {
    const path = `/applications/${application}/serverGroups`;
    const groups = await read<ServerGroup[]>(subject, path);
    const whole = groups.filter(({ instances }) => instances.length === podsEach).length;
    tell(`${whole} of ${deployments} server groups are shown with their pods`);
    if (whole === deployments) return groups;
    if (performance.now() > deadline) throw new Error('the cache was not filled in time');
    await new Promise((resolve) => setTimeout(resolve, pollPauseMs));
  }
}

/** The emulator has so much to do that a call of it may take too long: a caller that gets 503 asks again, as Orca does. */
async function read<T>(subject: Subject, path: string, triesLeft = 30): Promise<T> {
  const start = performance.now();
  // The emulator may close a connection that was idle just when it is used again: reading twice harms nobody.
  const answer = await subject.fetch(path).catch(() => subject.fetch(path));
  const text = await answer.text();
  const kib = Math.round(text.length / 1024);
  tell(`GET ${path.slice(0, 80)}: ${answer.status}, ${kib} KiB, ${Math.round(performance.now() - start)} ms`);
  if (answer.status === 503 && triesLeft > 0) {
    await new Promise((resolve) => setTimeout(resolve, pollPauseMs));
    return read(subject, path, triesLeft - 1);
  }
  expect(answer.status, text.slice(0, 500)).toBe(200);
  return JSON.parse(text) as T;
}

function tell(line: string): void {
  console.log(line);
}
