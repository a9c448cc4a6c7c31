import type { RouteTable, Subnet, VpcEndpoint } from '@aws-sdk/client-ec2';
import { makesEndpoint } from '#infra/aws/context/context-rules.ts';
import { type Check, type Finding, mend, note, ok, unchecked } from './rows.ts';
import type { Subject } from './subject.ts';

/** Addresses that a subnet should have left: Lambda takes one and more of each, an endpoint another, and AWS some while it replaces them. */
const freeAddressesMin = 8;

/** Services that functions call from within the VPC. For the first a gateway will do. */
const services = ['dynamodb', 'sqs', 'events', 'secretsmanager', 'sts', 'eks'];

/** The VPC and its subnets, and the ways that lead out of them. */
export function listNetworkChecks(subject: Subject): readonly Check[] {
  const { vpcId } = subject.plan.context;
  if (vpcId === undefined) return [];
  return [
    { what: 'vpcId', find: () => checkVpc(vpcId, subject) },
    { what: 'subnetIds', find: () => checkSubnets(vpcId, subject) },
    { what: 'way out of', find: () => checkWaysOut(vpcId, subject) },
  ];
}

/** Whether the VPC is there and resolves names. */
async function checkVpc(VpcId: string, { reads, region }: Subject): Promise<Finding[]> {
  const { Vpcs = [] } = await reads.describeVpcs.get({ Filters: [{ Name: 'vpc-id', Values: [VpcId] }] });
  if (Vpcs.length === 0) {
    const list = `aws ec2 describe-vpcs --region ${region}; then -c vpcId=…`;
    return [mend(`${VpcId} is not in this account and region`, list)];
  }
  const options = { enableDnsSupport: '--enable-dns-support', enableDnsHostnames: '--enable-dns-hostnames' };
  const attributes = (['enableDnsSupport', 'enableDnsHostnames'] as const).map(async (Attribute) => {
    const answer = await reads.describeVpcAttribute.get({ VpcId, Attribute });
    const { Value } = answer.EnableDnsSupport ?? answer.EnableDnsHostnames ?? {};
    if (Value === true) return ok(`${Attribute} is on`);
    return mend(
      `${Attribute} is off: endpoints with private names and private hosted zones need it`,
      `aws ec2 modify-vpc-attribute --vpc-id ${VpcId} ${options[Attribute]}`,
    );
  });
  return [ok(`${VpcId} is there`), ...(await Promise.all(attributes))];
}

/** Whether the subnets are there, in the VPC, have free addresses, and are in several zones. */
async function checkSubnets(vpcId: string, { plan, reads }: Subject): Promise<Finding[]> {
  const { context } = plan;
  const list = `aws ec2 describe-subnets --filters Name=vpc-id,Values=${vpcId}; then -c subnetIds=…`;
  // EC2 leaves out those that it does not know.
  const Filters = [{ Name: 'subnet-id', Values: [...context.subnetIds] }];
  const { Subnets = [] } = await reads.describeSubnets.get({ Filters });
  const judge = (subnet: Subnet | undefined): Finding => {
    if (subnet === undefined) return mend('is not in this account and region', list);
    const { VpcId, AvailabilityZone, AvailableIpAddressCount: free = 0 } = subnet;
    if (VpcId !== vpcId) return mend(`is in ${VpcId}, not in ${vpcId}`, list);
    const found = `zone ${AvailabilityZone}, ${free} addresses free`;
    if (free >= freeAddressesMin) return ok(found);
    return mend(`${found}: ${freeAddressesMin} or more are needed`, `take a larger subnet: ${list}`);
  };
  const each = context.subnetIds.map((about) => ({
    ...judge(Subnets.find(({ SubnetId }) => SubnetId === about)),
    about,
  }));
  const zones = new Set(Subnets.map(({ AvailabilityZone }) => AvailabilityZone));
  if (makesEndpoint(context) && zones.size < Subnets.length) {
    const next = 'take one subnet of each zone, or make the endpoint yourself: -c vpcEndpointIds=…';
    return [...each, mend('some are in one zone, and an endpoint takes one subnet a zone', next)];
  }
  if (zones.size !== 1) return each;
  return [...each, note('all are in one zone, and go down with it', `take subnets of two zones: ${list}`)];
}

/** Whether each subnet has a way to AWS' services: a NAT gateway, or an endpoint of each. */
async function checkWaysOut(vpcId: string, { plan, reads }: Subject): Promise<Finding[]> {
  const Filters = [{ Name: 'vpc-id', Values: [vpcId] }];
  const [{ RouteTables = [] }, { VpcEndpoints = [] }] = await Promise.all([
    reads.describeRouteTables.get({ Filters }),
    reads.describeVpcEndpoints.get({ Filters }),
  ]);
  return plan.context.subnetIds.map((about) => {
    const table = findTable(RouteTables, about);
    if (table === undefined) return { ...unchecked('no route table of it is seen'), about };
    return { ...judgeWayOut(table, VpcEndpoints), about };
  });
}

/** The subnet's own table, else the VPC's main one. */
function findTable(tables: readonly RouteTable[], subnetId: string): RouteTable | undefined {
  const own = tables.find(({ Associations = [] }) =>
    Associations.some(({ SubnetId }) => SubnetId === subnetId),
  );
  return own ?? tables.find(({ Associations = [] }) => Associations.some(({ Main }) => Main === true));
}

function judgeWayOut({ Routes = [], RouteTableId = '' }: RouteTable, endpoints: VpcEndpoint[]): Finding {
  const route = Routes.find(
    ({ DestinationCidrBlock, State }) => DestinationCidrBlock === '0.0.0.0/0' && State !== 'blackhole',
  );
  if (route?.NatGatewayId !== undefined) return ok('a NAT gateway');
  if (route !== undefined && !route.GatewayId?.startsWith('igw-')) {
    const next = "see that it leads to AWS' services, or make endpoints of them";
    return note('a transit gateway, an interface or the like, which is not followed here', next);
  }
  const internet = 'an internet gateway, which functions cannot use';
  const way = route === undefined ? 'no way to the internet' : internet;
  const missing = services.filter((service) => !hasEndpoint(endpoints, service, RouteTableId));
  if (missing.length > 0) {
    const next = 'give it a NAT gateway, or the endpoints: aws ec2 create-vpc-endpoint';
    return mend(`${way}, and no endpoint of ${missing.join(', ')}`, next);
  }
  const next = 'public clusters and artifacts on the internet stay out of reach';
  return note(`${way}; endpoints of all services that are needed`, next);
}

function hasEndpoint(endpoints: readonly VpcEndpoint[], service: string, routeTableId: string): boolean {
  return endpoints.some(({ ServiceName, State, PrivateDnsEnabled, RouteTableIds }) => {
    if (State?.toLowerCase() !== 'available' || !ServiceName?.endsWith(`.${service}`)) return false;
    return PrivateDnsEnabled === true || RouteTableIds?.includes(routeTableId) === true;
  });
}
