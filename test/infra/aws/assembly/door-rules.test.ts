import { Template } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { findOpenDoors } from './door-rules.ts';

const proof = { components: { securitySchemes: { sharedSecret: {} } } };
const scheme = { 'x-amazon-apigateway-authtype': 'awsSigv4' };
const signature = { components: { securitySchemes: { signature: scheme } } };
const unproven = { paths: { '/ops': { post: {} }, '/task/{id}': { get: {} } } };
const proven = { paths: { '/ops': { post: { security: [{ sharedSecret: [] }] } } }, ...proof };
const signed = { paths: { '/ops': { post: { security: [{ signature: [] }] } } }, ...signature };

const allow = { Effect: 'Allow', Principal: { AWS: '*' } };
const named = { ...allow, Principal: { AWS: 'arn:aws:iam::1:root' } };
const deny = {
  Effect: 'Deny',
  Principal: { AWS: '*' },
  Condition: { StringNotEquals: { 'aws:SourceVpce': 'vpce-0123456789abcdef0' } },
};

/** An API behind an endpoint, as a release before had it where nobody asked for more. */
function makePrivate(Body: object, Statement: readonly object[] = [allow, deny]): object {
  return {
    Api: {
      Type: 'AWS::ApiGateway::RestApi',
      Properties: { Body, EndpointConfiguration: { Types: ['PRIVATE'] }, Policy: { Statement } },
    },
  };
}

function makePublic(
  Body: object,
  { mutual, DisableExecuteApiEndpoint = true }: { mutual: boolean; DisableExecuteApiEndpoint?: boolean },
): object {
  return {
    Api: {
      Type: 'AWS::ApiGateway::RestApi',
      Properties: { Body, EndpointConfiguration: { Types: ['REGIONAL'] }, DisableExecuteApiEndpoint },
    },
    Name: {
      Type: 'AWS::ApiGateway::DomainName',
      Properties: mutual ? { MutualTlsAuthentication: { TruststoreUri: 's3://a/b' } } : {},
    },
  };
}

function findIn(api: object, ...SecurityGroupIngress: readonly object[]): string[] {
  const clients = { Clients: { Type: 'AWS::EC2::SecurityGroup', Properties: { SecurityGroupIngress } } };
  const stacks = Object.entries({ api, network: clients });
  return findOpenDoors(new Map(stacks.map(([name, Resources]) => [name, Template.fromJSON({ Resources })])));
}

describe('findOpenDoors', () => {
  const openTo = (whom: string) => `2 routes are open to ${whom}`;
  const anyEndpoint = 'every endpoint of any account leads to the API';
  const bypassed = makePublic(unproven, { mutual: true, DisableExecuteApiEndpoint: false });
  const company = { CidrIp: '10.0.0.0/8' };
  it.each([
    [
      "a company's addresses, with nothing behind",
      findIn(makePrivate(unproven), company),
      openTo('all of 10.0.0.0/8'),
    ],
    ['IPv6', findIn(makePrivate(unproven), { CidrIpv6: '::/0' }), openTo('all of ::/0')],
    ['the internet', findIn(makePublic(unproven, { mutual: false })), openTo('the internet')],
    ['the internet, beside mutual TLS', findIn(bypassed), openTo('the internet')],
    ['endpoints of anybody', findIn(makePrivate(proven, [allow])), anyEndpoint],
    ['signatures of anybody', findIn(makePrivate(signed)), 'a signature of any AWS account is taken'],
  ])('finds %s', (_what, found, expected) => {
    expect(found).toEqual([expected]);
  });

  it.each([
    ['a secret', findIn(makePrivate(proven), { CidrIp: '0.0.0.0/0' })],
    [
      'a narrow network',
      findIn(makePrivate(unproven), { CidrIp: '10.20.0.0/16' }, { CidrIpv6: '2001:db8::/48' }),
    ],
    ['mutual TLS', findIn(makePublic(unproven, { mutual: true }))],
    ['named callers', findIn(makePrivate(signed, [named, deny]))],
  ])('is content with %s', (_what, found) => {
    expect(found).toEqual([]);
  });
});
