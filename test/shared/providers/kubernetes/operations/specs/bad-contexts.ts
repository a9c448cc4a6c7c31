import { type InvalidContext, specAccounts } from '../../../../../support/conformance/operation-spec.ts';

/** How an operation calls itself in errors. */
export interface ErrorNames {
  /** Its name in requests: `scaleManifest`. */
  readonly operation: string;
  /** What Clouddriver's codes begin with: `scaleKubernetesManifest`. */
  readonly code: string;
}

/** Contexts without an account that there is: wrong for every operation. */
export function listBadAccounts({ operation, code }: ErrorNames): InvalidContext[] {
  const known = Object.values(specAccounts).toSorted().join(', ');
  return [
    { change: { account: null }, error: `${code}.${code}.account.empty`, names: 'account' },
    {
      change: { account: 'none' },
      error: `${operation}: there is no Kubernetes account 'none'; there are: ${known}`,
      names: 'account',
    },
    {
      change: { account: ['planted'] },
      error: `${operation}: account: expected a string, got a list`,
      names: 'account',
    },
  ];
}

/** Contexts that are wrong for every operation on one object that `manifestName` and `location` name. */
export function listBadTargets(names: ErrorNames): InvalidContext[] {
  const { operation, code } = names;
  return [
    ...listBadAccounts(names),
    { change: { manifestName: null }, error: `${code}.${code}.manifestName.empty`, names: 'manifestName' },
    {
      change: { manifestName: ['planted'] },
      error: `${operation}: manifestName: expected a string, got a list`,
      names: 'manifestName',
    },
    {
      change: { manifestName: 'web' },
      error: "'web' is not an object's name of the form 'kind name', as in 'deployment web'",
      names: "'web'",
    },
    {
      change: { manifestName: 'deployment  web' },
      error: "'deployment  web' is not an object's name of the form 'kind name', as in 'deployment web'",
      names: "'deployment  web'",
    },
    {
      change: { location: ['planted'] },
      error: `${operation}: location: expected a string, got a list`,
      names: 'location',
    },
    {
      change: { location: 'a/b' },
      error: `${operation}: location: expected a name without '/' and '%'`,
      names: 'location',
    },
  ];
}

/** The error for an account that may not use the place. */
export function formatOutside({ code }: Pick<ErrorNames, 'code'>): string {
  return `${code}.${code}.PLACE.wrongNamespace`;
}
