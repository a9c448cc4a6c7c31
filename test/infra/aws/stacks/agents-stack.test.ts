import { App } from 'aws-cdk-lib';
import { describe, expect, it } from 'vitest';
import { agentRoutes } from '#functions/agent-routes.ts';
import { operatorRoutes } from '#functions/operator-routes.ts';
import type { Context } from '#infra/aws/context/context.ts';
import { readContext } from '#infra/aws/context/context-options.ts';
import { loadSourceFiles } from '#test/architecture/source-files.ts';
import { getOptions } from '../assembly/option-sets.ts';
import { getFunctionStatements, getResources } from './policies.ts';
import { getTemplate, type Options, privateOptions, synthesize } from './synthesize.ts';

const templates = synthesize(getOptions('private, with agents: all of agents'));
const resources = getResources(getTemplate(templates, 'agents'));
const ofType = (type: string) => [...resources.values()].filter(({ Type }) => Type === type);
const toText = (of: ReturnType<typeof synthesize>) =>
  JSON.stringify([...of.values()].map((template) => template.toJSON()));

/** Names of the functions of a stack whose policies allow an action. */
function listAllowed(stack: string, action: string): string[] {
  const all = getResources(getTemplate(templates, stack));
  const roles = [...all.values()]
    .filter(
      ({ Type, Properties }) => Type === 'AWS::IAM::Policy' && JSON.stringify(Properties).includes(action),
    )
    .map(({ Properties }) => JSON.stringify(Object(Properties['Roles'])[0]));
  return [...all.values()]
    .filter(({ Type, Properties }) => {
      const role = Object(Object(Properties['Role'])['Fn::GetAtt'])[0];
      return Type === 'AWS::Lambda::Function' && roles.includes(JSON.stringify({ Ref: role }));
    })
    .map(({ Properties }) => String(Properties['FunctionName']).replace('busdriver-dev-', ''))
    .sort();
}

function read(context: Options): Context {
  return readContext(new App({ context }));
}

