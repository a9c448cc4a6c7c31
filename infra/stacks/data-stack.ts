import { RemovalPolicy, SecretValue, Stack, Validations } from 'aws-cdk-lib';
import { AttributeType, BillingMode, Table, TableEncryption } from 'aws-cdk-lib/aws-dynamodb';
import { type IKey, Key } from 'aws-cdk-lib/aws-kms';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import type { Construct } from 'constructs';
import { type Table as TableRow, tables } from '../../shared/aws/tables.ts';
import type { TableReference } from '../constructs/surroundings.ts';
import { type Context, toResourceName } from '../context.ts';

/** What the stack is made of. */
export interface DataStackProps {
  readonly context: Context;
}

/** What must not be lost: tables and secrets, and the key that encrypts them. */
export class DataStack extends Stack {
  /** Tables by the names of their rows. */
  readonly tables: ReadonlyMap<string, TableReference>;
  readonly key: IKey;
  /** ARN of the secret with Spinnaker's YAML. */
  readonly configSecretArn: string;
  /** ARN of the secret with artifact accounts. */
  readonly artifactsSecretArn: string;
  readonly #context: Context;
  readonly #removalPolicy: RemovalPolicy;

  constructor(scope: Construct, id: string, { context }: DataStackProps) {
    super(scope, id, {
      description: 'Busdriver: tables, secrets and their key',
      terminationProtection: context.protectData,
    });
    this.#context = context;
    this.#removalPolicy = context.protectData ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY;
    this.key = this.#getKey();
    this.tables = new Map(tables.map((row) => [row.name, this.#makeTable(row)]));
    this.configSecretArn =
      context.configSecretArn ??
      this.#makeSecret('config', {
        description: "Spinnaker's YAML for Busdriver: accounts and settings, as in clouddriver.yml",
        text: '# Put your clouddriver.yml here.\n',
      });
    this.artifactsSecretArn =
      context.artifactsSecretArn ??
      this.#makeSecret('artifacts', {
        description:
          "Spinnaker's YAML for Busdriver: artifact accounts, as below artifacts in clouddriver.yml",
        text: '# Put the artifacts of your clouddriver.yml here.\n',
      });
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
    return key;
  }

  #makeTable(row: TableRow): TableReference {
    const table = new Table(this, `${row.name}-table`, {
      tableName: toResourceName(this.#context, row.name),
      partitionKey: { name: row.partitionKey, type: AttributeType.STRING },
      sortKey: { name: row.sortKey, type: AttributeType.STRING },
      timeToLiveAttribute: row.ttlAttribute,
      billingMode: BillingMode.PAY_PER_REQUEST,
      encryption: TableEncryption.CUSTOMER_MANAGED,
      encryptionKey: this.key,
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      deletionProtection: this.#context.protectData,
      removalPolicy: this.#removalPolicy,
    });
    this.exportValue(table.tableArn);
    this.exportValue(table.tableName);
    return table;
  }

  /**
   * Its value is the operator's: CloudFormation writes it once, and never again as long as the text stays the same here. Another
   * text would take the place of what operators wrote.
   */
  #makeSecret(name: string, { description, text }: { description: string; text: string }): string {
    const secret = new Secret(this, name.charAt(0).toUpperCase() + name.slice(1), {
      secretName: toResourceName(this.#context, name),
      description,
      secretStringValue: SecretValue.unsafePlainText(text),
      encryptionKey: this.key,
      removalPolicy: this.#removalPolicy,
    });
    Validations.of(secret).acknowledge({
      id: 'AwsSolutions-SMG4',
      reason: 'It holds a configuration that the operator writes: there is nothing that could rotate it.',
    });
    this.exportValue(secret.secretArn);
    return secret.secretArn;
  }
}
