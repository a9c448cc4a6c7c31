import { Match } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { getOptions } from '../assembly/option-sets.ts';
import { getTemplate, privateOptions, synthesize } from './synthesize.ts';

const { vpcId, subnetIds } = privateOptions;
const given = synthesize();
const made = synthesize(getOptions('private, endpoint made'));
const withIpv6 = getTemplate(
  synthesize(getOptions('private, endpoint made: clients with IPv6, and an endpoint of another account')),
  'network',
);

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
      SecurityGroupIngress: [
        Match.objectLike({ CidrIp: '10.20.0.0/16', IpProtocol: 'tcp', FromPort: 443, ToPort: 443 }),
      ],
    });
  });

  it('makes an endpoint with addresses of IPv6, too, where clients have such', () => {
    withIpv6.hasResourceProperties('AWS::EC2::VPCEndpoint', {
      IpAddressType: 'dualstack',
      DnsOptions: { DnsRecordIpType: 'dualstack' },
    });
    withIpv6.hasResourceProperties('AWS::EC2::SecurityGroup', {
      SecurityGroupIngress: [
        Match.objectLike({ CidrIp: '10.20.0.0/16', FromPort: 443 }),
        Match.objectLike({ CidrIpv6: '2001:db8:12::/48', FromPort: 443 }),
      ],
    });
    getTemplate(made, 'network').hasResourceProperties('AWS::EC2::VPCEndpoint', {
      IpAddressType: Match.absent(),
    });
  });

  it('makes an endpoint beside those of other accounts where clients are named, and else none', () => {
    const foreign = synthesize(getOptions('private, endpoint of another account'));
    withIpv6.resourceCountIs('AWS::EC2::VPCEndpoint', 1);
    getTemplate(foreign, 'network').resourceCountIs('AWS::EC2::VPCEndpoint', 0);
  });

  it('is not there without a VPC', () => {
    const templates = synthesize(getOptions('private, outside a VPC'));
    expect(templates.has('network')).toBe(false);
    getTemplate(templates, 'operations').hasResourceProperties('AWS::Lambda::Function', {
      FunctionName: 'busdriver-dev-run-operations',
      VpcConfig: Match.absent(),
    });
  });
});
