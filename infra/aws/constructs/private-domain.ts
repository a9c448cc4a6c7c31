import { CfnOutput } from 'aws-cdk-lib';
import {
  CfnBasePathMappingV2,
  CfnDomainNameAccessAssociation,
  CfnDomainNameV2,
  type SpecRestApi,
} from 'aws-cdk-lib/aws-apigateway';
import { CfnResourceShare } from 'aws-cdk-lib/aws-ram';
import { Construct } from 'constructs';
import { type Context, toResourceName } from '../context/context.ts';
import { type EndpointReference, toEndpointPolicy } from './api-endpoints.ts';

/** What a private name is made of. */
export interface PrivateDomainProps {
  readonly domainName: string;
  /** Certificate for the name in AWS Certificate Manager. */
  readonly certificateArn: string;
  readonly api: SpecRestApi;
  /** The endpoints through which alone the name answers; at least one. */
  readonly endpoints: readonly EndpointReference[];
  readonly context: Context;
}

/**
 * A name that only the endpoints know, whose root is the API: no stage in the path. An endpoint knows it by an association, which must
 * be made in the endpoint's own AWS account: for other accounts the name is shared, and they do the rest.
 */
export class PrivateDomain extends Construct {
  constructor(scope: Construct, id: string, props: PrivateDomainProps) {
    super(scope, id);
    const { domainName, certificateArn, api, endpoints } = props;
    const { attrDomainNameArn: domainNameArn } = new CfnDomainNameV2(this, 'Name', {
      domainName,
      certificateArn,
      endpointConfiguration: { types: ['PRIVATE'] },
      securityPolicy: 'TLS_1_2',
      policy: toEndpointPolicy(endpoints),
    });
    new CfnBasePathMappingV2(this, 'Mapping', {
      domainNameArn,
      restApiId: api.restApiId,
      stage: api.deploymentStage.stageName,
    });
    for (const { id: accessAssociationSource, account, association } of endpoints) {
      if (account !== undefined) continue;
      new CfnDomainNameAccessAssociation(this, association, {
        domainNameArn,
        accessAssociationSource,
        accessAssociationSourceType: 'VPCE',
      });
    }
    this.#share(domainNameArn, props);
  }

  /** Lets other accounts associate their endpoints with the name. */
  #share(domainNameArn: string, { domainName, endpoints, context }: PrivateDomainProps): void {
    const principals = [...new Set(endpoints.flatMap(({ account }) => account ?? []))];
    if (principals.length === 0) return;
    new CfnResourceShare(this, 'Share', {
      name: toResourceName(context, 'api'),
      resourceArns: [domainNameArn],
      principals,
    });
    new CfnOutput(this, 'Arn', {
      description: `With it other AWS accounts associate their endpoints with ${domainName}`,
      value: domainNameArn,
    }).overrideLogicalId('DomainNameArn');
  }
}
