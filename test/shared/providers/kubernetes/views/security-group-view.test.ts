import { expect, test } from 'vitest';
import { createKindRegistry } from '#providers/kubernetes/kinds/index.ts';
import { toFacts } from '#providers/kubernetes/rows/to-facts.ts';
import {
  findSecurityGroup,
  toAccountSecurityGroupsView,
  toRegionSecurityGroupsView,
  toSecurityGroupSummaries,
  toSecurityGroupsView,
} from '#providers/kubernetes/views/security-group-view.ts';
import { createManifest } from '../manifests.ts';

const registry = createKindRegistry([
  { kubernetesKind: 'NetworkPolicy.crd.projectcalico.org', spinnakerKind: 'securityGroups' },
]);

function create(name: string, namespace: string, apiVersion = 'networking.k8s.io/v1') {
  return toFacts(createManifest(apiVersion, 'NetworkPolicy', { name, namespace }), registry);
}

const policies = [
  create('deny', 'shop', 'crd.projectcalico.org/v1'),
  create('deny', 'shop'),
  create('deny', 'bank'),
  create('allow', 'shop'),
];

test('are sorted by name whatever its case', () => {
  expect(toSecurityGroupSummaries(policies, 'shop').map(({ name }) => name)).toEqual([
    'networkPolicy allow',
    'networkPolicy deny',
    'NetworkPolicy.crd.projectcalico.org deny',
  ]);
});

test('are empty in every shape where there are none', () => {
  expect(toSecurityGroupsView([{ account: 'test', securityGroups: [] }])).toEqual({});
  expect(toAccountSecurityGroupsView([])).toEqual({});
  expect(toRegionSecurityGroupsView(policies, 'elsewhere')).toEqual({});
  expect(toSecurityGroupSummaries(policies, 'elsewhere')).toEqual([]);
});

test.each([
  { name: 'networkPolicy deny', region: 'shop', kind: 'networkPolicy' },
  {
    name: 'NetworkPolicy.crd.projectcalico.org deny',
    region: 'shop',
    kind: 'NetworkPolicy.crd.projectcalico.org',
  },
  { name: 'netpol allow', region: 'shop', kind: 'networkPolicy' },
  { name: 'allow', region: 'shop', kind: 'networkPolicy' },
  { name: 'networkPolicy allow', region: 'bank', kind: undefined },
])("'$name' in $region is a $kind", ({ name, region, kind }) => {
  expect(findSecurityGroup(policies, { region, name })?.kind).toBe(kind);
});
