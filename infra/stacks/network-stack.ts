import { Annotations, Stack } from 'aws-cdk-lib';
import {
  InterfaceVpcEndpoint,
  InterfaceVpcEndpointAwsService,
  type ISubnet,
  Peer,
  Port,
  SecurityGroup,
  Vpc,
} from 'aws-cdk-lib/aws-ec2';
import type { Construct } from 'constructs';
import type { FunctionNetwork } from '../constructs/surroundings.ts';
import type { Context } from '../context.ts';
import { makesEndpoint } from '../context-rules.ts';

/** What the stack is made of. */
export interface NetworkStackProps {
  readonly context: Context;
  /** The existing VPC. */
  readonly vpcId: string;
}

/** What we add to an existing VPC: the security group of functions and, unless there is one, the API's endpoint. */
export class NetworkStack extends Stack {
  readonly network: FunctionNetwork;
  /** Undefined where the operator names one, or the API is public. */
  readonly endpoint: InterfaceVpcEndpoint | undefined;

  constructor(scope: Construct, id: string, { context, vpcId }: NetworkStackProps) {
    super(scope, id, { description: 'Busdriver: security group of functions, endpoint of the API' });
    const vpc = Vpc.fromVpcAttributes(this, 'Vpc', {
      vpcId,
      // Nothing of ours depends on zones; CDK wants as many as there are subnets.
      availabilityZones: context.subnetIds.map((_, index) => `zone-${index}`),
      privateSubnetIds: [...context.subnetIds],
    });
    const acknowledged = '@aws-cdk/aws-ec2:noSubnetRouteTableId';
    Annotations.of(this).acknowledgeWarning(acknowledged, 'Nothing here reads a route table.');
    const subnets = vpc.privateSubnets;
    const securityGroup = new SecurityGroup(this, 'Functions', {
      vpc,
      description: 'Functions that reach clusters or the internet: nothing comes in',
    });
    this.exportValue(securityGroup.securityGroupId);
    this.network = { vpc, subnets, securityGroup };
    if (makesEndpoint(context)) this.endpoint = this.#makeEndpoint(context, subnets);
  }

  /** Private DNS stays off: it would take over all of the VPC's calls to any API of API Gateway. */
  #makeEndpoint(context: Context, subnets: readonly ISubnet[]): InterfaceVpcEndpoint {
    const { vpc } = this.network;
    const securityGroup = new SecurityGroup(this, 'Clients', {
      vpc,
      description: 'Who may reach the API',
      allowAllOutbound: false,
    });
    for (const cidr of context.clientCidrs) securityGroup.addIngressRule(Peer.ipv4(cidr), Port.tcp(443));
    const endpoint = new InterfaceVpcEndpoint(this, 'Endpoint', {
      vpc,
      subnets: { subnets: [...subnets] },
      service: InterfaceVpcEndpointAwsService.APIGATEWAY,
      securityGroups: [securityGroup],
      privateDnsEnabled: false,
      open: false,
    });
    this.exportValue(endpoint.vpcEndpointId);
    return endpoint;
  }
}
