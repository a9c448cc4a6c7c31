import { listDomainChecks } from './domain.ts';
import { listEndpointChecks } from './endpoint.ts';
import { listIdentityChecks } from './identity.ts';
import { listLeftoverChecks } from './leftovers.ts';
import { listNetworkChecks } from './network.ts';
import { listPermissionChecks } from './permissions.ts';
import { listQuotaChecks } from './quotas.ts';
import { listKeyChecks, listResourceChecks } from './resources.ts';
import { type Check, type Row, runCheck } from './rows.ts';
import { listSecretChecks } from './secrets.ts';
import type { Subject } from './subject.ts';

/**
 * Looks at everything, all at once.
 *
 * @param readsValues whether it may read what is in secrets
 * @returns the rows in the order of the report
 */
export async function runChecks(subject: Subject, readsValues: boolean): Promise<Row[]> {
  const matters: { readonly [matter: string]: readonly Check[] } = {
    account: listIdentityChecks(subject),
    permissions: listPermissionChecks(subject),
    network: listNetworkChecks(subject),
    endpoint: listEndpointChecks(subject),
    domain: listDomainChecks(subject),
    key: listKeyChecks(subject),
    secrets: listSecretChecks(subject, readsValues),
    'named by options': listResourceChecks(subject),
    quotas: listQuotaChecks(subject),
    leftovers: listLeftoverChecks(subject),
  };
  const rows = Object.entries(matters).flatMap(([matter, checks]) =>
    checks.map((check) => runCheck(matter, check)),
  );
  return (await Promise.all(rows)).flat();
}
