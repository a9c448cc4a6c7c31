import { isSecretReference } from '#settings/secret-reference.ts';
import type { EksCluster } from '../eks/eks-service.ts';
import type { AccountFields } from './account-fields.ts';

/** An account's setting `eks`, as written. */
type EksFields = { readonly cluster: string } & Partial<NonNullable<AccountFields['eks']>>;

/** What AWS accepts for each field. */
const rules: readonly { field: keyof EksFields; pattern: RegExp; expected: string }[] = [
  {
    field: 'cluster',
    pattern: /^[0-9A-Za-z][\w-]{0,99}$/,
    expected: "an EKS cluster's name of up to 100 letters, digits, - and _",
  },
  { field: 'region', pattern: /^[a-z]+(-[a-z]+)+-\d+$/, expected: 'a region such as eu-west-1' },
  {
    field: 'roleArn',
    pattern: /^arn:aws[\w-]*:iam::\d{12}:role\/[\w+=,.@/-]+$/,
    expected: 'arn:aws:iam::<account>:role/<name>',
  },
  {
    field: 'sessionName',
    pattern: /^[\w+=,.@-]{2,64}$/,
    expected: '2 to 64 letters, digits and characters of =,.@-_+',
  },
  {
    field: 'externalId',
    pattern: /^[\w+=,.@:/-]{2,1224}$/,
    expected: '2 to 1224 letters, digits and characters of =,.@:/-_+',
  },
];

/** What is wrong with the setting, each a sentence that begins with the path of the field and shows no value. */
export function findEksViolations(eks: EksFields): readonly string[] {
  const violations = rules
    .filter(({ field, pattern }) => eks[field] && !pattern.test(eks[field]))
    // AWS judges what a secret holds.
    .filter(({ field }) => field !== 'externalId' || !isSecretReference(eks[field] ?? ''))
    .map(({ field, expected }) => `eks.${field}: expected ${expected}`);
  if (eks.cluster.trim() === '') violations.push('eks.cluster: expected a name, got an empty string');
  for (const field of ['sessionName', 'externalId'] as const) {
    if (eks[field] && !eks.roleArn) violations.push(`eks.${field}: expected only beside roleArn`);
  }
  return violations;
}

/** The cluster that the setting names. */
export function toEksCluster({ cluster, region, roleArn, sessionName, externalId }: EksFields): EksCluster {
  return {
    name: cluster,
    region: region || undefined,
    roleArn: roleArn || undefined,
    sessionName: sessionName || undefined,
    externalId: externalId || undefined,
  };
}
