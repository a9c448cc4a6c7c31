import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { FailedOperationError } from '#core/errors.ts';
import type { Manifest } from '#providers/kubernetes/api/manifest.ts';
import { builtInKinds, createKindRegistry } from '#providers/kubernetes/kinds/index.ts';
import type { KindDefinition } from '#providers/kubernetes/kinds/kind.ts';
import { getSettledStatus, settledStatus } from '#providers/kubernetes/kinds/status.ts';
import { readKind } from '#providers/kubernetes/manifest/identity.ts';

const directory = new URL('../../../../fixtures/kubernetes/', import.meta.url);
const fixtures = readdirSync(directory)
  .filter((file) => file.endsWith('.yaml'))
  .map((file) => file.replace(/\.yaml$/, ''));
const { find } = createKindRegistry();

/** What departs from a settled status. A text stands for the state that is not settled, and its message. */
interface Departure {
  readonly unstable?: RegExp;
  readonly unavailable?: RegExp;
  readonly paused?: RegExp;
  readonly failed?: RegExp;
  /** Stable, with a message. */
  readonly stable?: RegExp;
}

const unreported: Departure = {
  unstable: /^No status reported yet: /,
  unavailable: /^No availability reported: /,
};
const unobserved: Departure = {
  unstable:
    /^Waiting for status generation to match updated object generation: the .* controller has not picked/,
};
const settled: Departure = {};
const unsupported = 'refused';
const short = (message: RegExp): Departure => ({ unstable: message, unavailable: message });

const waits = (message: RegExp): Departure => ({ unstable: message });
const partitioned: Departure = {
  stable: /^Partitioned roll out complete: every replica above the partition is updated$/,
};

/**
 * Every state that a kind with a status of its own can report, by the name of its fixture. Messages begin with the sentence that
 * Clouddriver's handler of the kind has for the state.
 */
