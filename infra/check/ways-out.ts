import type { Route, RouteTable } from '@aws-sdk/client-ec2';
import type { AccountReader } from './account-reader.ts';
import { accountReads } from './account-reads.ts';
import { about, type Check, defineCheck, type Finding, mend, note, ok, unchecked } from './rows.ts';
import type { Subject } from './subject.ts';

const matter = 'network';

/**
 * Where a subnet's default route leads: `nat` and `other` out, `internet` past who has no public address, `nowhere` not at all,
 * `unknown` where no table says it.
 */
export type DefaultRoute = 'nat' | 'other' | 'internet' | 'nowhere' | 'unknown';

/** What is known of the ways out of a VPC. */
export interface WayOutFacts {
  readonly subnets: readonly {
    readonly id: string;
    readonly defaultRoute: DefaultRoute;
    /** Id of its route table. */
    readonly routeTableId: string;
  }[];
  readonly endpoints: readonly {
    /** Name of the service, such as `com.amazonaws.eu-west-1.sqs`. */
    readonly service: string;
    readonly state: string;
    readonly privateDns: boolean;
    /** Of a gateway: the tables that lead to it. */
    readonly routeTableIds: readonly string[];
  }[];
}

/** Services that functions call from within the VPC. For the first a gateway will do. */
const services = ['dynamodb', 'sqs', 'events', 'secretsmanager', 'sts', 'eks'] as const;

/** Whether functions in the subnets reach AWS' services. */
export function listWayOutChecks({ plan, region }: Subject, vpcId: string): readonly Check[] {
  const { subnetIds } = plan.context;
  return [
    defineCheck({
      matter,
      what: 'way out of',
      gather: (reader) => readWaysOut(vpcId, subnetIds, reader),
      judge: (facts) => judgeWaysOut(facts, { vpcId, region }),
    }),
  ];
}

/** Whether each subnet has a way to AWS' services: a NAT gateway, or an endpoint of each. */
export function judgeWaysOut(
  facts: WayOutFacts,
  where: { readonly vpcId: string; readonly region: string },
): Finding[] {
  return facts.subnets.flatMap((subnet) => {
    const { id, defaultRoute } = subnet;
    if (defaultRoute === 'nat') return [about(id, ok('a NAT gateway'))];
    if (defaultRoute === 'unknown') return [about(id, unchecked('no route table of it is seen'))];
    if (defaultRoute === 'other') {
      const follow = "see that it leads to AWS' services, or make endpoints of them";
      return [
        about(id, note('a transit gateway, an interface or the like, which is not followed here', follow)),
      ];
    }
    const missing = services.filter((service) => !hasEndpoint(facts, service, subnet.routeTableId));
    const internet =
      defaultRoute === 'internet'
        ? 'an internet gateway, which functions cannot use'
        : 'no way to the internet';
    if (missing.length === 0) {
      const reach = 'public clusters and artifacts on the internet stay out of reach';
      return [about(id, note(`${internet}; endpoints of all services that are needed`, reach))];
    }
    const found = `${internet}, and no endpoint of ${missing.join(', ')}`;
    return [
      about(id, mend(found, `give it a NAT gateway, or: ${toEndpointCommand(missing[0] ?? '', where)}`)),
    ];
  });
}

function hasEndpoint({ endpoints }: WayOutFacts, service: string, routeTableId: string): boolean {
  return endpoints.some((endpoint) => {
    if (endpoint.state !== 'available' || !endpoint.service.endsWith(`.${service}`)) return false;
    return endpoint.privateDns || endpoint.routeTableIds.includes(routeTableId);
  });
}

function toEndpointCommand(
  service: string,
  { vpcId, region }: { readonly vpcId: string; readonly region: string },
): string {
  const command = `aws ec2 create-vpc-endpoint --vpc-id ${vpcId} --service-name com.amazonaws.${region}.${service}`;
  if (service === 'dynamodb') return `${command} --vpc-endpoint-type Gateway --route-table-ids …, and so on`;
  return `${command} --vpc-endpoint-type Interface --private-dns-enabled --subnet-ids … --security-group-ids …, and so on`;
}

async function readWaysOut(
  vpcId: string,
  subnetIds: readonly string[],
  reader: AccountReader,
): Promise<WayOutFacts> {
  const Filters = [{ Name: 'vpc-id', Values: [vpcId] }];
  const [tables, endpoints] = await Promise.all([
    reader.list(
      accountReads.describeRouteTables,
      (NextToken) => ({ Filters, NextToken }),
      ({ NextToken }) => NextToken,
    ),
    reader.list(
      accountReads.describeVpcEndpoints,
      (NextToken) => ({ Filters, NextToken }),
      ({ NextToken }) => NextToken,
    ),
  ]);
  const all = tables.flatMap(({ RouteTables = [] }) => RouteTables);
  return {
    subnets: subnetIds.map((id) => {
      const table = findTable(all, id);
      return { id, defaultRoute: toDefaultRoute(table), routeTableId: table?.RouteTableId ?? '' };
    }),
    endpoints: endpoints
      .flatMap(({ VpcEndpoints = [] }) => VpcEndpoints)
      .map((endpoint) => ({
        service: endpoint.ServiceName ?? '',
        state: (endpoint.State ?? '').toLowerCase(),
        privateDns: endpoint.PrivateDnsEnabled === true,
        routeTableIds: endpoint.RouteTableIds ?? [],
      })),
  };
}

/** The subnet's own table, else the VPC's main one. */
function findTable(tables: readonly RouteTable[], subnetId: string): RouteTable | undefined {
  const own = tables.find(({ Associations = [] }) =>
    Associations.some(({ SubnetId }) => SubnetId === subnetId),
  );
  return own ?? tables.find(({ Associations = [] }) => Associations.some(({ Main }) => Main === true));
}

function toDefaultRoute(table: RouteTable | undefined): DefaultRoute {
  if (table === undefined) return 'unknown';
  const { Routes = [] } = table;
  const route = Routes.find(
    ({ DestinationCidrBlock, State }) => DestinationCidrBlock === '0.0.0.0/0' && State !== 'blackhole',
  );
  return route === undefined ? 'nowhere' : toTarget(route);
}

function toTarget({ NatGatewayId, GatewayId = '' }: Route): DefaultRoute {
  if (NatGatewayId !== undefined) return 'nat';
  return GatewayId.startsWith('igw-') ? 'internet' : 'other';
}
