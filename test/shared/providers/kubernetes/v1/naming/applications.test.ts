import { expect, test } from 'vitest';
import type { JsonObject } from '#core/json.ts';
import { getOperation, loadOperations, openProvider } from '../../provider-setup.ts';
import { containers } from '../operations/v1-run.ts';

const provider = openProvider([
  {
    ...{ name: 'old', providerVersion: 'v1', kubeconfigContents: '{}' },
    dockerRegistries: [{ accountName: 'hub' }],
  },
]);
await loadOperations(provider);

const group = { serverGroupName: 'shop-web-v003' };
const source = { serverGroupName: 'till-web-v001' };
const pods = { instanceIds: ['shop-v003-x2x4z', 'till-v001-9bkcd'] };

test.each<[string, JsonObject, string[]]>([
  ['createServerGroup', { application: 'shop', targetSize: 1, containers }, ['shop']],
  ['cloneServerGroup', { application: 'shop', source }, ['shop']],
  ['cloneServerGroup', { source }, ['till']],
  ['resizeServerGroup', { ...group, capacity: { desired: 1 } }, ['shop']],
  // Its name decides, whatever else the stage says.
  ['destroyServerGroup', { ...group, application: 'mine', moniker: { app: 'mine' } }, ['shop']],
  ['enableServerGroup', group, ['shop']],
  ['disableServerGroup', group, ['shop']],
  ['upsertScalingPolicy', group, ['shop']],
  ['upsertLoadBalancer', { name: 'shop-lb', serviceType: 'ClusterIP' }, ['shop']],
  ['upsertLoadBalancer', { loadBalancerName: 'shop-lb' }, ['shop']],
  ['deleteLoadBalancer', { loadBalancerName: 'shop-lb' }, ['shop']],
  ['upsertSecurityGroup', { securityGroupName: 'shop' }, ['shop']],
  ['deleteSecurityGroup', { securityGroupName: 'shop' }, ['shop']],
  ['terminateInstances', pods, ['shop', 'till']],
  [
    'registerInstancesWithLoadBalancer',
    { instanceIds: ['shop-v003-x2x4z'], loadBalancerNames: ['gate'] },
    ['shop', 'gate'],
  ],
  [
    'deregisterInstancesFromLoadBalancer',
    { instanceIds: ['shop-v003-x2x4z'], loadBalancerNames: ['shop'] },
    ['shop'],
  ],
  ['runJob', { application: 'shop', containers }, ['shop']],
  ['cloneJob', { source: { jobName: 'till-job-1f2e' } }, ['till']],
  ['destroyJob', { jobName: 'shop-job-1f2e' }, ['shop']],
])('%s %j', (name, description, expected) => {
  const { applications } = getOperation(provider, name).prepare({ account: 'old', ...description });
  expect(applications).toEqual(expected);
});
