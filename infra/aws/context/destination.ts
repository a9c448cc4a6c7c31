import { RegionInfo } from 'aws-cdk-lib/region-info';
import { awsResources } from '#providers/declarations.ts';
import type { Context } from './context.ts';

/** Where the stacks go, as far as CDK's command line could find out. */
export interface Destination {
  /** The region's name, such as `eu-west-1`. */
  readonly region?: string | undefined;
  /** AWS account, 12 digits. */
  readonly account?: string | undefined;
}

/** Where the command line of CDK deploys stacks that name no region of their own: it tells so in these variables. */
export function readDestination(environment: { readonly [name: string]: string | undefined }): Destination {
  return { region: environment['CDK_DEFAULT_REGION'], account: environment['CDK_DEFAULT_ACCOUNT'] };
}

const ownCertificate =
  'API Gateway takes a certificate of its own region for such a name; request or import one there';
const ownSecret = 'functions ask Secrets Manager of their own region';

/** Options with an ARN that works in its own region alone, and why. */
const regional = [
  ['certificateArn', ownCertificate],
  ['agentsCertificateArn', ownCertificate],
  ['authorizerSecretArn', ownSecret],
  ['configSecretArn', ownSecret],
  ['artifactsSecretArn', ownSecret],
  ['encryptionKeyArn', 'tables and secrets are encrypted with a key of their own region'],
  ['alarmTopicArn', 'alarms notify topics of their own region'],
] as const;

/** Options with ARNs that may be of any region, or of none. */
const others = [
  'callerArns',
  ...awsResources.flatMap(({ option }) => [`${option}s`, `${option}Prefixes`] as const),
  'accountRoleArns',
  'accountRoleArnPrefixes',
  'accountSecretArns',
  'accountSecretArnPrefixes',
  'permissionsBoundaryArn',
] as const;

/** What options name that cannot be used where the stacks go, each with the reason; empty where that is not known. */
export function findMisplaced(context: Context, { region, account }: Destination): string[] {
  if (region === undefined) return [];
  const isNamed = account !== undefined && context.vpcEndpointIds.some((one) => one.account === account);
  return [
    ...findForeignPartitions(context, region),
    ...findForeignRegions(context, region),
    ...(isNamed
      ? [
          `vpcEndpointIds: expected no ${account}/ before endpoints of that account: the stacks go into it themselves`,
        ]
      : []),
  ];
}

/** A partition, such as that of China, shares nothing with another one: neither accounts nor roles. */
function findForeignPartitions(context: Context, region: string): string[] {
  const { partition } = RegionInfo.get(region);
  // A region of which this CDK has not heard.
  if (partition === undefined) return [];
  return [...regional.map(([name]) => name), ...others].flatMap((name) => {
    const foreign = [context[name] ?? []].flat().find((arn) => !arn.startsWith(`arn:${partition}:`));
    if (foreign === undefined) return [];
    return [`${name}: expected arn:${partition}:…, for the stacks go to ${region}, not ${foreign}`];
  });
}

function findForeignRegions(context: Context, region: string): string[] {
  return regional.flatMap(([name, reason]) => {
    const other = context[name]?.split(':')[3] ?? region;
    if (other === region) return [];
    const where = `${region}, where the stacks go by AWS_REGION or by your profile`;
    return [`${name}: expected an ARN of ${where}, not of ${other}: ${reason}`];
  });
}
