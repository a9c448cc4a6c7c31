import type { Phase } from './phase.ts';
import {
  deployReleased,
  deployTested,
  destroyTested,
  destroyUpdated,
  makeTests,
  synthesizeTested,
  synthesizeUpdates,
  synthesizeWithAgents,
  testAcceptance,
  tryPrivateInstallation,
} from './phases.ts';

/**
 * Phases that run one after the other, for they share an emulator, its stacks, and the accounts in their secrets. Lanes run side by
 * side: each has an emulator of its own.
 */
export interface Lane {
  readonly name: string;
  /** Whether its tests may delete what is in the cluster: then it has one of its own. */
  readonly ownCluster: boolean;
  /** What makes the stacks ready to be tested. */
  readonly deploy: readonly Phase[];
  readonly tests: readonly Phase[];
  /** What takes the stacks away again. */
  readonly destroy: Phase;
}

const tested = { deploy: [synthesizeTested, deployTested], destroy: destroyTested };

/** The longest first: two run at a time. */
export const lanes: readonly Lane[] = [
  {
    name: 'routes',
    ownCluster: false,
    ...tested,
    tests: [{ name: 'acceptance', run: testAcceptance }],
  },
  {
    name: 'faults',
    ownCluster: false,
    ...tested,
    deploy: [synthesizeWithAgents, deployTested],
    tests: [
      makeTests('guarantees', ['test/deploy/guarantees']),
      makeTests('large-reads', ['test/deploy/large-reads']),
      makeTests('facts', ['test/deploy/account-facts']),
      makeTests('agents', ['test/deploy/agents']),
      makeTests('accounts', [
        ...['test/deploy/stored-accounts', 'test/deploy/docker-images', 'test/deploy/ecr-events'],
      ]),
    ],
  },
  {
    name: 'fuzz',
    ownCluster: true,
    ...tested,
    // Nothing comes after the fuzzer: it leaves tasks open, and more lines in the logs than a test can read.
    tests: [
      makeTests('runbooks', ['test/deploy/runbooks']),
      makeTests('deploy-check', ['test/deploy/deploy-check']),
      makeTests('fuzz', ['test/deploy/fuzz']),
    ],
  },
  {
    name: 'updates',
    ownCluster: false,
    deploy: [synthesizeUpdates, deployReleased],
    destroy: destroyUpdated,
    tests: [makeTests('update', ['test/deploy/update']), { name: 'private', run: tryPrivateInstallation }],
  },
];
