import { existsSync } from 'node:fs';
import { defineConfig } from 'vitest/config';
import { startWith } from './test/support/run/run-order.ts';

const clusterSetup = './test/support/cluster/global-cluster.ts';
const lowPriority = './test/support/run/low-priority.ts';

/** Suites that wait for what others may not hold up for long. All other suites run at a lower priority. */
const measuring = [
  'test/acceptance/isolation/many-accounts.test.ts',
  'test/acceptance/isolation/passing-accounts.test.ts',
  'test/shared/providers/kubernetes/client/hostile-servers.test.ts',
  'test/lab/laboratory.test.ts',
];

/** Those that measure how long somebody waits: they run after all the others. */
const quiet = ['test/acceptance/isolation/flood.test.ts', 'test/acceptance/isolation/flood-servers.test.ts'];

/** Those that take all processors themselves, or keep the cluster's controllers busy for all others: they run last, one after the other. */
const alone = [
  'test/acceptance/agents/agent-fleet.test.ts',
  'test/acceptance/tasks/overload.test.ts',
  'test/shared/providers/kubernetes/v1/operations/deaths.test.ts',
];

const architecture = ['test/architecture/**/*.test.ts'];

/**
 * Suites of the stacks' templates. To load the CDK costs more than each of them: a worker loads it once, and templates of the same
 * options are made once. Nothing that they do is left behind.
 */
const templates = [
  'test/infra/assembly/**/*.test.ts',
  'test/infra/stacks/**/*.test.ts',
  'test/infra/constructs/worker-queue.test.ts',
  'test/infra/cost/template-counts.test.ts',
  'test/infra/runbooks/logs.test.ts',
  'test/infra/operator-pages.test.ts',
  'test/infra/scale-page.test.ts',
  'test/deploy/option-steps.test.ts',
];

/** Those that take longest: such that wait and such that work in turn, so that neither is left for the end. */
const longest = [
  'test/lab/laboratory.test.ts',
  'test/capacity/capacity.test.ts',
  'test/infra/check/command.templates.test.ts',
  'test/acceptance/isolation/many-accounts.test.ts',
  'test/acceptance/v1/v1-blue-green.test.ts',
  'test/acceptance/caching/streams.test.ts',
  'test/acceptance/tasks/waiting-operations.test.ts',
  'test/acceptance/kubernetes/kubernetes-home.test.ts',
  'test/acceptance/agents/agent-partitions.test.ts',
  'test/acceptance/agents/agent-kills.test.ts',
  'test/acceptance/agents/agent-storms.test.ts',
  'test/acceptance/agents/agents.test.ts',
  'test/acceptance/agents/agent-reads.test.ts',
  'test/acceptance/tasks/crash.test.ts',
  'test/acceptance/caching/cache-equality.test.ts',
  'test/shared/providers/kubernetes/client/hostile-servers.test.ts',
  'test/infra/local/cluster.test.ts',
  'test/acceptance/kubernetes/differential-apply.test.ts',
  'test/second-opinions/dynamodb-local.test.ts',
  'test/shared/providers/kubernetes/caching/watch-agent.test.ts',
  'test/second-opinions/elasticmq.test.ts',
  'test/shared/providers/kubernetes/operations/custom-kinds.test.ts',
  'test/acceptance/kubernetes/kinds.test.ts',
  'test/acceptance/isolation/away-cluster.test.ts',
  'test/bench/bench-run.test.ts',
  'test/shared/providers/kubernetes/watch/watch-kind.test.ts',
  'test/infra/local/sqs.test.ts',
  'test/shared/providers/kubernetes/caching/watch-custom-kinds.test.ts',
  'test/shared/providers/kubernetes/transport/liveness-probe.test.ts',
  'test/acceptance/access/access.test.ts',
  'test/acceptance/contract/demo.test.ts',
  'test/acceptance/accounts/cold-release.test.ts',
  'test/shared/providers/kubernetes/caching/agent-storm.test.ts',
  'test/shared/providers/kubernetes/caching/agent-rights.test.ts',
  'test/acceptance/kubernetes/orca-stages.test.ts',
  'test/shared/providers/artifacts/hostile-hosts.test.ts',
  'test/infra/local/main.test.ts',
  'test/shared/providers/front50/client.test.ts',
  'test/infra/assembly/assembly.test.ts',
];

export default defineConfig({
  test: {
    globalSetup: existsSync(clusterSetup) ? [clusterSetup] : [],
    testTimeout: 120_000,
    hookTimeout: 180_000,
    // More than the processors that the CI has: tests wait for a third of their time, the longest for most of it.
    maxWorkers: 4,
    // A hang is to be caught, not a machine that is busy.
    expect: { poll: { timeout: 20_000 } },
    sequence: { sequencer: startWith(longest) },
    projects: [
      {
        extends: true,
        test: {
          name: 'all',
          include: ['test/**/*.test.ts'],
          exclude: [...architecture, ...templates, ...measuring, ...quiet, ...alone],
          setupFiles: [lowPriority],
        },
      },
      // Workers parse all our files once.
      { extends: true, test: { name: 'architecture', include: architecture, isolate: false } },
      {
        extends: true,
        test: { name: 'templates', include: templates, isolate: false, setupFiles: [lowPriority] },
      },
      { extends: true, test: { name: 'measuring', include: measuring } },
      // One after the other, and looked at again: what a machine does besides meets one look, what somebody does to others meets each.
      {
        extends: true,
        test: { name: 'quiet', include: quiet, maxWorkers: 1, retry: 2, sequence: { groupOrder: 1 } },
      },
      { extends: true, test: { name: 'alone', include: alone, maxWorkers: 1, sequence: { groupOrder: 2 } } },
    ],
  },
});
