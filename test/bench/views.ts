/**
 * `node test/bench/views.ts`: how long the pure part of the large reads takes, for applications of 1,000 and 5,000 server groups with
 * 4 pods each, and how many bytes their facts are. No store, no HTTP.
 */

import type { Manifest } from '#providers/kubernetes/api/manifest.ts';
import { createKindRegistry } from '#providers/kubernetes/kinds/index.ts';
import type { ServerGroupFacts } from '#providers/kubernetes/rows/facts.ts';
import { encodeFacts } from '#providers/kubernetes/rows/facts-codec.ts';
import { decodeRow, encodeRow } from '#providers/kubernetes/rows/row-codec.ts';
import { toFacts } from '#providers/kubernetes/rows/to-facts.ts';
import type { ApplicationFacts } from '#providers/kubernetes/views/application-facts.ts';
import { toLoadBalancerViews } from '#providers/kubernetes/views/load-balancer-view.ts';
import {
  toExpandedServerGroupViews,
  toServerGroupSummaryViews,
} from '#providers/kubernetes/views/server-group-view.ts';
import { createEntries, storeInRow } from '#test/shared/providers/kubernetes/rows/assembled-facts.ts';
import { summarize } from './statistics.ts';

const registry = createKindRegistry();
const podsPerServerGroup = 4;
const samples = 30;

for (const count of [1000, 5000]) {
  const facts = createApplication(count);
  const [account] = facts.accounts;
  const rows = account?.serverGroups.flatMap(({ facts, instances }) =>
    [createEntries([], facts), createEntries(instances)].map(encodeRow),
  );
  const steps = {
    'decode the rows': () => rows?.map(decodeRow),
    'build the summaries': () => toServerGroupSummaryViews(facts),
    'build and write the summaries': () => JSON.stringify(toServerGroupSummaryViews(facts)),
    'build and write the expanded list': () => JSON.stringify(toExpandedServerGroupViews(facts)),
    'build and write the load balancers': () => JSON.stringify(toLoadBalancerViews(facts)),
  };
  console.log(`\n${count} server groups, ${podsPerServerGroup} pods each`);
  console.log(
    `row ${toBytes(rows?.[0])}, row of its pods ${toBytes(rows?.[1])}, all ${((rows ?? []).join('').length / 1e6).toFixed(1)} MB; alone:`,
  );
  const [serverGroup] = account?.serverGroups ?? [];
  console.log(`ReplicaSet ${serverGroup && toBytes(encodeFacts(serverGroup.facts))}`);
  console.log(`pod ${serverGroup?.instances[0] && toBytes(encodeFacts(serverGroup.instances[0]))}`);
  console.log(`answer ${(steps['build and write the summaries']().length / 1e6).toFixed(1)} MB`);
  for (const [name, step] of Object.entries(steps)) {
    const { minimum, median } = summarize(measure(step));
    console.log(`${name}: best ${minimum.toFixed(1)} ms, median ${median.toFixed(1)} ms`);
  }
}

function measure(step: () => unknown): number[] {
  return Array.from({ length: samples }, () => {
    const start = performance.now();
    step();
    return performance.now() - start;
  });
}

function toBytes(text = ''): string {
  return `${Buffer.byteLength(text)} B`;
}

/** As many Deployments, each with a ReplicaSet, its pods and a service. */
function createApplication(count: number): ApplicationFacts {
  const serverGroups: ServerGroupFacts[] = [];
  const services = [];
  for (let index = 0; index < count; index += 1) {
    const name = `cart-${index}`;
    services.push(toFacts(createService(name), registry));
    serverGroups.push({
      facts: toFacts(createReplicaSet(name), registry),
      instances: Array.from({ length: podsPerServerGroup }, (_, number) =>
        toFacts(createPod(name, number), registry),
      ),
    });
  }
  const account = {
    account: 'prod-eu',
    serverGroups,
    managers: [],
    loadBalancers: services,
    namespaceServices: services,
    neighbours: [],
  };
  // As a reader has them: decoded, so that pods share what their server group says.
  const decoded = serverGroups.map((each) => ({ ...each, instances: storeInRow(each.instances) }));
  return { application: 'cart', accounts: [{ ...account, serverGroups: decoded }] };
}

function createLabels(name: string) {
  return {
    app: name,
    'app.kubernetes.io/name': 'cart',
    'app.kubernetes.io/managed-by': 'spinnaker',
    'pod-template-hash': '6d5f8b9c7',
  };
}

function createMetadata(name: string, app: string) {
  return {
    name,
    namespace: 'shop',
    uid: `5b1c7a52-9f0e-4f0b-8f4a-${name.padEnd(12, '0').slice(-12)}`,
    resourceVersion: '123456789',
    creationTimestamp: '2026-11-21T09:00:00Z',
    labels: createLabels(app),
    annotations: {
      'moniker.spinnaker.io/application': 'cart',
      'moniker.spinnaker.io/cluster': `deployment ${app}`,
    },
  };
}

function createReplicaSet(app: string): Manifest {
  const metadata = createMetadata(`${app}-6d5f8b9c7`, app);
  const owner = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    name: app,
    uid: `${metadata.uid.slice(0, 34)}dd`,
  };
  return {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: {
      ...metadata,
      annotations: { ...metadata.annotations, 'deployment.kubernetes.io/revision': '7' },
      ownerReferences: [owner],
    },
    spec: {
      replicas: podsPerServerGroup,
      template: {
        metadata: { labels: createLabels(app), annotations: metadata.annotations },
        spec: { containers: [{ name: 'cart', image: 'registry.example.com/shop/cart:1.42.0' }] },
      },
    },
  };
}

function createPod(app: string, number: number): Manifest {
  const owner = createMetadata(`${app}-6d5f8b9c7`, app);
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      ...createMetadata(`${owner.name}-x7k2${number}`, app),
      labels: {
        ...createLabels(app),
        'topology.kubernetes.io/region': 'eu-west-1',
        'topology.kubernetes.io/zone': `eu-west-1${'abc'.charAt(number % 3)}`,
      },
      ownerReferences: [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: owner.name, uid: owner.uid }],
    },
    status: { phase: 'Running', containerStatuses: [{ name: 'cart', ready: true }] },
  };
}

function createService(app: string): Manifest {
  const spec = { selector: { 'app.kubernetes.io/name': 'cart', app } };
  return { apiVersion: 'v1', kind: 'Service', metadata: createMetadata(app, app), spec };
}
