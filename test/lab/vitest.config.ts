import { defineConfig } from 'vitest/config';
import { startWith } from '../support/run/run-order.ts';

const laboratory = 'test/lab/soak.lab.ts';

/** Of which `npm test` runs the short form: with `TEST_SIZE=long` they try more, and for longer. */
const longForms = [
  'test/acceptance/caching/cache-equality.test.ts',
  'test/acceptance/tasks/crash.test.ts',
  'test/acceptance/kubernetes/differential-apply.test.ts',
  'test/acceptance/tasks/faults.test.ts',
  'test/acceptance/isolation/flood-servers.test.ts',
  'test/acceptance/isolation/flood.test.ts',
  'test/acceptance/isolation/many-accounts.test.ts',
  'test/acceptance/tasks/overload.test.ts',
  'test/acceptance/v1/v1-blue-green.test.ts',
  'test/capacity/capacity.test.ts',
  'test/second-opinions/dynamodb-local.test.ts',
  'test/shared/aws/agents/agent-store.test.ts',
  'test/shared/aws/cache/cache-store.test.ts',
  'test/shared/aws/tasks/task-store.test.ts',
  'test/shared/providers/kubernetes/caching/agent-storm.test.ts',
  'test/shared/providers/kubernetes/v1/operations/server-groups.test.ts',
  'test/shared/providers/kubernetes/client/hostile-servers.test.ts',
  'test/shared/providers/kubernetes/v1/operations/deaths.test.ts',
];

/** `npm run soak`: the laboratory, then the storm and the long forms of other tests, one after the other. */
export default defineConfig({
  test: {
    include: [laboratory, ...longForms],
    fileParallelism: false,
    sequence: { sequencer: startWith([laboratory, ...longForms]) },
    globalSetup: ['./test/support/cluster/global-cluster.ts'],
    testTimeout: 60_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 20_000 } },
  },
});