describe('the stack of agents', () => {
  it('is not there unless it is asked for, and leaves nothing in the others', () => {
    const without = synthesize();
    expect([...without.keys()]).not.toContain('agents');
    const ours = /BUSDRIVER_AGENT_(AUDIENCE|KEY)|BUSDRIVER_HINTS_|ManageConnections|hints-api-id/;
    expect(toText(without)).not.toMatch(ours);
    expect(read({ ...privateOptions, agents: false })).toEqual(read(privateOptions));
  });

  it('has a route for each row, and what connections need', () => {
    const keys = ofType('AWS::ApiGatewayV2::Route').map(({ Properties }) => Properties['RouteKey']);
    const rows = agentRoutes.map(({ method, path }) => `${method} ${path}`);
    expect(keys.sort()).toEqual([...rows, '$connect', '$default', '$disconnect', 'ping'].sort());
  });

  it('has what operators ask at the door of the API, and never at that of agents', () => {
    const door = JSON.stringify(getTemplate(templates, 'api').toJSON());
    expect(operatorRoutes.filter(({ path }) => !door.includes(`"${path}"`))).toEqual([]);
    const plain = JSON.stringify(getTemplate(synthesize(), 'api').toJSON());
    expect(plain).not.toContain('/armory/');
    const keys = ofType('AWS::ApiGatewayV2::Route').map(({ Properties }) => String(Properties['RouteKey']));
    expect(keys.filter((key) => key.includes('/armory/') || key.includes('/credentials'))).toEqual([]);
  });

  it('lets an authorizer decide who connects, and functions who calls', () => {
    const routes = ofType('AWS::ApiGatewayV2::Route').map(({ Properties }) => Properties);
    const guarded = routes.filter(({ AuthorizationType }) => AuthorizationType === 'CUSTOM');
    expect(guarded.map(({ RouteKey }) => RouteKey)).toEqual(['$connect']);
    const signed = agentRoutes.filter((row) => row.signed).map(({ method, path }) => `${method} ${path}`);
    const byIam = routes.filter(({ AuthorizationType }) => AuthorizationType === 'AWS_IAM');
    expect(byIam.map(({ RouteKey }) => RouteKey)).toEqual(signed);
  });

  it('lets the functions alone sign that open and renew sessions', () => {
    const rows = agentRoutes.filter(({ uses = [] }) => uses.includes('signSessions'));
    const names = rows.map(({ module }) => module.split('/').at(-1)).sort();
    expect(listAllowed('agents', 'kms:Sign')).toEqual([...new Set(names)]);
    expect(names).toContain('open-session');
    expect(listAllowed('agents', 'kms:GetPublicKey')).toContain('check-agent-session');
  });

  it('tells functions of operators nothing of that key, nor do they ask for it', () => {
    expect(listAllowed('api', 'kms:GetPublicKey')).toEqual([]);
    const modules = new Set(operatorRoutes.map(({ module }) => `functions/${module}.ts`));
    const sources = loadSourceFiles().filter(({ path }) => modules.has(path));
    expect(sources).toHaveLength(modules.size);
    expect(sources.filter(({ text }) => /openAgentHub|openSessionTokens/.test(text))).toEqual([]);
  });

  it('lets who tells agents send to connections of this API, and nobody else', () => {
    const listTellers = (stack: string) => listAllowed(stack, 'execute-api:ManageConnections');
    expect(listTellers('operations')).toEqual(['run-operations', 'sweep-tasks']);
    expect(listTellers('caching')).toEqual(['schedule-agents']);
    expect(listTellers('agents')).not.toContain('check-agent-session');
    const policies = ofType('AWS::IAM::Policy').map(({ Properties }) => JSON.stringify(Properties));
    const own = policies.filter((text) => text.includes('ManageConnections'));
    expect(own.length).toBeGreaterThan(0);
    expect(own.every((text) => text.includes('"/live/POST/@connections/*"'))).toBe(true);
  });

  it('lets who publishes accounts find the connections of their agents, and nothing else of tasks', () => {
    const caching = getTemplate(templates, 'caching');
    const statements = getFunctionStatements([caching]).get('schedule-agents') ?? [];
    const ofTasks = statements.filter(({ resources }) =>
      resources.some((one) => /table\/busdriver-dev-tasks/.test(one)),
    );
    expect(ofTasks.map(({ actions, leadingKeys }) => ({ actions, leadingKeys }))).toEqual([
      { actions: ['dynamodb:DeleteItem', 'dynamodb:Query'], leadingKeys: ['CONN#*'] },
    ]);
    const [worker] = [...getResources(caching).values()].filter(
      ({ Properties }) => Properties['FunctionName'] === 'busdriver-dev-schedule-agents',
    );
    expect(JSON.stringify(worker?.Properties['Environment'])).toContain('BUSDRIVER_HINTS_URL');
  });

  it('gives agents a name with mutual TLS, and no way around it', () => {
    expect(ofType('AWS::ApiGatewayV2::DomainName')[0]?.Properties).toMatchObject({
      DomainName: 'agents.example.com',
      MutualTlsAuthentication: { TruststoreUri: 's3://trust/agents.pem', TruststoreVersion: '7' },
    });
    const apis = ofType('AWS::ApiGatewayV2::Api').map(({ Properties }) => Properties);
    const http = apis.find(({ ProtocolType }) => ProtocolType === 'HTTP');
    expect(http?.['DisableExecuteApiEndpoint']).toBe(true);
  });

  it('logs requests without what proves callers', () => {
    const formats = ofType('AWS::ApiGatewayV2::Stage').map(({ Properties }) =>
      JSON.stringify(Properties['AccessLogSettings']),
    );
    expect(formats).toHaveLength(2);
    expect(formats.join()).not.toMatch(/header|querystring|authorizer\.(session|principalId)|body/i);
  });

  it('tells every function for whom tokens of agents are', () => {
    const functions = [...templates.values()]
      .flatMap((template) => [...getResources(template).values()])
      .filter(({ Type }) => Type === 'AWS::Lambda::Function');
    const texts = functions.map(({ Properties }) => JSON.stringify(Properties['Environment']));
    expect(texts.filter((text) => !text.includes('"BUSDRIVER_AGENT_AUDIENCE":"busdriver:dev"'))).toEqual([]);
  });
});
