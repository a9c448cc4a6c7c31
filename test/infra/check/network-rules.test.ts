import { describe, expect, it } from 'vitest';
import { judgeEndpoint, judgePlace, listAdmitted } from '../../../infra/check/endpoint.ts';
import { judgeSubnets, judgeVpc } from '../../../infra/check/vpc.ts';
import { judgeWaysOut, type WayOutFacts } from '../../../infra/check/ways-out.ts';
import { recorded } from './recorded-answers.ts';

const region = recorded.region;
const vpcId: string = recorded.vpcId;

/** The same list, one of its items changed. */
function change<T>(list: readonly T[], at: number, changes: Partial<T>): T[] {
  return list.map((one, index) => (index === at ? { ...one, ...changes } : one));
}

describe('judgeVpc', () => {
  it.each([
    { facts: { exists: true, dnsSupport: true, dnsHostnames: true }, states: ['ok', 'ok', 'ok'] },
    { facts: { exists: true, dnsSupport: false, dnsHostnames: true }, states: ['ok', 'mend', 'ok'] },
    { facts: { exists: true, dnsSupport: true, dnsHostnames: false }, states: ['ok', 'ok', 'mend'] },
    { facts: { exists: false, dnsSupport: false, dnsHostnames: false }, states: ['mend'] },
  ])('$facts: $states', ({ facts, states }) => {
    expect(judgeVpc(facts, { vpcId, region }).map(({ state }) => state)).toEqual(states);
  });
});

describe('judgeSubnets', () => {
  const subnet = { vpcId, freeAddresses: 200 };
  const two = [
    { ...subnet, id: 'subnet-1', zone: 'a' },
    { ...subnet, id: 'subnet-2', zone: 'b' },
  ];
  const judge = (subnets: typeof two) =>
    judgeSubnets(subnets, { vpcId, subnetIds: ['subnet-1', 'subnet-2'] });

  it('takes subnets of two zones', () => {
    expect(judge(two).map(({ state }) => state)).toEqual(['ok', 'ok']);
  });

  it.each([
    ['is missing', two.slice(0, 1), 'is not in this account and region'],
    ['is of another VPC', change(two, 1, { vpcId: 'vpc-2' }), 'is in vpc-2'],
    ['is full', change(two, 1, { freeAddresses: 7 }), '7 addresses free'],
  ])('has one mended that %s', (_why, subnets, found) => {
    const [first, second] = judge(subnets);
    expect(first?.state).toBe('ok');
    expect(second).toMatchObject({ about: 'subnet-2', state: 'mend', found: expect.stringContaining(found) });
  });

  it('tells that all are in one zone', () => {
    const last = judge(two.map((one) => ({ ...one, zone: 'a' }))).at(-1);
    expect(last).toMatchObject({ state: 'note', found: 'all are in one zone, and go down with it' });
  });
});

describe('judgeWaysOut', () => {
  const services = ['dynamodb', 'sqs', 'events', 'secretsmanager', 'sts', 'eks'];
  const toEndpoint = (service: string) => ({
    service: `com.amazonaws.${region}.${service}`,
    state: 'available',
    privateDns: service !== 'dynamodb',
    routeTableIds: service === 'dynamodb' ? ['rtb-1'] : [],
  });
  const judge = (
    defaultRoute: WayOutFacts['subnets'][number]['defaultRoute'],
    endpoints: WayOutFacts['endpoints'] = [],
    routeTableId = 'rtb-1',
  ) =>
    judgeWaysOut(
      { subnets: [{ id: 'subnet-1', defaultRoute, routeTableId }], endpoints },
      { vpcId, region },
    )[0];

  it.each([
    { defaultRoute: 'nat', state: 'ok' },
    { defaultRoute: 'other', state: 'note' },
    { defaultRoute: 'internet', state: 'mend' },
    { defaultRoute: 'nowhere', state: 'mend' },
    { defaultRoute: 'unknown', state: 'not checked' },
  ] as const)('a default route to $defaultRoute: $state', ({ defaultRoute, state }) => {
    expect(judge(defaultRoute)?.state).toBe(state);
  });

  it('takes endpoints of all services in the place of a NAT gateway', () => {
    expect(judge('nowhere', services.map(toEndpoint))?.state).toBe('note');
  });

  it.each([
    ['is missing', services.slice(0, -1).map(toEndpoint), 'eks'],
    ['is not available', change(services.map(toEndpoint), 1, { state: 'pending' }), 'sqs'],
    ['has no private name', change(services.map(toEndpoint), 4, { privateDns: false }), 'sts'],
  ])('names the endpoint that %s', (_what, endpoints, missing) => {
    expect(judge('nowhere', endpoints)).toMatchObject({
      state: 'mend',
      found: `no way to the internet, and no endpoint of ${missing}`,
    });
  });

  it('wants the gateway in the route table of the subnet', () => {
    expect(judge('nowhere', services.map(toEndpoint), 'rtb-2')?.found).toContain('no endpoint of dynamodb');
  });
});

