import type { JsonObject } from '#core/json.ts';
import { type InvalidContext, refuseBy, specAccounts } from '#test/support/conformance/operation-spec.ts';

/** How an operation calls itself in errors. */
export interface ErrorNames {
  /** Its name in requests: `scaleManifest`. */
  readonly operation: string;
  /** What Clouddriver's codes begin with: `scaleKubernetesManifest`. */
  readonly code: string;
}

/** Contexts without an account that there is: wrong for every operation. */
export function listBadAccounts({ operation, code }: ErrorNames): InvalidContext[] {
  const byField = refuseBy(operation, ': ');
  const known = Object.values(specAccounts).toSorted().join(', ');
  return [
    refuseBy(`${code}.${code}`)({ account: null }, 'account'),
    {
      change: { account: 'none' },
      error: `${operation}: there is no Kubernetes account 'none'; there are: ${known}`,
      names: 'account',
    },
    byField({ account: ['planted'] }, 'account', 'expected a string, got a list'),
  ];
}

/** A context with a name that has no kind. */
export function noName(change: JsonObject, name: string): InvalidContext {
  const error = `'${name}' is not an object's name of the form 'kind name', as in 'deployment web'`;
  return { change, error, names: `'${name}'` };
}

/** Contexts that are wrong for every operation on one object that `manifestName` and `location` name. */
export function listBadTargets(names: ErrorNames): InvalidContext[] {
  const byField = refuseBy(names.operation, ': ');
  return [
    ...listBadAccounts(names),
    refuseBy(`${names.code}.${names.code}`)({ manifestName: null }, 'manifestName'),
    byField({ manifestName: ['planted'] }, 'manifestName', 'expected a string, got a list'),
    noName({ manifestName: 'web' }, 'web'),
    noName({ manifestName: 'deployment  web' }, 'deployment  web'),
    byField({ location: ['planted'] }, 'location', 'expected a string, got a list'),
    byField({ location: 'a/b' }, 'location', "expected a name without '/' and '%'"),
  ];
}

/** The error for an account that may not use the place. */
export function formatOutside({ code }: Pick<ErrorNames, 'code'>): string {
  return `${code}.${code}.PLACE.wrongNamespace`;
}
