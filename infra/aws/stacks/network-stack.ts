import { Stack } from 'aws-cdk-lib';
import {
  InterfaceVpcEndpoint,
  InterfaceVpcEndpointAwsService,
  type IVpc,
  Peer,
  Port,
  SecurityGroup,
  VpcEndpointDnsRecordIpType,
  VpcEndpointIpAddressType,
} from 'aws-cdk-lib/aws-ec2';
import type { Construct } from 'constructs';
import { findVpc } from '../constructs/shared-resources.ts';
import { shareValue } from '../constructs/shared-values.ts';
import { isIpv6Range } from '../context/address-ranges.ts';
import type { Context } from '../context/context.ts';
import { makesEndpoint } from '../context/context-rules.ts';

/** What the stack is made of. */
export interface NetworkStackProps {
  readonly context: Context;
  /** The existing VPC. */
  readonly vpcId: string;
}

/** An endpoint has addresses of IPv4 alone unless it is told; its subnets must have both. */
const bothFamilies = {
  ipAddressType: VpcEndpointIpAddressType.DUALSTACK,
  dnsRecordIpType: VpcEndpointDnsRecordIpType.DUALSTACK,
};

/** What we add to an existing VPC: the security group of functions and, unless there is one, the API's endpoint. */
export class NetworkStack extends Stack {
  constructor(scope: Construct, id: string, { context, vpcId }: NetworkStackProps) {
    super(scope, id, { description: 'Busdriver: security group of functions, endpoint of the API' });
    const vpc = findVpc(this, context, vpcId);
    const securityGroup = new SecurityGroup(this, 'Functions', {
      vpc,
      description: 'Functions that reach clusters or the internet: nothing comes in',
    });
    this.exportValue(securityGroup.securityGroupId);
    const value = securityGroup.securityGroupId;
    shareValue(this, context, { name: 'functions-security-group-id', value });
    if (makesEndpoint(context)) this.#makeEndpoint(context, vpc);
  }

  /** Private DNS stays off: it would take over all of the VPC's calls to any API of API Gateway. */
  #makeEndpoint(context: Context, vpc: IVpc): void {
    const securityGroup = new SecurityGroup(this, 'Clients', {
      vpc,
      description: 'Who may reach the API',
      allowAllOutbound: false,
    });
    const ranges = context.clientCidrs.map((cidr) => (isIpv6Range(cidr) ? Peer.ipv6(cidr) : Peer.ipv4(cidr)));
    for (const range of ranges) securityGroup.addIngressRule(range, Port.tcp(443));
    const endpoint = new InterfaceVpcEndpoint(this, 'Endpoint', {
      vpc,
      subnets: { subnets: vpc.privateSubnets },
      service: InterfaceVpcEndpointAwsService.APIGATEWAY,
      securityGroups: [securityGroup],
      privateDnsEnabled: false,
      open: false,
      ...(context.clientCidrs.some(isIpv6Range) && bothFamilies),
    });
    this.exportValue(endpoint.vpcEndpointId);
    shareValue(this, context, { name: 'api-endpoint-id', value: endpoint.vpcEndpointId });
  }
}
