import { Stack } from 'aws-cdk-lib';
import { StringParameter } from 'aws-cdk-lib/aws-ssm';
import type { Construct } from 'constructs';
import type { Context } from '../context/context.ts';

/**
 * Values of a stack that others need and that no name reveals. They are parameters of Systems Manager. An export would be locked as long as
 * another stack imports it: its value could never change.
 */
export type SharedValue =
  | 'key-arn'
  | 'config-secret-arn'
  | 'artifacts-secret-arn'
  | 'authorizer-secret-arn'
  | 'functions-security-group-id'
  | 'api-endpoint-id'
  | 'hints-api-id'
  | 'hints-url';

/** Shares a value with the other stacks. */
export function shareValue(
  stack: Stack,
  context: Context,
  { name, value }: { readonly name: SharedValue; readonly value: string },
): void {
  new StringParameter(stack, `Shared-${name}`, {
    parameterName: toParameterName(context, name),
    description: 'Busdriver: what its stacks tell each other',
    stringValue: value,
  });
}

/** A value of another stack, as of each deploy. The stack must depend on that one. */
export function readSharedValue(scope: Construct, context: Context, name: SharedValue): string {
  return StringParameter.valueForStringParameter(getTopStack(scope), toParameterName(context, name));
}

function toParameterName({ namePrefix, stage }: Context, name: SharedValue): string {
  return `/${namePrefix}-${stage}/${name}`;
}

/** Nested stacks get the value from theirs: one look at the parameter is enough for all. */
function getTopStack(scope: Construct): Stack {
  let stack = Stack.of(scope);
  while (stack.nestedStackParent !== undefined) stack = stack.nestedStackParent;
  return stack;
}
