import { Match } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { getTemplate, privateOptions, synthesize } from './synthesize.ts';

const { vpcId, subnetIds } = privateOptions;
const given = synthesize();
const made = synthesize({ vpcId, subnetIds, clientCidrs: '10.1.0.0/16,10.2.0.0/16' });

describe('the network stack', () => {
  it('gives functions a security group into which nothing comes', () => {
    const template = getTemplate(given, 'network');

    template.resourceCountIs('AWS::EC2::SecurityGroup', 1);
    template.hasResourceProperties('AWS::EC2::SecurityGroup', {
      VpcId: vpcId,
      SecurityGroupIngress: Match.absent(),
    });
    template.resourceCountIs('AWS::EC2::SecurityGroupIngress', 0);
  });

  it('makes no endpoint where there is one', () => {
    getTemplate(given, 'network').resourceCountIs('AWS::EC2::VPCEndpoint', 0);
  });

  it('makes an endpoint that only the named ranges reach, and leaves other APIs alone', () => {
    const template = getTemplate(made, 'network');

    template.hasResourceProperties('AWS::EC2::VPCEndpoint', {
      VpcId: vpcId,
      SubnetIds: String(subnetIds).split(','),
      ServiceName: { 'Fn::Join': ['', Match.arrayWith(['.execute-api'])] },
      PrivateDnsEnabled: false,
    });
    template.hasResourceProperties('AWS::EC2::SecurityGroup', {
      SecurityGroupIngress: ['10.1.0.0/16', '10.2.0.0/16'].map((CidrIp) =>
        Match.objectLike({ CidrIp, IpProtocol: 'tcp', FromPort: 443, ToPort: 443 }),
      ),
    });
  });

  it('is not there without a VPC', () => {
    const templates = synthesize({ vpcEndpointId: privateOptions.vpcEndpointId });

    expect(templates.has('network')).toBe(false);
    getTemplate(templates, 'operations').hasResourceProperties('AWS::Lambda::Function', {
      FunctionName: 'busdriver-dev-run-operations',
      VpcConfig: Match.absent(),
    });
  });
});
