import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config';
import './test/support/run/compile-cache.ts';
import { SlowFirst } from './test/support/run/run-order.ts';

const [major = 0] = process.versions.node.split('.').map(Number);
if (major < 24) {
  console.error(
    `Vitest runs on Node 24, and this is Node ${process.versions.node}: use npm test, or npx node node_modules/.bin/vitest.`,
  );
  process.exit(1);
}

const lowPriority = './test/support/run/low-priority.ts';
/** Of suites that share a worker, and what it has loaded. */
const setupFiles = [lowPriority, './test/support/run/own-globals.ts'];

/** Suites of what runs in functions whose names say nothing of the kind: quick, without a control plane. `npm run test:fast` runs them. */
const units = 'test/{functions,shared}/**/+([!.]).test.ts';

/** The same against a control plane, of code that is called in the worker. */
const clusters = 'test/shared/**/*.cluster.test.ts';

/** What the names of files say, before `.test.ts`. */
type Kind = 'alone' | 'cluster' | 'measuring' | 'slow' | 'templates';

/** All suites of a kind, wherever they are. */
const find = (kind: Kind) => `test/**/*.${kind}.test.ts`;

const architecture = 'test/architecture/**/*.test.ts';
/** The CDK takes longer to load than most of these suites to run: a worker loads it once, and makes each set of templates once. */
const templates = [
  find('templates'),
  'test/infra/aws/assembly/**/*.test.ts',
  'test/infra/aws/stacks/**/*.test.ts',
];

/** A project that inherits what is below. */
function project(name: string, test: TestProjectInlineConfiguration['test']): TestProjectInlineConfiguration {
  return { extends: true, test: { name, ...test } };
}

export default defineConfig({
  test: {
    // Starts a control plane when the first suite asks for it, and not before.
    globalSetup: './test/support/cluster/global-cluster.ts',
    testTimeout: 300_000,
    hookTimeout: 300_000,
    // More than the two processors that the CI has: most tests wait more than they compute.
    maxWorkers: 5,
    // A hang is to be caught, not a machine that is busy.
    expect: { poll: { timeout: 60_000 } },
    sequence: { sequencer: SlowFirst },
    projects: [
      project('architecture', { include: [architecture], isolate: false }),
      project('units', {
        include: [units],
        isolate: false,
        provide: { clusterOffer: { missing: 'suites without .cluster in their name run without one' } },
        setupFiles,
      }),
      project('templates', { include: templates, isolate: false, setupFiles: [lowPriority] }),
      project('clusters', { include: [clusters], isolate: false, setupFiles }),
      project('systems', {
        include: ['test/**/*.test.ts'],
        exclude: [architecture, units, clusters, ...templates, find('alone'), find('measuring')],
        setupFiles: [lowPriority],
      }),
      // They measure how long somebody waits: all others let them go first.
      project('measuring', { include: [find('measuring')] }),
      // They take all processors, or keep the cluster's controllers busy for all others: last, one after the other.
      project('alone', {
        include: [find('alone')],
        maxWorkers: 1,
        sequence: { groupOrder: 1 },
      }),
    ],
  },
});
