import { RemovalPolicy, SecretValue, Stack, Validations } from 'aws-cdk-lib';
import { Stats } from 'aws-cdk-lib/aws-cloudwatch';
import { AttributeType, BillingMode, Table, TableEncryption } from 'aws-cdk-lib/aws-dynamodb';
import { type IKey, Key } from 'aws-cdk-lib/aws-kms';
import { Secret, type SecretProps } from 'aws-cdk-lib/aws-secretsmanager';
import type { Construct } from 'constructs';
import { type Table as TableRow, tables } from '#platform/aws/tables.ts';
import { alarmPeriod, ServiceAlarm } from '../constructs/service-alarm.ts';
import { shareValue } from '../constructs/shared-values.ts';
import { type Context, toResourceName } from '../context/context.ts';

/** What a secret of ours is made of, and why nothing rotates it. */
type OwnSecretProps = Pick<SecretProps, 'description' | 'secretStringValue' | 'generateSecretString'> & {
  readonly reason: string;
};

/** Letters and digits of the secret that callers share with the API: some 380 bits. */
const sharedSecretLength = 64;

/** Calls that DynamoDB may refuse in five minutes before an alarm rings. */
const throttlesMax = 500;

/** What must not be lost: tables and secrets, and the key that encrypts them. */
export class DataStack extends Stack {
  readonly #key: IKey;
  readonly #context: Context;
  readonly #removalPolicy: RemovalPolicy;

  constructor(scope: Construct, id: string, { context }: { readonly context: Context }) {
    super(scope, id, {
      description: 'Busdriver: tables, secrets and their key',
      terminationProtection: context.protectData,
    });
    this.#context = context;
    this.#removalPolicy = context.protectData ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY;
    this.#key = this.#getKey();
    for (const row of tables) this.#makeTable(row);
    if (context.configSecretArn === undefined) {
      this.#makeSecret('config', {
        description: "Spinnaker's YAML for Busdriver: accounts and settings, as in clouddriver.yml",
        text: '# Put your clouddriver.yml here.\n',
      });
    }
    if (context.artifactsSecretArn === undefined) {
      this.#makeSecret('artifacts', {
        description:
          "Spinnaker's YAML for Busdriver: artifact accounts, as below artifacts in clouddriver.yml",
        text: '# Put the artifacts of your clouddriver.yml here.\n',
      });
    }
    // However callers prove who they are today: so they can be given it before anybody asks for it.
    if (context.authorizerSecretArn === undefined) this.#makeSharedSecret();
  }

  #getKey(): IKey {
    const { encryptionKeyArn } = this.#context;
    if (encryptionKeyArn !== undefined) return Key.fromKeyArn(this, 'Key', encryptionKeyArn);
    const key = new Key(this, 'Key', {
      alias: toResourceName(this.#context, 'data'),
      description: 'Encrypts the tables and secrets of Busdriver',
      enableKeyRotation: true,
      removalPolicy: this.#removalPolicy,
    });
    this.exportValue(key.keyArn);
    shareValue(this, this.#context, { name: 'key-arn', value: key.keyArn });
    return key;
  }

  #makeTable(row: TableRow): void {
    const table = new Table(this, `${row.name}-table`, {
      tableName: toResourceName(this.#context, row.name),
      partitionKey: { name: row.partitionKey, type: AttributeType.STRING },
      sortKey: { name: row.sortKey, type: AttributeType.STRING },
      timeToLiveAttribute: row.ttlAttribute,
      billingMode: BillingMode.PAY_PER_REQUEST,
      encryption: TableEncryption.CUSTOMER_MANAGED,
      encryptionKey: this.#key,
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      deletionProtection: this.#context.protectData,
      removalPolicy: this.#removalPolicy,
    });
    this.#addAlarms(row, table);
    this.exportValue(table.tableArn);
    this.exportValue(table.tableName);
  }

  /** Some refusals a minute are DynamoDB growing; they are repeated, without notice. Many are a partition that is too hot. */
  #addAlarms({ name }: TableRow, table: Table): void {
    for (const [what, metricName] of [
      ['reads', 'ReadThrottleEvents'],
      ['writes', 'WriteThrottleEvents'],
    ] as const) {
      new ServiceAlarm(this, `${name}-throttled-${what}`, {
        context: this.#context,
        name: `table-${name}-throttled-${what}`,
        description: `DynamoDB refuses ${what} of the table ${name} for overload: requests wait, and tasks run late.`,
        metric: table.metric(metricName, { period: alarmPeriod, statistic: Stats.SUM }),
        threshold: throttlesMax,
        periods: 2,
      });
    }
  }

  /**
   * Its value is the operator's: CloudFormation writes it once, and never again as long as the text stays the same here. Another
   * text would take the place of what operators wrote.
   */
  #makeSecret(
    name: 'config' | 'artifacts',
    { description, text }: { description: string; text: string },
  ): void {
    this.#addSecret(name, {
      description,
      secretStringValue: SecretValue.unsafePlainText(text),
      reason: 'It holds a configuration that the operator writes: there is nothing that could rotate it.',
    });
  }

  /** Secrets Manager makes its value up, once; what operators put there later stays. Letters and digits pass in any header. */
  #makeSharedSecret(): void {
    this.#addSecret('authorizer', {
      description: 'What callers of Busdriver send as a bearer token, with authentication=secret',
      generateSecretString: { passwordLength: sharedSecretLength, excludePunctuation: true },
      reason:
        'Callers must change with it: docs/operate.md tells how it is changed without interrupting anybody.',
    });
  }

  #addSecret(name: 'config' | 'artifacts' | 'authorizer', { reason, ...props }: OwnSecretProps): void {
    const secret = new Secret(this, name.charAt(0).toUpperCase() + name.slice(1), {
      ...props,
      secretName: toResourceName(this.#context, name),
      encryptionKey: this.#key,
      removalPolicy: this.#removalPolicy,
    });
    Validations.of(secret).acknowledge({ id: 'AwsSolutions-SMG4', reason });
    if (name !== 'authorizer') this.exportValue(secret.secretArn);
    shareValue(this, this.#context, { name: `${name}-secret-arn`, value: secret.secretArn });
  }
}
