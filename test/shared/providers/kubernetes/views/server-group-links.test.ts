import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createKindRegistry } from '#providers/kubernetes/kinds/index.ts';
import type { ObjectFacts } from '#providers/kubernetes/rows/facts.ts';
import { toFacts } from '#providers/kubernetes/rows/to-facts.ts';
import { findServiceLinks, isDisabled } from '#providers/kubernetes/views/server-group-links.ts';
import { isSelecting, ServiceIndex } from '#providers/kubernetes/views/service-index.ts';
import { createPod, createReplicaSet, createSampleService } from './sample-manifests.ts';

const registry = createKindRegistry();

function createService(name: string, selector: { [key: string]: string }, namespace = 'store'): ObjectFacts {
  return { ...toFacts(createSampleService(name, selector), registry), namespace };
}

function createServerGroup(
  labels: { [key: string]: string } = {},
  annotations: { [key: string]: string } = {},
) {
  return toFacts(createReplicaSet('web', { labels, annotations }), registry);
}

function findNames(facts: ObjectFacts, services: ObjectFacts[], instances: ObjectFacts[] = []): string[] {
  const links = findServiceLinks({ facts, instances }, new ServiceIndex(services));
  return links.map(({ service }) => service.name);
}

describe('a server group is behind', () => {
  test('each service whose whole selector its template has, however they overlap', () => {
    const services = [
      createService('both', { app: 'web', tier: 'front' }),
      createService('one', { app: 'web' }),
      createService('other', { app: 'web', tier: 'back' }),
      createService('empty', {}),
      createService('elsewhere', { app: 'web' }, 'other'),
    ];
    expect(findNames(createServerGroup({ tier: 'front' }), services).sort()).toEqual(['both', 'one']);
    expect(findNames(createServerGroup(), services)).toEqual(['one']);
  });

  test('a service that selects one of its pods, with that pod alone', () => {
    const pods = ['leader', 'replica'].map((role) =>
      toFacts(createPod(`web-${role}`, { labels: { role } }), registry),
    );
    const services = new ServiceIndex([createService('leader', { app: 'web', role: 'leader' })]);
    const [link] = findServiceLinks({ facts: createServerGroup(), instances: pods }, services);
    expect(link?.instances.map(({ name }) => name)).toEqual(['web-leader']);
  });

  test('the service that governs it, with all of its pods, whatever that selects', () => {
    const facts = createServerGroup();
    const { workload } = facts;
    if (workload === undefined) throw new Error('expected a workload');
    const governed = { ...facts, workload: { ...workload, serviceName: 'governing' } };
    const instances = [toFacts(createPod('web-0'), registry)];
    const services = [createService('governing', {}), createService('governing', { app: 'web' }, 'other')];
    const links = findServiceLinks({ facts: governed, instances }, new ServiceIndex(services));
    expect(links).toEqual([{ service: services[0], isSelecting: false, instances }]);
  });

  test('exactly those that one would find by comparing it with each', () => {
    const labels = fc.dictionary(fc.constantFrom('a', 'b', 'c', 'constructor'), fc.constantFrom('1', '2'));
    fc.assert(
      fc.property(fc.array(labels), labels, fc.array(labels), (selectors, podLabels, pods) => {
        const services = selectors.map((selector, index) => createService(`s${index}`, selector));
        const facts = createServerGroup();
        const workload = { images: [], loadBalancers: [], podLabels };
        const instances = pods.map((own, index) => ({ ...facts, name: `p${index}`, labels: own }));
        const expected = services.filter(({ service }) =>
          [podLabels, ...pods].some((each) => {
            const selector = Object.entries(service?.selector ?? {});
            return selector.length > 0 && selector.every(([key, value]) => each[key] === value);
          }),
        );
        const found = findNames({ ...facts, workload }, services, instances);
        expect(found.sort()).toEqual(expected.map(({ name }) => name).sort());
      }),
    );
  });
});

test('a service without a selector selects nothing', () => {
  expect(isSelecting(createService('empty', {}), { app: 'web' })).toBe(false);
});

describe('a server group is disabled', () => {
  const traffic = { 'traffic.spinnaker.io/load-balancers': '["service web"]' };
  const services = [createService('web', { traffic: 'web' })];
  const check = (facts: ObjectFacts) =>
    isDisabled(facts, findServiceLinks({ facts, instances: [] }, new ServiceIndex(services)));

  test('when it is annotated and no service selects it', () => {
    expect(check(createServerGroup({}, traffic))).toBe(true);
    expect(check(createServerGroup({ traffic: 'web' }, traffic))).toBe(false);
    expect(check(createServerGroup())).toBe(false);
  });

  test('even if a service governs it that does not select it', () => {
    const facts = createServerGroup({}, traffic);
    const { workload } = facts;
    expect(workload && check({ ...facts, workload: { ...workload, serviceName: 'web' } })).toBe(true);
  });
});
