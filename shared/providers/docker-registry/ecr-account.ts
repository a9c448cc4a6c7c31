import { InvalidInputError } from '#core/errors.ts';
import type { AwsIdentity } from '#platform/ports/aws.ts';
import { settingsField, stringField } from '#settings/coerce.ts';

/** A private registry of Amazon ECR, and the identity that reads it. */
export interface EcrRegistry extends Pick<AwsIdentity, 'roleArn' | 'externalId'> {
  /** The AWS account that it belongs to, 12 digits. */
  readonly registryId: string;
  readonly region: string;
}

/** Hosts of private registries, including FIPS and dual-stack endpoints. */
const registryHost = /^(\d{12})\.dkr[.-]ecr(?:-fips)?\.([a-z\d-]+)\.(?:amazonaws\.com(?:\.cn)?|on\.aws)$/;

/** The options of `ecr`, each with its form. */
const forms = {
  registryId: { form: /^\d{12}$/, expected: 'the 12 digits of an AWS account, in quotes' },
  region: { form: /^[a-z]{2,}(-[a-z]+)+-\d{1,2}$/, expected: 'a region of AWS, such as eu-west-1' },
  roleArn: {
    form: /^arn:aws[a-z-]*:iam::\d{12}:role\/[\w+=,.@/-]+$/,
    expected: 'the ARN of a role, such as arn:aws:iam::123456789012:role/registry',
  },
  externalId: { form: /^[\w+=,.@:/-]{2,1224}$/, expected: 'an external id of STS' },
} as const;

/** How to reach an ECR registry; Busdriver's own option. */
export const ecrField = settingsField({
  registryId: stringField(),
  region: stringField(),
  roleArn: stringField(),
  externalId: stringField(),
});

/** Names of the options of `ecr`. */
export const ecrOptions: readonly string[] = Object.keys(forms);

type EcrFields = Partial<Record<keyof typeof forms, string | undefined>>;

/** Whether a host is that of a private registry of Amazon ECR. @param host in lower case */
export function isEcrHost(host: string): boolean {
  return registryHost.test(host);
}

/** The fields that identify an account as ECR's. */
interface EcrOptions {
  readonly ecr?: EcrFields | undefined;
  /** Whether the account has a password, or refers to one. */
  readonly hasPassword: boolean;
}

/**
 * The ECR registry of an account whose address is ECR's and that has no password, or that has ECR's options. Undefined for an account of
 * another registry.
 *
 * @param host host of the address, in lower case
 * @throws InvalidInputError
 */
export function findEcrRegistry(
  host: string,
  { ecr, hasPassword }: EcrOptions,
  at: string,
): EcrRegistry | undefined {
  const [, registryId, region] = registryHost.exec(host) ?? [];
  if (ecr === undefined && (registryId === undefined || hasPassword)) return undefined;
  if (hasPassword) throw new InvalidInputError(`${at}: ecr and a password may not be specified together.`);
  const { roleArn, externalId } = ecr ?? {};
  return {
    registryId: check('registryId', ecr?.registryId || registryId || '', at),
    region: check('region', ecr?.region || region || '', at),
    ...(roleArn && { roleArn: check('roleArn', roleArn, at) }),
    ...(externalId && { externalId: check('externalId', externalId, at) }),
  };
}

function check(option: keyof typeof forms, value: string, at: string): string {
  const { form, expected } = forms[option];
  if (form.test(value)) return value;
  throw new InvalidInputError(`${at}.ecr.${option}: expected ${expected}`);
}
