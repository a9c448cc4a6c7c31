import { Match, type Template } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { getPath } from '#core/json.ts';
import { routes } from '#functions/routes.ts';
import { getList, getOptions } from '../assembly/option-sets.ts';
import { getBody, listOperations } from './api-body.ts';
import { getResources } from './policies.ts';
import { getTemplate, privateOptions, synthesize } from './synthesize.ts';

function make(set: string): Template {
  return getTemplate(synthesize(getOptions(set)), 'api');
}

const plainStacks = synthesize();
const plain = getTemplate(plainStacks, 'api');
const named = make('private, with a name');
const withTls = make('public, mutual TLS, in a VPC');
const withSecret = make('public, shared secret');
const [secretArn = ''] = getList('public, shared secret', 'authorizerSecretArn');
const { domainName, certificateArn } = getOptions('private, with a name');
/** Answers are in one piece there. */
const all = 'private, endpoint of the operator: all that the operator may name';
const bufferedStacks = synthesize(getOptions(all));
const buffered = getTemplate(bufferedStacks, 'api');

/** Seconds after which a route's function ends, and after which API Gateway hangs up. */
function getTimes(
  templates: ReturnType<typeof synthesize>,
  api: Template,
  module: string,
): { readonly function: number; readonly api: number } {
  const name = `busdriver-dev-${module.slice(module.lastIndexOf('/') + 1)}`;
  const made = [...templates.values()]
    .flatMap((template) => [...getResources(template).values()])
    .find(({ Properties }) => Properties?.['FunctionName'] === name);
  const route = routes.find((one) => one.module === module);
  const operation = new Map(listOperations(api)).get(`${route?.method} ${route?.path}`);
  const timeout = operation?.['x-amazon-apigateway-integration']['timeoutInMillis'];
  return { function: Number(made?.Properties['Timeout']), api: Number(timeout) / 1000 };
}

describe('the API', () => {
  it('has every route, and each leads to its own function', () => {
    const operations = new Map(listOperations(plain));

    const rows = routes.map(({ method, path }) => `${method} ${path}`);
    expect([...operations.keys()].sort()).toEqual(rows.sort());
    for (const { method, path, module } of routes) {
      const integration = operations.get(`${method} ${path}`)?.['x-amazon-apigateway-integration'];
      const id = module
        .slice(module.lastIndexOf('/') + 1)
        .split('-')
        .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
        .join('');
      expect(JSON.stringify(integration?.['uri'])).toMatch(
        new RegExp(`Outputs\\.busdriverdevapi[a-z]+${id}Function`),
      );
      expect(integration).toMatchObject({ type: 'aws_proxy', httpMethod: 'POST' });
    }
  });

  it('names the variables of each path', () => {
    for (const [route, { parameters }] of listOperations(plain)) {
      const names = [...route.matchAll(/\{(\w+)\}/g)].map(([, name]) =>
        expect.objectContaining({ name, in: 'path', required: true }),
      );
      expect(parameters).toEqual(names);
    }
  });

  it('calls functions under one role', () => {
    const roles = new Set(
      listOperations(plain).map(([, operation]) =>
        JSON.stringify(operation['x-amazon-apigateway-integration']['credentials']),
      ),
    );
    expect([...roles]).toEqual([expect.stringContaining('Invocation')]);
  });

  it('streams every answer, and takes bodies of requests for text', () => {
    for (const [, { 'x-amazon-apigateway-integration': integration }] of listOperations(plain)) {
      expect(integration['responseTransferMode']).toBe('STREAM');
      const streaming = /:lambda:path\/2021-11-15\/functions\/.*\/response-streaming-invocations/;
      expect(JSON.stringify(integration['uri'])).toMatch(streaming);
    }
    plain.hasResourceProperties('AWS::ApiGateway::RestApi', { BinaryMediaTypes: Match.absent() });
    expect(getTimes(plainStacks, plain, 'api/artifacts/fetch-artifact')).toEqual({ function: 120, api: 121 });
  });

  it('hangs up no earlier than the function gives up', () => {
    for (const { module } of routes) {
      const times = getTimes(plainStacks, plain, module);
      expect(times.api).toBeGreaterThan(times.function);
      // API Gateway waits for a streamed answer at most.
      expect(times.api).toBeLessThanOrEqual(900);
    }
  });

  it('without response streaming hands answers on in one piece, within the time that API Gateway has', () => {
    for (const [, { 'x-amazon-apigateway-integration': integration }] of listOperations(buffered)) {
      expect(integration['responseTransferMode']).toBeUndefined();
      const whole = /:lambda:path\/2015-03-31\/functions\/.*[^-]\/invocations/;
      expect(JSON.stringify(integration['uri'])).toMatch(whole);
      expect(integration['timeoutInMillis']).toBe(29_000);
    }
    // So that gzip passes, which is in base64 then.
    buffered.hasResourceProperties('AWS::ApiGateway::RestApi', { BinaryMediaTypes: ['*/*'] });
    const times = getTimes(bufferedStacks, buffered, 'api/artifacts/fetch-artifact');
    expect(times).toEqual({ function: 29, api: 29 });
  });

  it.each([
    [true, plainStacks],
    [false, bufferedStacks],
  ])('tells its functions whether answers are streamed: %s', (responseStreaming, templates) => {
    const told = [...templates.values()]
      .flatMap((template) => [...getResources(template).values()])
      .map(({ Properties }) =>
        getPath(Properties, 'Environment', 'Variables', 'BUSDRIVER_RESPONSE_STREAMING'),
      )
      .filter((value) => value !== undefined);
    const functions = new Set(routes.map(({ module }) => module));
    expect(told).toEqual([...functions].map(() => String(responseStreaming)));
  });

  it('traces, measures and logs each request, without its query and headers', () => {
    plain.hasResourceProperties('AWS::ApiGateway::Stage', {
      TracingEnabled: true,
      AccessLogSetting: { Format: Match.not(Match.stringLikeRegexp('querystring|header|body')) },
      MethodSettings: [
        Match.objectLike({
          DataTraceEnabled: false,
          LoggingLevel: 'ERROR',
          ThrottlingRateLimit: 2_000,
          ThrottlingBurstLimit: 4_000,
        }),
      ],
    });
  });

  it('is deployed anew when what it leads to changes', () => {
    const [one] = Object.keys(plain.findResources('AWS::ApiGateway::Deployment'));
    const [other] = Object.keys(withSecret.findResources('AWS::ApiGateway::Deployment'));
    expect(one).not.toBe(other);
  });
});

