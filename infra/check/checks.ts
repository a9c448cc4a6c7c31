import { listResourceChecks } from './account-resources.ts';
import { listDomainChecks } from './domain.ts';
import { listEndpointChecks } from './endpoint.ts';
import { listIdentityChecks } from './identity.ts';
import { listKeyChecks } from './key.ts';
import { listLeftoverChecks } from './leftovers.ts';
import { listPermissionChecks } from './permissions.ts';
import { listQuotaChecks } from './quotas.ts';
import type { Check } from './rows.ts';
import { listSecretChecks } from './secrets.ts';
import type { Subject } from './subject.ts';
import { listVpcChecks } from './vpc.ts';

/** What the operator leaves to the check. */
export interface CheckChoices {
  /** Whether it may read what is in secrets. */
  readonly readsValues: boolean;
  readonly now: Date;
}

/** Everything that is looked at, in the order of the report. */
export function listChecks(subject: Subject, { readsValues, now }: CheckChoices): readonly Check[] {
  return [
    ...listIdentityChecks(subject),
    ...listPermissionChecks(subject),
    ...listVpcChecks(subject),
    ...listEndpointChecks(subject),
    ...listDomainChecks(subject, now),
    ...listKeyChecks(subject),
    ...listSecretChecks(subject, readsValues),
    ...listResourceChecks(subject),
    ...listQuotaChecks(subject),
    ...listLeftoverChecks(subject),
  ];
}
