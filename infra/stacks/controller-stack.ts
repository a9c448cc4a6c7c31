import { NestedStack } from 'aws-cdk-lib';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import type { Route } from '../../functions/routes.ts';
import { integrationTimeoutSeconds } from '../constructs/gateway-document.ts';
import { ServiceFunction } from '../constructs/service-function.ts';
import type { Surroundings } from '../constructs/surroundings.ts';

/** What the stack is made of. */
export interface ControllerStackProps {
  readonly routes: readonly Route[];
  readonly surroundings: Surroundings;
}

/** The functions of one folder of `functions/api`: of one of Clouddriver's controllers. */
export class ControllerStack extends NestedStack {
  /** Functions by module. */
  readonly functions: ReadonlyMap<string, IFunction>;

  constructor(scope: Construct, id: string, { routes, surroundings }: ControllerStackProps) {
    super(scope, id);
    const entries = routes.map((route) => {
      // Who called has been told that it failed by then.
      const timeoutSeconds = Math.min(route.timeoutSeconds, integrationTimeoutSeconds);
      const made = new ServiceFunction(this, { row: { ...route, timeoutSeconds }, surroundings });
      return [route.module, made.function] as const;
    });
    this.functions = new Map(entries);
  }
}
