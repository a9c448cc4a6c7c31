import type { Template } from 'aws-cdk-lib/assertions';

interface Operation {
  readonly security?: unknown;
  readonly parameters: readonly object[];
  readonly 'x-amazon-apigateway-integration': { readonly [name: string]: unknown };
}

interface Body {
  readonly paths: { readonly [path: string]: { readonly [method: string]: Operation } };
  readonly components?: unknown;
  readonly 'x-amazon-apigateway-gateway-responses': {
    readonly [type: string]: {
      readonly statusCode: string;
      readonly responseParameters: { readonly [name: string]: string };
      readonly responseTemplates: { readonly [type: string]: string };
    };
  };
}

/** The document from which API Gateway makes the API of a template. */
export function getBody(template: Template): Body {
  const [api] = Object.values(template.findResources('AWS::ApiGateway::RestApi'));
  return api?.['Properties'].Body;
}

/** Its operations, each with method and path. */
export function listOperations(template: Template): (readonly [route: string, operation: Operation])[] {
  return Object.entries(getBody(template).paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(
      ([method, operation]) => [`${method.toUpperCase()} ${path}`, operation] as const,
    ),
  );
}
