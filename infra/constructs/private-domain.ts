import {
  CfnBasePathMappingV2,
  CfnDomainNameAccessAssociation,
  CfnDomainNameV2,
  type SpecRestApi,
} from 'aws-cdk-lib/aws-apigateway';
import type { IVpcEndpoint } from 'aws-cdk-lib/aws-ec2';
import { Construct } from 'constructs';
import { toEndpointPolicy } from './front-door.ts';

/** What a private name is made of. */
export interface PrivateDomainProps {
  readonly domainName: string;
  /** Certificate for the name in AWS Certificate Manager. */
  readonly certificateArn: string;
  readonly api: SpecRestApi;
  /** The endpoint through which alone the name answers. */
  readonly vpcEndpoint: IVpcEndpoint;
}

/** A name that only the endpoint knows, whose root is the API: no stage in the path. */
export class PrivateDomain extends Construct {
  constructor(
    scope: Construct,
    id: string,
    { domainName, certificateArn, api, vpcEndpoint }: PrivateDomainProps,
  ) {
    super(scope, id);
    const { attrDomainNameArn: domainNameArn } = new CfnDomainNameV2(this, 'Name', {
      domainName,
      certificateArn,
      endpointConfiguration: { types: ['PRIVATE'] },
      securityPolicy: 'TLS_1_2',
      policy: toEndpointPolicy(vpcEndpoint),
    });
    new CfnBasePathMappingV2(this, 'Mapping', {
      domainNameArn,
      restApiId: api.restApiId,
      stage: api.deploymentStage.stageName,
    });
    new CfnDomainNameAccessAssociation(this, 'Access', {
      domainNameArn,
      accessAssociationSource: vpcEndpoint.vpcEndpointId,
      accessAssociationSourceType: 'VPCE',
    });
  }
}
