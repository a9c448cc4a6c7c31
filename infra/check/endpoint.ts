import type { IpPermission, SecurityGroup, VpcEndpoint } from '@aws-sdk/client-ec2';
import { listEndpoints, makesEndpoint } from '../context-rules.ts';
import type { AccountReader } from './account-reader.ts';
import { accountReads } from './account-reads.ts';
import {
  about,
  type Check,
  defineCheck,
  defineKnown,
  type Finding,
  mend,
  note,
  ok,
  unchecked,
} from './rows.ts';
import type { Subject } from './subject.ts';
import { readSubnets, type SubnetFacts } from './vpc.ts';

const matter = 'endpoint';

const option = 'vpcEndpointIds';

/** What is known of an interface endpoint. */
export interface EndpointFacts {
  readonly service: string;
  /** In lower case, such as `available`. */
  readonly state: string;
  readonly vpcId: string;
  readonly privateDns: boolean;
  /** From where its security groups let in on port 443: ranges, prefix lists and groups. */
  readonly admitted: readonly string[];
}

/** What is known of where an endpoint is to be made. */
export interface EndpointPlace {
  readonly subnets: readonly SubnetFacts[];
  /** How many subnets there are to be. */
  readonly subnetsMin: number;
  /** Names of the zones in which AWS offers the service; empty where it does not say. */
  readonly zones: readonly string[];
  /** Ids of endpoints for the service that the VPC has. */
  readonly others: readonly string[];
}

/** The endpoints through which the API answers: the operator's, and the place for ours. */
export function listEndpointChecks(subject: Subject): readonly Check[] {
  const { context } = subject.plan;
  const { vpcId } = context;
  const named = listEndpoints(context).map(({ id, account }) =>
    account === undefined ? makeOwnCheck(id) : makeForeignCheck(id, account),
  );
  if (!makesEndpoint(context) || vpcId === undefined) return named;
  const place = defineCheck({
    matter,
    what: 'place for an endpoint',
    gather: (reader) => readPlace(subject, vpcId, reader),
    judge: judgePlace,
  });
  return [place, ...named];
}

function makeOwnCheck(id: string): Check {
  return defineCheck({
    matter,
    what: option,
    gather: (reader) => readEndpoint(id, reader),
    judge: (facts) => judgeEndpoint(facts, id),
  });
}

function makeForeignCheck(id: string, account: string): Check {
  const next = `in account ${account}: aws ec2 describe-vpc-endpoints --vpc-endpoint-ids ${id}`;
  return defineKnown(matter, option, [
    about(id, unchecked(`is of account ${account}, which is not looked at`, next)),
  ]);
}

/**
 * The operator's endpoint.
 *
 * @param facts undefined where this account has none of that id
 */
export function judgeEndpoint(facts: EndpointFacts | undefined, id: string): Finding[] {
  const list =
    'aws ec2 describe-vpc-endpoints --filters Name=vpc-endpoint-type,Values=Interface; then -c vpcEndpointIds=…';
  if (facts === undefined) return [about(id, mend('is not in this account and region', list))];
  const { service, state, privateDns, admitted } = facts;
  if (!service.endsWith('.execute-api'))
    return [about(id, mend(`is for ${service}, not for execute-api`, list))];
  return [
    state === 'available'
      ? about(id, ok(`available, in ${facts.vpcId}`))
      : about(id, mend(`is ${state}`, 'wait until it is available, or take another one')),
    about(`${id}, private DNS`, ok(privateDns ? 'on: all calls of the VPC to APIs go through it' : 'off')),
    about(`${id}, who is let in on port 443`, judgeAdmitted(admitted)),
  ];
}

function judgeAdmitted(admitted: readonly string[]): Finding {
  if (admitted.length === 0) {
    return mend(
      'nobody',
      "aws ec2 authorize-security-group-ingress --group-id … --protocol tcp --port 443 --cidr <addresses of Spinnaker's pods>",
    );
  }
  const wide = admitted.filter((source) => /\/[01]$/.test(source));
  if (wide.length === 0) return ok(admitted.join(', '));
  return note(admitted.join(', '), "narrow it down to the addresses of Spinnaker's pods");
}

