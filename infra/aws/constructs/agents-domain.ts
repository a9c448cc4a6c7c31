import { CfnOutput } from 'aws-cdk-lib';
import { CfnApiMapping, CfnDomainName, type CfnStage } from 'aws-cdk-lib/aws-apigatewayv2';
import { Construct } from 'constructs';

/** What the name of agents is made of. */
export interface AgentsDomainProps {
  readonly domainName: string;
  /** Certificate for the name in AWS Certificate Manager. */
  readonly certificateArn: string;
  /** `s3://bucket/key`, with `?versionId=…` or without. Default: no mutual TLS. */
  readonly trustStore: string | undefined;
  readonly stage: CfnStage;
}

/** A name on the internet whose root is the API of agents, with mutual TLS where there is a trust store. */
export class AgentsDomain extends Construct {
  constructor(
    scope: Construct,
    id: string,
    { domainName, certificateArn, trustStore, stage }: AgentsDomainProps,
  ) {
    super(scope, id);
    const [truststoreUri, truststoreVersion] = trustStore?.split('?versionId=') ?? [];
    const domain = new CfnDomainName(this, 'Name', {
      domainName,
      domainNameConfigurations: [{ certificateArn, endpointType: 'REGIONAL', securityPolicy: 'TLS_1_2' }],
      ...(truststoreUri !== undefined && {
        mutualTlsAuthentication: { truststoreUri, ...(truststoreVersion && { truststoreVersion }) },
      }),
    });
    new CfnApiMapping(this, 'Mapping', {
      apiId: stage.apiId,
      domainName: domain.ref,
      stage: stage.ref,
    });
    new CfnOutput(this, 'Target', {
      description: `Make ${domainName} an alias of this`,
      value: domain.attrRegionalDomainName,
    }).overrideLogicalId('AgentsTarget');
  }
}
