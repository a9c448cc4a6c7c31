import type { Template } from 'aws-cdk-lib/assertions';
import type { Assembly } from './assembly-rules.ts';

interface Operation {
  readonly security?: readonly object[];
}

interface ApiProperties {
  readonly Body: {
    readonly paths: { readonly [path: string]: { readonly [method: string]: Operation } };
    readonly components?: { readonly securitySchemes: { readonly [name: string]: object } };
  };
  readonly EndpointConfiguration: { readonly Types: readonly string[] };
  readonly DisableExecuteApiEndpoint?: boolean;
  readonly Policy?: { readonly Statement: readonly Statement[] };
}

interface Statement {
  readonly Effect: string;
  readonly Principal: { readonly AWS: unknown };
  readonly Condition?: { readonly StringNotEquals?: { readonly 'aws:SourceVpce'?: unknown } };
}

interface Ingress {
  readonly CidrIp?: string;
  readonly CidrIpv6?: string;
}

/** The widest ranges of a VPC: "VPC CIDR blocks" in the guide of Amazon VPC. */
const bitsMin = { CidrIp: 16, CidrIpv6: 44 } as const;

/** By what way strangers could call the API: a sentence each. */
export function findOpenDoors(assembly: Assembly): string[] {
  return [...assembly.values()].flatMap((template) =>
    listProperties<ApiProperties>(template, 'AWS::ApiGateway::RestApi').flatMap((api) => [
      ...findUnprovenCallers(api, assembly, template),
      ...findUnboundCallers(api),
    ]),
  );
}

/** Where callers prove nothing, the network must be narrow, or TLS mutual. */
function findUnprovenCallers(api: ApiProperties, assembly: Assembly, template: Template): string[] {
  const operations = Object.values(api.Body.paths).flatMap((methods) => Object.values(methods));
  const open = operations.filter(({ security = [] }) => security.length === 0);
  if (open.length === 0) return [];
  if (!isPrivate(api)) {
    const names = listProperties<{ readonly MutualTlsAuthentication?: object }>(
      template,
      'AWS::ApiGateway::DomainName',
    );
    const isMutual = names.length > 0 && names.every(({ MutualTlsAuthentication: tls }) => tls !== undefined);
    return isMutual && api.DisableExecuteApiEndpoint === true
      ? []
      : [`${open.length} routes are open to the internet`];
  }
  return listIngress(assembly)
    .filter(isWide)
    .map((range) => `${open.length} routes are open to all of ${range.CidrIp ?? range.CidrIpv6}`);
}

/** A private API must deny what comes another way, and one that asks for signatures must name whose. */
function findUnboundCallers(api: ApiProperties): string[] {
  const statements = api.Policy?.Statement ?? [];
  const isBound = statements.some(
    ({ Effect, Condition }) =>
      Effect === 'Deny' && Condition?.StringNotEquals?.['aws:SourceVpce'] !== undefined,
  );
  const isSigned = JSON.stringify(api.Body.components ?? {}).includes('"awsSigv4"');
  const isForAll = statements.some(({ Effect, Principal }) => Effect === 'Allow' && Principal.AWS === '*');
  return [
    ...(isPrivate(api) && !isBound ? ['every endpoint of any account leads to the API'] : []),
    ...(isSigned && isForAll ? ['a signature of any AWS account is taken'] : []),
  ];
}

function isPrivate(api: ApiProperties): boolean {
  return api.EndpointConfiguration.Types.join() === 'PRIVATE';
}

function isWide(range: Ingress): boolean {
  const names = ['CidrIp', 'CidrIpv6'] as const;
  return names.some((name) => Number(range[name]?.split('/')[1] ?? Number.POSITIVE_INFINITY) < bitsMin[name]);
}

function listIngress(assembly: Assembly): Ingress[] {
  return [...assembly.values()].flatMap((template) =>
    listProperties<{ readonly SecurityGroupIngress?: readonly Ingress[] }>(
      template,
      'AWS::EC2::SecurityGroup',
    ).flatMap(({ SecurityGroupIngress = [] }) => SecurityGroupIngress),
  );
}

function listProperties<T>(template: Template, type: string): T[] {
  return Object.values(template.findResources(type)).map(({ Properties }) => Properties as T);
}