const states: Readonly<Record<string, Departure | typeof unsupported>> = {
  'deployment-stable': settled,
  'deployment-unreported': unreported,
  'deployment-unobserved': unobserved,
  'deployment-never-observed': unobserved,
  'deployment-paused': { paused: /^Deployment is paused$/ },
  'deployment-paused-updating': {
    paused: /^Deployment is paused$/,
    unstable: /^Waiting for all replicas to be updated: 1 of 3 replicas run the newest pod template$/,
  },
  'deployment-scaled-to-zero': settled,
  'deployment-unavailable': short(/^Deployment does not have minimum availability\.$/),
  'deployment-deadline-exceeded': {
    failed: /^Deployment exceeded its progress deadline: ReplicaSet "cart-6d5f" has timed out progressing\.$/,
  },
  'deployment-deadline-exceeded-unavailable': {
    failed: /^Deployment exceeded its progress deadline: .*timed out progressing/,
    unavailable: /does not have minimum availability/,
    unstable: /^Waiting for all replicas to be updated: 1 of 3 replicas run the newest pod template$/,
  },
  'deployment-updating': waits(
    /^Waiting for all replicas to be updated: 2 of 3 replicas run the newest pod template$/,
  ),
  'deployment-terminating': waits(
    /^Waiting for old replicas to finish termination: 1 of an older pod template are there$/,
  ),
  'deployment-becoming-available': waits(/^Waiting for all replicas to be available: 1 of 3 are$/),
  'deployment-becoming-ready': waits(/^Waiting for all replicas to be ready: 2 of 3 are$/),
  'deployment-refused': waits(
    /^Waiting for all replicas to be updated: 2 of 3 .*; FailedCreate: pods "cart-6d5f-" is forbidden: exceeded quota: few/,
  ),
  'deployment-refused-for-long': {
    failed: /^Deployment exceeded its progress deadline: .*; FailedCreate: .* exceeded quota: few/,
    unstable: /^Waiting for all replicas to be updated: .*; FailedCreate: .* exceeded quota: few/,
  },
  'deployment-unsupported': unsupported,

  'replica-set-stable': settled,
  'replica-set-unreported': unreported,
  'replica-set-unobserved': waits(/^Waiting for replicaset spec update to be observed: /),
  'replica-set-unobserved-becoming-ready': short(/^Waiting for all replicas to be ready: 2 of 3 are$/),
  'replica-set-scaled-to-zero': settled,
  'replica-set-labeling': short(/^Waiting for all replicas to be fully-labeled: 2 of 3 are$/),
  'replica-set-becoming-ready': short(/^Waiting for all replicas to be ready: 1 of 3 are$/),
  'replica-set-becoming-available': short(/^Waiting for all replicas to be available: 0 of 3 are$/),
  'replica-set-refused': {
    unstable:
      /^Waiting for all replicas to be fully-labeled: 2 of 3 are; FailedCreate: .* exceeded quota: few/,
    unavailable: /^Waiting for all replicas to be fully-labeled: 2 of 3 are$/,
  },
  'replica-set-unsupported': unsupported,

  'stateful-set-stable': settled,
  'stateful-set-on-delete': settled,
  'stateful-set-unreported': unreported,
  'stateful-set-unobserved': unobserved,
  'stateful-set-creating': waits(/^Waiting for at least the desired replica count to be met: 1 of 3 exist$/),
  'stateful-set-becoming-ready': waits(/^Waiting for all updated replicas to be ready: 2 of 3 are$/),
  'stateful-set-partition-updating': waits(
    /^Waiting for partitioned roll out to finish: 1 of the 2 replicas above the partition are updated$/,
  ),
  'stateful-set-partition-complete': partitioned,
  'stateful-set-partition-unset': waits(
    /^Waiting for partitioned roll out to finish: 2 of the 3 replicas above the partition are updated$/,
  ),
  'stateful-set-partition-uncounted': partitioned,
  'stateful-set-scheduling': waits(
    /^Waiting for all updated replicas to be scheduled: 2 of 3 are of the current revision$/,
  ),
  'stateful-set-revision-differs': waits(/^Waiting for the updated revision to match the current revision$/),
  'stateful-set-unsupported': unsupported,

  'daemon-set-stable': settled,
  'daemon-set-on-delete': settled,
  'daemon-set-unreported': unreported,
  'daemon-set-unobserved': unobserved,
  'daemon-set-scheduling': waits(/^Waiting for all replicas to be scheduled: 2 of 3 nodes have one$/),
  'daemon-set-updating': waits(/^Waiting for all updated replicas to be scheduled: 1 of 3 nodes have one$/),
  'daemon-set-becoming-available': waits(/^Waiting for all replicas to be available: 2 of 3 are$/),
  'daemon-set-becoming-ready': waits(/^Waiting for all replicas to be ready: 0 of 3 are$/),
  'daemon-set-unsupported': unsupported,

  'pod-unreported': unreported,
  'pod-phaseless': short(/^Pod phase is unknown: Kubernetes defines no such phase$/),
  'pod-unrecognised': short(/^Pod phase is unknown: Kubernetes defines no such phase$/),
  'pod-pending': short(/^Pod is pending: not all/),
  'pod-unschedulable': short(
    /^Pod is pending: Unschedulable: 0\/3 nodes are available: pod has unbound immediate PersistentVolumeClaims\.$/,
  ),
  'pod-running': settled,
  'pod-succeeded': settled,
  'pod-failed': short(/^Pod has failed: /),
  'pod-unknown': short(/^Pod phase is unknown: its node/),

  'job-unreported': unreported,
  'job-starting': waits(/^Waiting for jobs to finish: 0 of 2 pods have succeeded$/),
  'job-running': waits(/^Waiting for jobs to finish: 1 of 2 pods have succeeded$/),
  'job-succeeded': settled,
  'job-succeeded-by-default-count': settled,
  'job-recovered': waits(/^Waiting for jobs to finish: 0 of 2 pods have succeeded$/),
  'job-failed': { failed: /^Job has reached the specified backoff limit$/ },

  'cron-job-unreported': unreported,
  'cron-job-never-scheduled': settled,
  'cron-job-scheduled': settled,

  'horizontal-pod-autoscaler-unreported': unreported,
  'horizontal-pod-autoscaler-new': settled,
  'horizontal-pod-autoscaler-stable': settled,
  'horizontal-pod-autoscaler-scaling-up': waits(
    /^Waiting for HPA to complete a scale up, current: 3 desired: 5$/,
  ),
  'horizontal-pod-autoscaler-scaling-down': waits(
    /^Waiting for HPA to complete a scale down, current: 3 desired: 1$/,
  ),

  'cron-tab.stable.example.com-stable': settled,
  ...Object.fromEntries(
    builtInKinds
      .filter((kind) => !hasRules(kind))
      .map((kind) => [`${toFixturePrefix(kind)}-stable`, settled] as const),
  ),
};

