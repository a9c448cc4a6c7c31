import { NestedStack } from 'aws-cdk-lib';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import type { Route } from '#functions/routes.ts';
import { variables } from '#platform/config.ts';
import { limitTimeout } from '../constructs/gateway-document.ts';
import { ServiceFunction } from '../constructs/service-function.ts';
import type { SharedResources } from '../constructs/shared-resources.ts';

/** What the stack is made of. */
export interface ControllerStackProps {
  readonly routes: readonly Route[];
  readonly sharedResources: SharedResources;
}

/** The functions of one folder of `functions/api`: of one of Clouddriver's controllers. */
export class ControllerStack extends NestedStack {
  /** Functions by module. */
  readonly functions: ReadonlyMap<string, IFunction>;

  constructor(scope: Construct, id: string, { routes, sharedResources }: ControllerStackProps) {
    super(scope, id);
    const { responseStreaming } = sharedResources.context;
    // Routes that answer alike share a module: their rows differ in nothing else that counts here.
    const rows = new Map(routes.map((route) => [route.module, route])).values();
    const entries = [...rows].map((route) => {
      const timeoutSeconds = limitTimeout(route, responseStreaming);
      const row = { ...route, timeoutSeconds };
      const environment = { [variables.responseStreaming]: String(responseStreaming) };
      const made = new ServiceFunction(this, { row, sharedResources, environment });
      return [route.module, made.function] as const;
    });
    this.functions = new Map(entries);
  }
}
