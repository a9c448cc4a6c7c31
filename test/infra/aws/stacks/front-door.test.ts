import { Match, type Template } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { getList, getOptions } from '../assembly/option-sets.ts';
import { getBody, listOperations } from './api-body.ts';
import { getTemplate, synthesize } from './synthesize.ts';

const ofOperator = 'private, endpoint of the operator';

function make(set: string): Template {
  return getTemplate(synthesize(getOptions(set)), 'api');
}

describe('endpoints', () => {
  const several = make('private, with a name: a second endpoint, and one of another account');
  const [own, other, foreign] = [0, 1, 2].map((index) => `vpce-0123456789abcdef${index}`);

  it('of other accounts are let in by both policies, and associated with nothing here', () => {
    const Policy = Match.objectLike({
      Statement: Match.arrayWith([
        Match.objectLike({
          Effect: 'Deny',
          Condition: { StringNotEquals: { 'aws:SourceVpce': [own, other, foreign] } },
        }),
      ]),
    });

    several.hasResourceProperties('AWS::ApiGateway::RestApi', {
      Policy,
      EndpointConfiguration: { VpcEndpointIds: [own, other] },
    });
    several.hasResourceProperties('AWS::ApiGateway::DomainNameV2', { Policy });
    several.resourceCountIs('AWS::ApiGateway::DomainNameAccessAssociation', 2);
    for (const AccessAssociationSource of [own, other])
      several.hasResourceProperties('AWS::ApiGateway::DomainNameAccessAssociation', {
        AccessAssociationSource,
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
    make('private, with a name').resourceCountIs('AWS::RAM::ResourceShare', 0);
  });

  it('that stay keep their association, whichever come or go beside them', () => {
    const listAssociations = (template: Template) =>
      Object.entries(template.findResources('AWS::ApiGateway::DomainNameAccessAssociation')).map(
        ([id, { Properties }]) => `${id} ${Properties.AccessAssociationSource}`,
      );
    const before = listAssociations(several);
    expect(before).toHaveLength(2);
    expect(before).toContain(listAssociations(make('private, with a name'))[0]);
    expect(before).toContain(listAssociations(make(`${ofOperator}: all that the operator may name`))[0]);
  });
});

describe('callers who are known by IAM', () => {
  const someCallers = `${ofOperator}: a hundred callers known by IAM, sixty ranges`;
  const withRoles = make(someCallers);

  it('sign every request', () => {
    const open = listOperations(withRoles).filter(([, { security }]) => security === undefined);

    expect(open).toEqual([]);
    expect(getBody(withRoles).components).toEqual({
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
      getBody(withRoles)['x-amazon-apigateway-gateway-responses'];
    expect(missing?.statusCode).toBe('404');
    expect(missing?.responseTemplates['application/json']).toContain('or the request is not signed');
  });

  it('are those that are named, else those of the account', () => {
    const toPolicy = (AWS: unknown) =>
      Match.objectLike({
        Statement: Match.arrayWith([Match.objectLike({ Effect: 'Allow', Principal: { AWS } })]),
      });
    const ofAccount = make(`${ofOperator}: public, with a name, callers known by IAM`);
    withRoles.hasResourceProperties('AWS::ApiGateway::RestApi', {
      Policy: toPolicy(getList(someCallers, 'callerArns').toSorted()),
    });
    ofAccount.hasResourceProperties('AWS::ApiGateway::RestApi', {
      Policy: toPolicy({ 'Fn::Join': ['', Match.arrayWith([':root'])] }),
    });
  });
});

describe('a shared secret', () => {
  it('is the one that is made, where none is named; the authorizer may decrypt it', () => {
    const template = make(ofOperator);
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
