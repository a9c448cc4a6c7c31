import { describe, expect, it } from 'vitest';
import { judgeEndpoint, judgePlace, listAdmitted } from '../../../infra/check/endpoint.ts';
import { judgeSubnets, judgeVpc } from '../../../infra/check/vpc.ts';
import { judgeWaysOut, type WayOutFacts } from '../../../infra/check/ways-out.ts';
import { recorded } from './recorded-answers.ts';

const region = recorded.region;
const vpcId: string = recorded.vpcId;

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
    { why: 'is missing', subnets: two.slice(0, 1), found: 'is not in this account and region' },
    {
      why: 'is of another VPC',
      subnets: two.map((one, index) => (index === 1 ? { ...one, vpcId: 'vpc-2' } : one)),
      found: 'is in vpc-2',
    },
    {
      why: 'is full',
      subnets: two.map((one, index) => (index === 1 ? { ...one, freeAddresses: 7 } : one)),
      found: '7 addresses free',
    },
  ])('has one mended that $why', ({ subnets, found }) => {
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
    { what: 'is missing', endpoints: services.slice(0, -1).map(toEndpoint), missing: 'eks' },
    {
      what: 'is not available',
      endpoints: services
        .map(toEndpoint)
        .map((one, index) => (index === 1 ? { ...one, state: 'pending' } : one)),
      missing: 'sqs',
    },
    {
      what: 'has no private name',
      endpoints: services
        .map(toEndpoint)
        .map((one, index) => (index === 4 ? { ...one, privateDns: false } : one)),
      missing: 'sts',
    },
  ])('names the endpoint that $what', ({ endpoints, missing }) => {
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
    const toPermission = (
      IpProtocol: string,
      ports: readonly [number, number] | undefined,
      CidrIp: string,
    ) => ({
      IpProtocol,
      ...(ports && { FromPort: ports[0], ToPort: ports[1] }),
      IpRanges: [{ CidrIp }],
    });
    const groups = [
      {
        IpPermissions: [
          toPermission('tcp', [443, 443], '10.1.0.0/16'),
          toPermission('tcp', [400, 500], '10.2.0.0/16'),
          toPermission('-1', undefined, '10.3.0.0/16'),
          toPermission('tcp', [22, 22], '10.4.0.0/16'),
          toPermission('udp', [443, 443], '10.5.0.0/16'),
        ],
      },
      {
        IpPermissions: [
          { IpProtocol: 'tcp', FromPort: 443, ToPort: 443, UserIdGroupPairs: [{ GroupId: 'sg-1' }] },
        ],
      },
    ];
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