describe('what API Gateway answers by itself', () => {
  const responses = Object.entries(getBody(plain)['x-amazon-apigateway-gateway-responses']);

  it("has Clouddriver's error body", () => {
    for (const [, { statusCode, responseTemplates }] of responses) {
      const body: unknown = JSON.parse(responseTemplates['application/json'] ?? '');
      expect(body).toEqual({
        timestamp: '$context.requestTime',
        status: Number(statusCode),
        error: expect.stringMatching(/^[A-Z][A-Za-z ]+$/),
        message: expect.stringMatching(/.{10,}/),
      });
    }
  });

  it.each([
    ['ACCESS_DENIED', '403'],
    ['MISSING_AUTHENTICATION_TOKEN', '404'],
    ['REQUEST_TOO_LARGE', '413'],
    ['THROTTLED', '503'],
    ['QUOTA_EXCEEDED', '503'],
    ['INTEGRATION_FAILURE', '503'],
    ['INTEGRATION_TIMEOUT', '503'],
    ['AUTHORIZER_FAILURE', '503'],
    ['DEFAULT_5XX', '503'],
    ['DEFAULT_4XX', '400'],
    ['UNAUTHORIZED', '401'],
  ])('%s has the status %s', (type, status) => {
    expect(new Map(responses).get(type)?.statusCode).toBe(status);
  });

  it.each([
    [true, plain, 'or its body exceeds the 6 MB (6291556 bytes)'],
    [false, buffered, 'or its body of more than 4.5 MB, in base64, exceeds the 6 MB (6291556 bytes)'],
  ])('names the limits of a request (streaming: %s), and what to do', (_, template, limits) => {
    const response = getBody(template)['x-amazon-apigateway-gateway-responses']['REQUEST_TOO_LARGE'];
    expect(JSON.parse(response?.responseTemplates['application/json'] ?? '').message).toBe(
      `The request is too large: its line and headers exceed 8,000 bytes, ${limits} that AWS Lambda accepts; ` +
        'send less at once, such as fewer manifests in a stage',
    );
  });

  it('says when to try again, where that may help', () => {
    for (const [, { statusCode, responseParameters }] of responses) {
      const retryAfter = responseParameters['gatewayresponse.header.Retry-After'];
      expect(retryAfter).toBe(statusCode === '503' ? "'1'" : undefined);
    }
  });

  it('is never a 500, 502 or 504, on which Orca gives up a POST', () => {
    const statuses = responses.map(([, { statusCode }]) => Number(statusCode));
    expect(new Set(statuses.filter((status) => status >= 500))).toEqual(new Set([503]));
  });
});

