import { InvalidInputError } from '#core/errors.ts';
import type { EcrRegistry } from '#platform/ports/ecr.ts';
import { settingsField, stringField } from '#settings/coerce.ts';

/** Hosts of private registries, those of FIPS and of dual stacks included. */
const registryHost = /^(\d{12})\.dkr[.-]ecr(?:-fips)?\.([a-z\d-]+)\.(?:amazonaws\.com(?:\.cn)?|on\.aws)$/;

/** The options of `ecr`, each with what it must look like. */
const forms = {
  registryId: { form: /^\d{12}$/, expected: 'the 12 digits of an AWS account, in quotes' },
  region: { form: /^[a-z]{2,}(-[a-z]+)+-\d{1,2}$/, expected: 'a region of AWS, such as eu-west-1' },
  roleArn: {
    form: /^arn:aws[a-z-]*:iam::\d{12}:role\/[\w+=,.@/-]+$/,
    expected: 'the ARN of a role, such as arn:aws:iam::123456789012:role/registry',
  },
  externalId: { form: /^[\w+=,.@:/-]{2,1224}$/, expected: 'an external id of STS' },
} as const;

/** How a registry of ECR is reached; Busdriver's own. */
export const ecrField = settingsField({
  registryId: stringField(),
  region: stringField(),
  roleArn: stringField(),
  externalId: stringField(),
});

type EcrFields = Partial<Record<keyof typeof forms, string | undefined>>;

/** What says that an account is one of ECR. */
export interface EcrOptions {
  readonly ecr?: EcrFields | undefined;
  /** Whether the account has a password, or says where one is. */
  readonly hasPassword: boolean;
}

/**
 * The registry of ECR that an account is of: its address is one of ECR's and it has no password, or it has options of ECR. Undefined for
 * an account of another registry.
 *
 * @param host that of the address, in lower case
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
