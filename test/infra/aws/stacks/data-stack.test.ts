import { App } from 'aws-cdk-lib';
import { Match, Template } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { readContext } from '#infra/aws/context/context-options.ts';
import { DataStack } from '#infra/aws/stacks/data-stack.ts';
import { tables } from '#platform/aws/tables.ts';
import { getOptions } from '../assembly/option-sets.ts';
import { getResources } from './policies.ts';
import { getTemplate, privateOptions, synthesize, withOutdir } from './synthesize.ts';

const template = getTemplate(synthesize(), 'data');
const ofOperator = 'private, endpoint of the operator';
const notProtected = `${ofOperator}: clusters, roles, secrets and images by prefix, not protected`;
const throwaway = getTemplate(synthesize(getOptions(notProtected)), 'data');
const importing = getOptions(`${ofOperator}: all that the operator may name`);
const imported = synthesize(importing);

/** Types of resources that CloudFormation deletes with the stack. */
function getDeleted(stack: Template): string[] {
  const resources = [...getResources(stack).values()];
  return resources
    .filter((one) => !('DeletionPolicy' in one) || one.DeletionPolicy === 'Delete')
    .map(({ Type }) => Type);
}

describe('the data stack', () => {
  it('makes every table as its row says, backed up and encrypted with its own key', () => {
    template.resourceCountIs('AWS::DynamoDB::Table', tables.length);
    for (const { name, partitionKey, sortKey, ttlAttribute } of tables) {
      template.hasResourceProperties('AWS::DynamoDB::Table', {
        TableName: `busdriver-dev-${name}`,
        KeySchema: [
          { AttributeName: partitionKey, KeyType: 'HASH' },
          { AttributeName: sortKey, KeyType: 'RANGE' },
        ],
        GlobalSecondaryIndexes: Match.absent(),
        TimeToLiveSpecification: { AttributeName: ttlAttribute, Enabled: true },
        BillingMode: 'PAY_PER_REQUEST',
        PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
        DeletionProtectionEnabled: true,
        SSESpecification: { SSEEnabled: true, SSEType: 'KMS', KMSMasterKeyId: Match.anyValue() },
      });
    }
  });

  it('keeps everything that cannot be made again when the stack goes', () => {
    expect(new Set(getDeleted(template))).toEqual(
      new Set(['AWS::CloudWatch::Alarm', 'AWS::KMS::Alias', 'AWS::SSM::Parameter']),
    );
  });

  it('goes without a trace where the operator says so', () => {
    expect(getDeleted(throwaway)).toHaveLength(getResources(throwaway).size);
    throwaway.hasResourceProperties('AWS::DynamoDB::Table', { DeletionProtectionEnabled: false });
  });

  it('turns the key over each year', () => {
    template.hasResourceProperties('AWS::KMS::Key', { EnableKeyRotation: true });
  });

  it.each(['config', 'artifacts'])('makes an encrypted secret for the %s, with nothing in it', (name) => {
    template.hasResourceProperties('AWS::SecretsManager::Secret', {
      Name: `busdriver-dev-${name}`,
      KmsKeyId: Match.anyValue(),
      SecretString: Match.stringLikeRegexp('^#[^\n]*\n$'),
    });
  });

  it('leaves the secret alone that operators of earlier versions filled: another text would overwrite it', () => {
    template.hasResourceProperties('AWS::SecretsManager::Secret', {
      Name: 'busdriver-dev-config',
      SecretString: '# Put your clouddriver.yml here.\n',
    });
  });

  it.each([
    { by: 'a secret', set: ofOperator },
    { by: 'IAM', set: `${ofOperator}: a hundred callers known by IAM, sixty ranges` },
    { by: 'nothing', set: `${ofOperator}: nobody proves who he is` },
  ])('makes up a secret for callers, the same however they prove who they are: by $by', ({ set }) => {
    const stack = getTemplate(synthesize(getOptions(set)), 'data');
    stack.hasResourceProperties('AWS::SecretsManager::Secret', {
      Name: 'busdriver-dev-authorizer',
      KmsKeyId: Match.anyValue(),
      SecretString: Match.absent(),
      GenerateSecretString: { PasswordLength: 64, ExcludePunctuation: true },
    });
    expect(stack.toJSON()).toEqual(template.toJSON());
  });

  it('takes a key and secrets that are there', () => {
    const stack = getTemplate(imported, 'data');

    stack.resourceCountIs('AWS::KMS::Key', 0);
    stack.resourceCountIs('AWS::SecretsManager::Secret', 0);
    stack.hasResourceProperties('AWS::DynamoDB::Table', {
      SSESpecification: Match.objectLike({ KMSMasterKeyId: importing['encryptionKeyArn'] }),
    });
    getTemplate(imported, 'operations').hasResourceProperties('AWS::Lambda::Function', {
      FunctionName: 'busdriver-dev-run-operations',
      Environment: {
        Variables: Match.objectLike({ BUSDRIVER_CONFIG_SECRET_ARN: importing['configSecretArn'] }),
      },
    });
    getTemplate(imported, 'caching').hasResourceProperties('AWS::Lambda::Function', {
      FunctionName: 'busdriver-dev-schedule-agents',
      Environment: {
        Variables: Match.objectLike({ BUSDRIVER_ARTIFACTS_SECRET_ARN: importing['artifactsSecretArn'] }),
      },
    });
  });

  it('exports what others may want, whether they do or not: else an upgrade could not stop using it', () => {
    const alone = withOutdir((outdir) => {
      const context = { ...privateOptions };
      const app = new App({ outdir, context, builtinCloudFormationValidation: false });
      return Template.fromStack(new DataStack(app, 'data', { context: readContext(app) }));
    });
    const names = (outputs: object): string[] => Object.keys(outputs).sort();
    expect(names(alone.findOutputs('*'))).toEqual(names(template.findOutputs('*')));
  });
});
