import { ACMClient, RequestCertificateCommand } from '@aws-sdk/client-acm';
import { CreateTableCommand, DeleteTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import {
  CreateNatGatewayCommand,
  CreateRouteCommand,
  DescribeRouteTablesCommand,
  DescribeSubnetsCommand,
  EC2Client,
  ModifyVpcAttributeCommand,
} from '@aws-sdk/client-ec2';
import { IAMClient, PutRolePolicyCommand } from '@aws-sdk/client-iam';
import { CreateKeyCommand, KMSClient } from '@aws-sdk/client-kms';
import {
  CreateSecretCommand,
  DeleteSecretCommand,
  SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager';
import { CreateTopicCommand, SNSClient } from '@aws-sdk/client-sns';
import { beforeAll, describe, expect, it } from 'vitest';
import { localAccountId, localRegion } from '#infra/server/functions/local-aws.ts';
import type { Row } from '#infra/tools/deploy-check/rows.ts';
import { parseRows, runDeployCheck, toArguments } from '#test/infra/tools/deploy-check/deploy-check.ts';
import { localClientOptions } from '#test/support/engines/local-aws-client.ts';
import { getDeployment } from '#test/support/system/deployed-system.ts';
import { describeTestedInstallation } from './installation.ts';

const timeout = 240_000;

/** What the emulator does not have: this row says so, and is tested with the recorded answers alone. */
const notEmulated = /^IAM simulates nothing/;

type Options = { readonly [name: string]: string };

/** What the command says of a call that took too long, as on a machine that does four things at once. */
const late = /was not answered in time$/;

/** Looks are repeated so often at most while a call was late. */
const maxLooks = 3;

/** Looks at the emulated account by the real command, and ends unless it is a report. */
async function check(options: Options, ...flags: string[]): Promise<readonly Row[]> {
  for (let look = 1; ; look++) {
    const rows = await checkOnce(options, flags);
    if (look === maxLooks || !rows.some(({ found }) => late.test(found))) return rows;
  }
}

async function checkOnce(options: Options, flags: readonly string[]): Promise<readonly Row[]> {
  const { endpoint } = getDeployment();
  const args = [...toArguments(options), ...flags, '--json'];
  const result = await runDeployCheck(args, { endpoint, region: localRegion });
  const rows = parseRows(result);
  expect(result.code).toBe(rows.some(({ state }) => state === 'mend') ? 1 : 0);
  return rows;
}

const toMend = (rows: readonly Row[]) => rows.filter(({ state }) => state === 'mend').map(({ what }) => what);

describe('npm run deploy:check', () => {
  let options: Options;
  let secretArn: string;

  beforeAll(async () => {
    await allowAll(`cdk-hnb659fds-cfn-exec-role-${localAccountId}-${localRegion}`);
    secretArn = await createSecret('checked-config');
    options = {
      ...{ stage: 'checked', clientCidrs: '172.31.0.0/16', authentication: 'secret' },
      ...(await prepareNetwork()),
      ...{
        domainName: 'checked.example.com',
        certificateArn: await requestCertificate('checked.example.com'),
      },
      ...{
        configSecretArn: secretArn,
        encryptionKeyArn: await createKey(),
        alarmTopicArn: await createTopic(),
      },
    };
  }, timeout);

  it('finds nothing to mend before a first deploy', { timeout }, async () => {
    const rows = await check(options, '--read-secrets');

    expect(rows.filter(({ state }) => state === 'mend')).toEqual([]);
    const unchecked = rows.filter(({ state }) => state === 'not checked');
    expect(unchecked.filter(({ found }) => !notEmulated.test(found))).toEqual([]);
    const found = new Map(rows.map((row) => [row.what, row.found]));
    expect(found.get('CDK bootstrap')).toMatch(/^version \d+; \d+ is needed$/);
    expect(found.get('what CloudFormation must do')).toMatch(/^\d+ actions are allowed/);
    expect(found.get('certificateArn')).toMatch(/days left/);
    expect(found.get('value of configSecretArn')).toBe("is Spinnaker's YAML");
  });

  it('names a missing subnet, a certificate of another region, a deleted secret and a table that was left', {
    timeout,
  }, async () => {
    await using table = await createTable('busdriver-checked-tasks');
    const deletedArn = await createSecret('checked-deleted');
    await deleteSecret(deletedArn);
    const [subnetId] = options['subnetIds']?.split(',') ?? [];
    const rows = await check({
      ...options,
      subnetIds: `${subnetId},subnet-0c0c0c0c`,
      certificateArn: options['certificateArn']?.replace(localRegion, 'eu-west-1') ?? '',
      artifactsSecretArn: deletedArn,
    });

    expect(toMend(rows)).toEqual([
      'subnetIds subnet-0c0c0c0c',
      'certificateArn',
      'artifactsSecretArn checked-deleted',
      `table ${table.name}`,
    ]);
  });

  it('takes an installation that is there for no leftover', { timeout }, async () => {
    const rows = await check(describeTestedInstallation(secretArn));

    const leftovers = rows.filter(({ matter }) => matter === 'leftovers');
    expect(toMend(leftovers)).toEqual([]);
    const stacks = leftovers.filter(({ what }) => what.startsWith('stack busdriver-test-'));
    expect(stacks.map(({ what }) => what)).toContain('stack busdriver-test-api');
    expect(stacks.map(({ found }) => found).filter((found) => !/_COMPLETE/.test(found))).toEqual([]);
    expect(rows.find(({ what }) => what === 'roles of IAM')?.found).toMatch(/ 0 needed$/);
  });
});

/** The VPC that the emulator has from the start, with DNS names and a NAT gateway, as an operator would leave it. */
async function prepareNetwork(): Promise<Options> {
  using client = open(EC2Client);
  const { RouteTables: [table] = [] } = await client.send(new DescribeRouteTablesCommand());
  const { Subnets = [] } = await client.send(new DescribeSubnetsCommand());
  const VpcId = table?.VpcId ?? '';
  const ids = Subnets.filter((subnet) => subnet.VpcId === VpcId).map(({ SubnetId = '' }) => SubnetId);
  await client.send(new ModifyVpcAttributeCommand({ VpcId, EnableDnsHostnames: { Value: true } }));
  const { NatGateway } = await client.send(new CreateNatGatewayCommand({ SubnetId: ids[0] }));
  const NatGatewayId = NatGateway?.NatGatewayId;
  const route = { RouteTableId: table?.RouteTableId, DestinationCidrBlock: '0.0.0.0/0', NatGatewayId };
  await client.send(new CreateRouteCommand(route));
  return { vpcId: VpcId, subnetIds: ids.slice(0, 2).join(',') };
}

/** The emulator's IAM does not know AWS' own policy AdministratorAccess, which CDK's bootstrap gives to this role. */
async function allowAll(RoleName: string): Promise<void> {
  using client = open(IAMClient);
  const Statement = [{ Effect: 'Allow', Action: '*', Resource: '*' }];
  const PolicyDocument = JSON.stringify({ Version: '2012-10-17', Statement });
  await client.send(new PutRolePolicyCommand({ RoleName, PolicyName: 'all', PolicyDocument }));
}

async function requestCertificate(DomainName: string): Promise<string> {
  using client = open(ACMClient);
  const command = new RequestCertificateCommand({ DomainName, ValidationMethod: 'DNS' });
  return (await client.send(command)).CertificateArn ?? '';
}

async function createKey(): Promise<string> {
  using client = open(KMSClient);
  return (await client.send(new CreateKeyCommand())).KeyMetadata?.Arn ?? '';
}

async function createTopic(): Promise<string> {
  using client = open(SNSClient);
  return (await client.send(new CreateTopicCommand({ Name: 'oncall' }))).TopicArn ?? '';
}

async function createSecret(Name: string): Promise<string> {
  using client = open(SecretsManagerClient);
  const SecretString = 'kubernetes: {enabled: true, accounts: []}';
  return (await client.send(new CreateSecretCommand({ Name, SecretString }))).ARN ?? '';
}

async function deleteSecret(SecretId: string): Promise<void> {
  using client = open(SecretsManagerClient);
  await client.send(new DeleteSecretCommand({ SecretId, RecoveryWindowInDays: 7 }));
}

async function createTable(name: string): Promise<{ readonly name: string } & AsyncDisposable> {
  using client = open(DynamoDBClient);
  await client.send(
    new CreateTableCommand({
      TableName: name,
      KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
      AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'S' }],
      BillingMode: 'PAY_PER_REQUEST',
    }),
  );
  return {
    name,
    async [Symbol.asyncDispose]() {
      using last = open(DynamoDBClient);
      await last.send(new DeleteTableCommand({ TableName: name }));
    },
  };
}

/** A client of the emulator that ends with its block. */
function open<T extends { destroy(): void }>(
  Client: new (options: typeof localClientOptions & { readonly endpoint: string }) => T,
): T & Disposable {
  const client = new Client({ ...localClientOptions, endpoint: getDeployment().endpoint });
  return Object.assign(client, { [Symbol.dispose]: () => client.destroy() });
}