describe('a private API', () => {
  it('is what the stack makes when nothing else is said', () => {
    for (const template of [plain, named]) {
      template.hasResourceProperties('AWS::ApiGateway::RestApi', {
        EndpointConfiguration: { Types: ['PRIVATE'], VpcEndpointIds: [privateOptions['vpcEndpointIds']] },
        Parameters: { endpointConfigurationTypes: 'PRIVATE' },
      });
    }
  });

  it('denies everything that does not come through the endpoint', () => {
    const everyCall = { Principal: { AWS: '*' }, Action: 'execute-api:Invoke', Resource: 'execute-api:/*' };
    const Policy = Match.objectLike({
      Statement: [
        { ...everyCall, Effect: 'Allow' },
        {
          ...everyCall,
          Effect: 'Deny',
          Condition: { StringNotEquals: { 'aws:SourceVpce': privateOptions['vpcEndpointIds'] } },
        },
      ],
    });
    plain.hasResourceProperties('AWS::ApiGateway::RestApi', { Policy });
    named.hasResourceProperties('AWS::ApiGateway::DomainNameV2', { Policy });
  });

  it('has a private name whose root it is', () => {
    named.hasResourceProperties('AWS::ApiGateway::DomainNameV2', {
      DomainName: domainName,
      CertificateArn: certificateArn,
      EndpointConfiguration: { Types: ['PRIVATE'] },
    });
    named.hasResourceProperties('AWS::ApiGateway::BasePathMappingV2', {
      BasePath: Match.absent(),
      Stage: Match.anyValue(),
    });
    named.hasResourceProperties('AWS::ApiGateway::DomainNameAccessAssociation', {
      AccessAssociationSource: privateOptions['vpcEndpointIds'],
      AccessAssociationSourceType: 'VPCE',
    });
    named.hasOutput('BaseUrl', { Value: 'https://clouddriver.example.com' });
    named.resourceCountIs('AWS::ApiGateway::DomainName', 0);
  });

  it('tells the address that leads to it, and no other', () => {
    const outputs = Object.values(plain.findOutputs('*')).map(({ Value }) => JSON.stringify(Value));
    expect(outputs).toEqual([expect.stringContaining(`-${privateOptions['vpcEndpointIds']}.execute-api.`)]);
  });

  it('may ask for the shared secret too', () => {
    const template = make('private, endpoint of the operator');
    expect(listOperations(template).every(([, { security }]) => security !== undefined)).toBe(true);
  });
});

describe('a public API', () => {
  it('with mutual TLS answers only under its name, to certificates that are trusted', () => {
    withTls.hasResourceProperties('AWS::ApiGateway::RestApi', {
      EndpointConfiguration: { Types: ['REGIONAL'] },
      DisableExecuteApiEndpoint: true,
      Policy: Match.absent(),
    });
    withTls.hasResourceProperties('AWS::ApiGateway::DomainName', {
      DomainName: domainName,
      RegionalCertificateArn: certificateArn,
      SecurityPolicy: 'TLS_1_2',
      MutualTlsAuthentication: { TruststoreUri: 's3://trust/store.pem' },
    });
    withTls.hasResourceProperties('AWS::ApiGateway::BasePathMapping', { BasePath: Match.absent() });
    withTls.hasOutput('Target', { Description: 'Make clouddriver.example.com an alias of this' });
  });

  it('with a shared secret asks for it on every route', () => {
    const open = listOperations(withSecret).filter(([, { security }]) => security === undefined);
    const scheme = {
      ...{ type: 'apiKey', in: 'header', name: 'Authorization', 'x-amazon-apigateway-authtype': 'custom' },
      'x-amazon-apigateway-authorizer': expect.objectContaining({
        type: 'request',
        identitySource: 'method.request.header.Authorization',
        authorizerResultTtlInSeconds: 60,
      }),
    };
    expect(open).toEqual([]);
    expect(getBody(withSecret).components).toEqual({ securitySchemes: { sharedSecret: scheme } });
  });

  it('gives the secret to the function that compares it, and to no other', () => {
    const text = JSON.stringify(withSecret.toJSON());
    withSecret.hasResourceProperties('AWS::Lambda::Function', {
      FunctionName: 'busdriver-dev-check-shared-secret',
      Environment: { Variables: Match.objectLike({ BUSDRIVER_AUTHORIZER_SECRET_ARN: secretArn }) },
    });
    withSecret.hasResourceProperties('AWS::IAM::Policy', {
      PolicyDocument: Match.objectLike({
        Statement: Match.arrayWith([
          Match.objectLike({ Action: 'secretsmanager:GetSecretValue', Resource: secretArn }),
        ]),
      }),
    });
    expect(text.split(secretArn)).toHaveLength(3);
  });
});