describe('judgeEndpoint', () => {
  const facts = {
    service: `com.amazonaws.${region}.execute-api`,
    state: 'available',
    vpcId,
    privateDns: false,
    admitted: ['10.20.0.0/16'],
  };

  it.each([
    { change: {}, states: ['ok', 'ok', 'ok'] },
    { change: { service: `com.amazonaws.${region}.sqs` }, states: ['mend'] },
    { change: { state: 'pendingacceptance' }, states: ['mend', 'ok', 'ok'] },
    { change: { admitted: [] }, states: ['ok', 'ok', 'mend'] },
    { change: { admitted: ['0.0.0.0/0'] }, states: ['ok', 'ok', 'note'] },
  ])('$change: $states', ({ change, states }) => {
    expect(judgeEndpoint({ ...facts, ...change }, 'vpce-1').map(({ state }) => state)).toEqual(states);
  });

  it('has one mended that is not there', () => {
    expect(judgeEndpoint(undefined, 'vpce-1')).toMatchObject([{ about: 'vpce-1', state: 'mend' }]);
  });
});

describe('listAdmitted', () => {
  it('lists who is let in on port 443, and nobody else', () => {
    const toPermission = (IpProtocol: string, CidrIp: string, ports?: readonly [number, number]) => {
      return { IpProtocol, ...(ports && { FromPort: ports[0], ToPort: ports[1] }), IpRanges: [{ CidrIp }] };
    };
    const ofGroup = {
      IpProtocol: 'tcp',
      FromPort: 443,
      ToPort: 443,
      UserIdGroupPairs: [{ GroupId: 'sg-1' }],
    };
    const ofRanges = [
      toPermission('tcp', '10.1.0.0/16', [443, 443]),
      toPermission('tcp', '10.2.0.0/16', [400, 500]),
      toPermission('-1', '10.3.0.0/16'),
      toPermission('tcp', '10.4.0.0/16', [22, 22]),
      toPermission('udp', '10.5.0.0/16', [443, 443]),
    ];
    const groups = [{ IpPermissions: ofRanges }, { IpPermissions: [ofGroup] }];
    expect(listAdmitted(groups)).toEqual(['10.1.0.0/16', '10.2.0.0/16', '10.3.0.0/16', 'sg-1']);
  });
});

describe('judgePlace', () => {
  const subnets = [
    { id: 'subnet-1', vpcId, zone: 'a', freeAddresses: 9 },
    { id: 'subnet-2', vpcId, zone: 'b', freeAddresses: 9 },
  ];
  const place = { subnets, subnetsMin: 2, zones: ['a', 'b'], others: [] };

  it.each([
    { change: {}, states: ['ok'] },
    { change: { subnets: subnets.map((one) => ({ ...one, zone: 'a' })) }, states: ['mend'] },
    { change: { zones: ['a'] }, states: ['mend'] },
    { change: { zones: [] }, states: ['ok'] },
    { change: { others: ['vpce-1'] }, states: ['ok', 'note'] },
    { change: { subnetsMin: 3 }, states: ['not checked'] },
  ])('$change: $states', ({ change, states }) => {
    expect(judgePlace({ ...place, ...change }).map(({ state }) => state)).toEqual(states);
  });
});
