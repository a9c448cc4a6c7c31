import type { Subnet } from '@aws-sdk/client-ec2';
import type { AccountReader } from './account-reader.ts';
import { accountReads } from './account-reads.ts';
import { about, type Check, defineCheck, type Finding, mend, note, ok } from './rows.ts';
import type { Subject } from './subject.ts';
import { listWayOutChecks } from './ways-out.ts';

const matter = 'network';

/** What is known of a VPC. */
export interface VpcFacts {
  /** Whether this account and region have it. */
  readonly exists: boolean;
  readonly dnsSupport: boolean;
  readonly dnsHostnames: boolean;
}

/** What is known of a subnet. */
export interface SubnetFacts {
  readonly id: string;
  readonly vpcId: string;
  /** Name of its zone, such as `eu-west-1a`: in one account it stands for one. */
  readonly zone: string;
  readonly freeAddresses: number;
}

/** Addresses that a subnet should have left: Lambda takes one and more of each, an endpoint another, and AWS some while it replaces them. */
const freeAddressesMin = 8;

/** The VPC and its subnets, and the ways that lead out of them. */
export function listVpcChecks(subject: Subject): readonly Check[] {
  const { vpcId, subnetIds } = subject.plan.context;
  if (vpcId === undefined) return [];
  return [
    defineCheck({
      matter,
      what: 'vpcId',
      gather: (reader) => readVpc(vpcId, reader),
      judge: (facts) => judgeVpc(facts, { vpcId, region: subject.region }),
    }),
    defineCheck({
      matter,
      what: 'subnetIds',
      gather: (reader) => readSubnets(subnetIds, reader),
      judge: (subnets) => judgeSubnets(subnets, { vpcId, subnetIds }),
    }),
    ...listWayOutChecks(subject, vpcId),
  ];
}

/** Whether the VPC is there and resolves names. */
export function judgeVpc(
  { exists, dnsSupport, dnsHostnames }: VpcFacts,
  { vpcId, region }: { readonly vpcId: string; readonly region: string },
): Finding[] {
  if (!exists) {
    return [
      mend(
        `${vpcId} is not in this account and region`,
        `aws ec2 describe-vpcs --region ${region}; then -c vpcId=…`,
      ),
    ];
  }
  const command = `aws ec2 modify-vpc-attribute --vpc-id ${vpcId}`;
  const why = 'endpoints with private names and private hosted zones need it';
  return [
    ok(`${vpcId} is there`),
    dnsSupport
      ? ok('enableDnsSupport is on')
      : mend(`enableDnsSupport is off: ${why}`, `${command} --enable-dns-support`),
    dnsHostnames
      ? ok('enableDnsHostnames is on')
      : mend(`enableDnsHostnames is off: ${why}`, `${command} --enable-dns-hostnames`),
  ];
}

/** Whether the subnets are there, in the VPC, have room, and are in several zones. */
export function judgeSubnets(
  subnets: readonly SubnetFacts[],
  { vpcId, subnetIds }: { readonly vpcId: string; readonly subnetIds: readonly string[] },
): Finding[] {
  const list = `aws ec2 describe-subnets --filters Name=vpc-id,Values=${vpcId}; then -c subnetIds=…`;
  const each = subnetIds.map((id) => {
    const found = subnets.find((subnet) => subnet.id === id);
    if (found === undefined) return about(id, mend('is not in this account and region', list));
    if (found.vpcId !== vpcId) return about(id, mend(`is in ${found.vpcId}, not in ${vpcId}`, list));
    const room = `zone ${found.zone}, ${found.freeAddresses} addresses free`;
    if (found.freeAddresses >= freeAddressesMin) return about(id, ok(room));
    return about(
      id,
      mend(`${room}: ${freeAddressesMin} or more are needed`, `take a larger subnet: ${list}`),
    );
  });
  const zones = new Set(subnets.map(({ zone }) => zone));
  if (subnets.length === 0 || zones.size > 1) return each;
  return [...each, note('all are in one zone, and go down with it', `take subnets of two zones: ${list}`)];
}

/** What EC2 says of subnets: those that it does not know are missing. */
export async function readSubnets(ids: readonly string[], reader: AccountReader): Promise<SubnetFacts[]> {
  const Filters = [{ Name: 'subnet-id', Values: [...ids] }];
  const { Subnets = [] } = await reader.get(accountReads.describeSubnets, { Filters });
  return Subnets.map(toSubnetFacts);
}

function toSubnetFacts(subnet: Subnet): SubnetFacts {
  const { SubnetId = '', VpcId = '', AvailabilityZone = '' } = subnet;
  return {
    id: SubnetId,
    vpcId: VpcId,
    zone: AvailabilityZone,
    freeAddresses: subnet.AvailableIpAddressCount ?? 0,
  };
}

async function readVpc(VpcId: string, reader: AccountReader): Promise<VpcFacts> {
  const Filters = [{ Name: 'vpc-id', Values: [VpcId] }];
  const { Vpcs = [] } = await reader.get(accountReads.describeVpcs, { Filters });
  if (Vpcs.length === 0) return { exists: false, dnsSupport: false, dnsHostnames: false };
  const [support, hostnames] = await Promise.all([
    reader.get(accountReads.describeVpcAttribute, { VpcId, Attribute: 'enableDnsSupport' }),
    reader.get(accountReads.describeVpcAttribute, { VpcId, Attribute: 'enableDnsHostnames' }),
  ]);
  return {
    exists: true,
    dnsSupport: support.EnableDnsSupport?.Value === true,
    dnsHostnames: hostnames.EnableDnsHostnames?.Value === true,
  };
}