/** Where an endpoint of ours is to be made. */
export function judgePlace({ subnets, subnetsMin, zones, others }: EndpointPlace): Finding[] {
  if (subnets.length < subnetsMin) return [unchecked('not all of subnetIds are there')];
  const twice = [...Map.groupBy(subnets, ({ zone }) => zone)].filter(([, group]) => group.length > 1);
  const shared = twice.map(([zone, group]) =>
    mend(
      `${group.map(({ id }) => id).join(' and ')} are both in ${zone}: an endpoint takes one subnet a zone`,
      '-c subnetIds=… with one of them, or make the endpoint yourself and name it: -c vpcEndpointIds=…',
    ),
  );
  const outside = subnets
    .filter(({ zone }) => zones.length > 0 && !zones.includes(zone))
    .map(({ id, zone }) =>
      mend(
        `AWS offers no endpoint for execute-api in ${zone}, where ${id} is`,
        '-c subnetIds=… of other zones',
      ),
    );
  const problems = [...shared, ...outside];
  const first = problems.length > 0 ? problems : [ok('one subnet a zone')];
  if (others.length === 0) return first;
  return [
    ...first,
    note(
      `the VPC has one for execute-api already: ${others.join(', ')}`,
      `-c vpcEndpointIds=${others[0]} would share it`,
    ),
  ];
}

async function readEndpoint(id: string, reader: AccountReader): Promise<EndpointFacts | undefined> {
  const answer = await reader.find(accountReads.describeVpcEndpoints, { VpcEndpointIds: [id] });
  const [endpoint] = answer?.VpcEndpoints ?? [];
  if (endpoint === undefined) return undefined;
  return { ...toFacts(endpoint), admitted: await readAdmitted(endpoint, reader) };
}

function toFacts({
  ServiceName,
  State,
  VpcId,
  PrivateDnsEnabled,
}: VpcEndpoint): Omit<EndpointFacts, 'admitted'> {
  return {
    service: ServiceName ?? '',
    state: (State ?? '').toLowerCase(),
    vpcId: VpcId ?? '',
    privateDns: PrivateDnsEnabled === true,
  };
}

async function readAdmitted({ Groups = [] }: VpcEndpoint, reader: AccountReader): Promise<string[]> {
  const ids = Groups.flatMap(({ GroupId }) => (GroupId === undefined ? [] : [GroupId]));
  if (ids.length === 0) return [];
  const Filters = [{ Name: 'group-id', Values: ids }];
  const { SecurityGroups = [] } = await reader.get(accountReads.describeSecurityGroups, { Filters });
  return listAdmitted(SecurityGroups);
}

/** From where security groups let in on port 443. */
export function listAdmitted(groups: readonly Pick<SecurityGroup, 'IpPermissions'>[]): string[] {
  const sources = groups
    .flatMap(({ IpPermissions = [] }) => IpPermissions)
    .filter(isHttps)
    .flatMap(({ IpRanges = [], Ipv6Ranges = [], PrefixListIds = [], UserIdGroupPairs = [] }) => [
      ...IpRanges.map(({ CidrIp }) => CidrIp),
      ...Ipv6Ranges.map(({ CidrIpv6 }) => CidrIpv6),
      ...PrefixListIds.map(({ PrefixListId }) => PrefixListId),
      ...UserIdGroupPairs.map(({ GroupId }) => GroupId),
    ]);
  return [...new Set(sources.filter((source) => source !== undefined))];
}

function isHttps({ IpProtocol, FromPort = 0, ToPort = 65_535 }: IpPermission): boolean {
  if (IpProtocol === '-1') return true;
  return IpProtocol === 'tcp' && FromPort <= 443 && ToPort >= 443;
}

async function readPlace(
  { plan, region }: Subject,
  vpcId: string,
  reader: AccountReader,
): Promise<EndpointPlace> {
  const ServiceNames = [`com.amazonaws.${region}.execute-api`];
  const Filters = [
    { Name: 'vpc-id', Values: [vpcId] },
    { Name: 'service-name', Values: ServiceNames },
  ];
  const [subnets, offer, endpoints] = await Promise.all([
    readSubnets(plan.context.subnetIds, reader),
    reader.get(accountReads.describeVpcEndpointServices, { ServiceNames }),
    reader.get(accountReads.describeVpcEndpoints, { Filters }),
  ]);
  const [service] = offer.ServiceDetails ?? [];
  const ours = `${plan.name}-network`;
  return {
    subnets,
    subnetsMin: plan.context.subnetIds.length,
    zones: service?.AvailabilityZones ?? [],
    others: (endpoints.VpcEndpoints ?? [])
      .filter(({ Tags = [] }) => !Tags.some(({ Value = '' }) => Value === ours))
      .flatMap(({ VpcEndpointId }) => VpcEndpointId ?? []),
  };
}
