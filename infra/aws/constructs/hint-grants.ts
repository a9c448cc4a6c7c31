import { Aws, Names, Reference, Stack, Tokenization } from 'aws-cdk-lib';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { Construct } from 'constructs';
import type { SharedResources } from './shared-resources.ts';

/** Name of the only stage of the API of hints. */
export const hintsStage = 'live';

/** What is done to connections: sending to them, and ending them. */
const methods = ['POST', 'DELETE'];

/** Telling agents, on the connections of our own API alone; nothing where agents are not served. */
export function postHints(hints: SharedResources['hints']): PolicyStatement[] {
  if (hints === undefined) return [];
  const prefix = `arn:${Aws.PARTITION}:execute-api:${Aws.REGION}:${Aws.ACCOUNT_ID}:${hints.apiId}`;
  const resources = methods.map((method) => `${prefix}/${hintsStage}/${method}/@connections/*`);
  return [new PolicyStatement({ actions: ['execute-api:ManageConnections'], resources })];
}

/** Why wildcards stand in that: by the names that the id of the API has in this stack, or in one that is nested in it. */
export function acknowledgeHints(
  scope: Construct,
  hints: SharedResources['hints'],
): { readonly id: string; readonly reason: string }[] {
  if (hints === undefined) return [];
  const { Ref: own } = Stack.of(scope).resolve(hints.apiId) as { readonly Ref: string };
  const target = Tokenization.reverseString(hints.apiId).tokens.find(Reference.isReference)?.target;
  // As CDK calls the parameter by which a nested stack gets it.
  const nested = target === undefined ? own : `referenceto${Names.nodeUniqueId(target.node)}Ref`;
  const prefix =
    'AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:execute-api:<AWS::Region>:<AWS::AccountId>:';
  return [own, nested].flatMap((name) =>
    methods.map((method) => ({
      id: `${prefix}<${name}>/${hintsStage}/${method}/@connections/*]`,
      reason: 'API Gateway makes up the ids of connections: they are of one API, which is ours.',
    })),
  );
}