describe('status', () => {
  test.each(Object.entries(states).filter(([, state]) => state !== unsupported))('of %s', (name, state) => {
    expect(getStatusOf(load(name))).toEqual(toStatus(state as Departure));
  });

  test.each(Object.entries(states).filter(([, state]) => state === unsupported))(
    'of %s is refused',
    (name) => {
      expect(() => getStatusOf(load(name))).toThrow(FailedOperationError);
      expect(() => getStatusOf(load(name))).toThrow(/apps\/v1 only/);
    },
  );

  test('is tried for every fixture', () => {
    expect(Object.keys(states).toSorted()).toEqual(fixtures.toSorted());
  });

  const bearing = builtInKinds.filter(hasRules);

  test('is its own for the workloads and what scales them', () => {
    expect(bearing.map(({ name }) => name)).toEqual(
      expect.arrayContaining([
        ...['deployment', 'replicaSet', 'statefulSet', 'daemonSet', 'job', 'cronJob', 'pod'],
        'horizontalpodautoscaler',
      ]),
    );
  });

  test.each(builtInKinds)('of $name has a fixture where it is stable', (kind) => {
    const names = fixtures.filter((fixture) => readKind(load(fixture)) === kind.name);
    const stable = names.filter((fixture) => states[fixture] === settled);
    expect(stable.every((fixture) => fixture.startsWith(`${toFixturePrefix(kind)}-`))).toBe(true);
    expect(stable.length).toBeGreaterThan(0);
  });

  test.each(bearing)('of $name has fixtures, one of them without a status', (kind) => {
    const prefix = toFixturePrefix(kind);
    const own = fixtures.filter((fixture) => readKind(load(fixture)) === kind.name);
    expect(own.length).toBeGreaterThanOrEqual(3);
    expect(own).toContain(`${prefix}-unreported`);
    expect(own.filter((fixture) => !fixture.startsWith(`${prefix}-`))).toEqual([]);
  });

  test.each(builtInKinds.filter((kind) => !bearing.includes(kind)))(
    'of $name is settled',
    ({ getStatus }) => {
      expect(getStatus({ apiVersion: 'v1', status: { phase: 'Pending' } })).toEqual(settledStatus);
    },
  );

  test('of a custom kind is settled', () => {
    expect(find('CronTab.stable.example.com').getStatus({ status: { broken: true } })).toEqual(settledStatus);
  });

  test('falls back to words of its own where a condition has none', () => {
    const job = { status: { conditions: [{ type: 'Failed', status: 'True' }] } };
    expect(find('job').getStatus(job).failed).toEqual({ state: true, message: 'The job has failed' });
  });

  test('waits for the controller also where no generation is known', () => {
    const deployment = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: {}, status: {} };
    expect(find('deployment').getStatus(deployment)).toEqual(toStatus(unobserved));
  });

  test('compares conditions without regard to case', () => {
    const job = { status: { conditions: [null, 'x', { type: 'FAILED', status: 'true', message: 'm' }] } };
    expect(find('job').getStatus(job).failed).toEqual({ state: true, message: 'm' });
  });
});

/** Whether objects of the kind can be anything but settled. */
function hasRules({ getStatus }: KindDefinition): boolean {
  return getStatus !== getSettledStatus;
}

/** `replica-set`, with which the names of a kind's fixtures begin. */
function toFixturePrefix({ kubernetesKind }: KindDefinition): string {
  return kubernetesKind.replace(/(?<=[a-z])[A-Z]|(?<=.)[A-Z](?=[a-z])/g, '-$&').toLowerCase();
}

/** The manifest of a fixture. */
function load(name: string): Manifest {
  return parse(readFileSync(new URL(`${name}.yaml`, directory), 'utf8')) as Manifest;
}

/** The status as the kind of the manifest judges it. */
function getStatusOf(manifest: Manifest) {
  return find(readKind(manifest)).getStatus(manifest);
}

/** The whole status that a departure from the settled one makes. */
function toStatus({ unstable, unavailable, paused, failed, stable }: Departure) {
  const condition = (state: boolean, message?: RegExp) =>
    message === undefined ? { state } : { state, message: expect.stringMatching(message) };
  return {
    stable: condition(unstable === undefined, unstable ?? stable),
    available: condition(unavailable === undefined, unavailable),
    paused: condition(paused !== undefined, paused),
    failed: condition(failed !== undefined, failed),
  };
}
