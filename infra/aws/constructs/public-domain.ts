import { CfnOutput } from 'aws-cdk-lib';
import {
  CfnBasePathMapping,
  DomainName,
  EndpointType,
  type MTLSConfig,
  SecurityPolicy,
  type SpecRestApi,
} from 'aws-cdk-lib/aws-apigateway';
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager';
import { Bucket } from 'aws-cdk-lib/aws-s3';
import { Construct } from 'constructs';
import type { Context } from '../context/context.ts';

/** What a public name is made of. */
export interface PublicDomainProps {
  readonly domainName: string;
  /** Certificate for the name in AWS Certificate Manager. */
  readonly certificateArn: string;
  readonly api: SpecRestApi;
  /** Of it: which certificates callers must have. */
  readonly context: Pick<Context, 'truststoreUri' | 'truststoreVersion'>;
}

/** A name on the internet whose root is the API, with mutual TLS where there is a truststore. */
export class PublicDomain extends Construct {
  constructor(scope: Construct, id: string, { domainName, certificateArn, api, context }: PublicDomainProps) {
    super(scope, id);
    const domain = new DomainName(this, 'Name', {
      domainName,
      certificate: Certificate.fromCertificateArn(this, 'Certificate', certificateArn),
      endpointType: EndpointType.REGIONAL,
      securityPolicy: SecurityPolicy.TLS_1_2,
      ...this.#toMutualTls(context),
    });
    new CfnBasePathMapping(this, 'Mapping', {
      domainName: domain.domainName,
      restApiId: api.restApiId,
      stage: api.deploymentStage.stageName,
    });
    new CfnOutput(this, 'Target', {
      description: `Make ${domainName} an alias of this`,
      value: domain.domainNameAliasDomainName,
    }).overrideLogicalId('Target');
  }

  #toMutualTls({ truststoreUri, truststoreVersion }: PublicDomainProps['context']): { mtls?: MTLSConfig } {
    const [, name, key] = /^s3:\/\/([^/]+)\/(.+)$/.exec(truststoreUri ?? '') ?? [];
    if (name === undefined || key === undefined) return {};
    const bucket = Bucket.fromBucketName(this, 'Truststore', name);
    return { mtls: { bucket, key, ...(truststoreVersion && { version: truststoreVersion }) } };
  }
}
