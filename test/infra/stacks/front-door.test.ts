import { Match, type Template } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { getBody, listOperations } from './api-body.ts';
import { getTemplate, type Options, privateOptions, synthesize } from './synthesize.ts';

const domain = {
  domainName: 'clouddriver.example.com',
  certificateArn: 'arn:aws:acm:us-east-1:123456789012:certificate/0123',
};

function make(options: Options): Template {
  return getTemplate(synthesize(options), 'api');
}

describe('endpoints', () => {
  const [own, other] = ['vpce-0123456789abcdef0', 'vpce-0123456789abcdef1'];
  const several = make({ ...privateOptions, ...domain, vpcEndpointIds: `${own},210987654321/${other}` });

  it('of other accounts are let in by both policies, and associated with nothing here', () => {
    const Policy = Match.objectLike({
      Statement: Match.arrayWith([
        Match.objectLike({
          Effect: 'Deny',
          Condition: { StringNotEquals: { 'aws:SourceVpce': [own, other] } },
        }),
      ]),
    });

    several.hasResourceProperties('AWS::ApiGateway::RestApi', {
      Policy,
      EndpointConfiguration: { VpcEndpointIds: [own] },
    });
    several.hasResourceProperties('AWS::ApiGateway::DomainNameV2', { Policy });
    several.resourceCountIs('AWS::ApiGateway::DomainNameAccessAssociation', 1);
    several.hasResourceProperties('AWS::ApiGateway::DomainNameAccessAssociation', {
      AccessAssociationSource: own,
    });
  });

  it('of other accounts can be associated there: the name is shared, and its ARN put out', () => {
    const [id] = Object.keys(several.findResources('AWS::ApiGateway::DomainNameV2'));
    const domainNameArn = { 'Fn::GetAtt': [id, 'DomainNameArn'] };

    several.hasResourceProperties('AWS::RAM::ResourceShare', {
      Name: 'busdriver-dev-api',
      ResourceArns: [domainNameArn],
      Principals: ['210987654321'],
    });
    several.hasOutput('DomainNameArn', { Value: domainNameArn });
    make({ ...privateOptions, ...domain }).resourceCountIs('AWS::RAM::ResourceShare', 0);
  });

  it('that stay keep their association, whichever come or go beside them', () => {
    const listAssociations = (vpcEndpointIds: string) =>
      Object.entries(
        make({ ...privateOptions, ...domain, vpcEndpointIds }).findResources(
          'AWS::ApiGateway::DomainNameAccessAssociation',
        ),
      ).map(([id, { Properties }]) => `${id} ${Properties.AccessAssociationSource}`);
    const before = listAssociations(`${own},${other}`);

    expect(before).toHaveLength(2);
    expect(before).toContain(listAssociations(other)[0]);
    expect(before).toContain(listAssociations(own)[0]);
  });
});

describe('callers who are known by IAM', () => {
  const role = 'arn:aws:iam::210987654321:role/spinnaker';
  const withRole = make({ ...privateOptions, authentication: 'iam', callerArns: role });

  it('sign every request', () => {
    const open = listOperations(withRole).filter(([, { security }]) => security === undefined);

    expect(open).toEqual([]);
    expect(getBody(withRole).components).toEqual({
      securitySchemes: {
        signature: {
          type: 'apiKey',
          name: 'Authorization',
          in: 'header',
          'x-amazon-apigateway-authtype': 'awsSigv4',
        },
      },
    });
    const { MISSING_AUTHENTICATION_TOKEN: missing } =
      getBody(withRole)['x-amazon-apigateway-gateway-responses'];
    expect(missing?.statusCode).toBe('404');
    expect(missing?.responseTemplates['application/json']).toContain('or the request is not signed');
  });

  it('are those that are named, else those of the account', () => {
    const toPolicy = (AWS: unknown) =>
      Match.objectLike({
        Statement: Match.arrayWith([Match.objectLike({ Effect: 'Allow', Principal: { AWS } })]),
      });
    const ofAccount = make({ publicApi: true, authentication: 'iam' });

    withRole.hasResourceProperties('AWS::ApiGateway::RestApi', { Policy: toPolicy(role) });
    ofAccount.hasResourceProperties('AWS::ApiGateway::RestApi', {
      Policy: toPolicy({ 'Fn::Join': ['', Match.arrayWith([':root'])] }),
    });
  });
});

describe('a shared secret', () => {
  it('is the one that is made, where none is named; the authorizer may decrypt it', () => {
    const template = make({ publicApi: true, authentication: 'secret' });
    const [secret, key] = ['authorizersecretarn', 'keyarn'].map((name) => ({
      Ref: expect.stringContaining(`busdriverdev${name}`),
    }));
    const policies = Object.values(template.findResources('AWS::IAM::Policy'));
    const [policy] = policies.filter((one) => JSON.stringify(one).includes('authorizersecretarn'));

    expect(policy?.['Properties'].PolicyDocument.Statement).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ Action: 'secretsmanager:GetSecretValue', Resource: secret }),
        expect.objectContaining({ Action: 'kms:Decrypt', Resource: key }),
      ]),
    );
  });
});
