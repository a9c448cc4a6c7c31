import { Match } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { getTemplate, privateOptions, synthesize } from './synthesize.ts';

const { vpcEndpointIds, ...network } = privateOptions;
const { vpcId, subnetIds, authentication } = network;
const given = synthesize();
const made = synthesize({ ...network, clientCidrs: '10.1.0.0/16,10.2.0.0/16' });

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

  it('makes an endpoint with addresses of IPv6, too, where clients have such', () => {
    const both = getTemplate(
      synthesize({ ...network, clientCidrs: '10.1.0.0/16,2001:db8:12::/48' }),
      'network',
    );

    both.hasResourceProperties('AWS::EC2::VPCEndpoint', {
      IpAddressType: 'dualstack',
      DnsOptions: { DnsRecordIpType: 'dualstack' },
    });
    both.hasResourceProperties('AWS::EC2::SecurityGroup', {
      SecurityGroupIngress: [
        Match.objectLike({ CidrIp: '10.1.0.0/16', FromPort: 443 }),
        Match.objectLike({ CidrIpv6: '2001:db8:12::/48', FromPort: 443 }),
      ],
    });
    getTemplate(made, 'network').hasResourceProperties('AWS::EC2::VPCEndpoint', {
      IpAddressType: Match.absent(),
    });
  });

  it('makes an endpoint beside those of other accounts where clients are named, and else none', () => {
    const foreign = { ...network, vpcEndpointIds: '210987654321/vpce-0123456789abcdef0' };

    getTemplate(synthesize({ ...foreign, clientCidrs: '10.1.0.0/16' }), 'network').resourceCountIs(
      'AWS::EC2::VPCEndpoint',
      1,
    );
    getTemplate(synthesize(foreign), 'network').resourceCountIs('AWS::EC2::VPCEndpoint', 0);
  });

  it('is not there without a VPC', () => {
    const templates = synthesize({ vpcEndpointIds, authentication });

    expect(templates.has('network')).toBe(false);
    getTemplate(templates, 'operations').hasResourceProperties('AWS::Lambda::Function', {
      FunctionName: 'busdriver-dev-run-operations',
      VpcConfig: Match.absent(),
    });
  });
});
