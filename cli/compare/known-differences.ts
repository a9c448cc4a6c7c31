/** A difference between answers of Clouddriver and Busdriver that is meant to be. */
export interface KnownDifference {
  /** In paths of reads that have this in them, such as `/serverGroups`. */
  readonly read: string;
  /** The member that differs, by names from anywhere in the answer: `moniker.cluster`. */
  readonly member: string;
  /** Why, as docs/migrate.md prints it. */
  readonly reason: string;
}

const changes = 'it changes from one read to the next';
const selected =
  'Busdriver shows the pods that a service selects, for every kind, and Clouddriver all of a ReplicaSet';

/** All of them. docs/migrate.md has this table: `npx vitest run test/architecture/tables.test.ts --update` writes it. */
export const knownDifferences: readonly KnownDifference[] = [
  {
    read: '/applications',
    member: 'attributes.cloudProviders',
    reason: 'it names the clouds of all accounts',
  },
  { read: '/credentials', member: 'health', reason: 'Clouddriver does not say how an account is' },
  { read: '/manifests/', member: 'events', reason: changes },
  { read: '/manifests/', member: 'metrics', reason: changes },
  { read: '/manifests/', member: 'metadata.managedFields', reason: changes },
  { read: '/manifests/', member: 'metadata.resourceVersion', reason: changes },
  { read: '/manifests/', member: 'manifest.status', reason: changes },
  {
    read: '/secret',
    member: 'manifest.data',
    reason: 'Busdriver shows the values of Secrets to those who may write',
  },
  { read: '/loadBalancers', member: 'serverGroups', reason: selected },
  { read: '/serverGroups', member: 'loadBalancers', reason: selected },
  { read: '/serverGroups', member: 'disabled', reason: selected },
  { read: '/serverGroups', member: 'isDisabled', reason: selected },
  {
    read: '/serverGroups',
    member: 'buildInfo.images',
    reason: 'Busdriver shows those of a CronJob, too',
  },
  {
    read: '/serverGroups',
    member: 'moniker.cluster',
    reason:
      "a ReplicaSet that Spinnaker did not deploy is in its Deployment's cluster, not in one of its own",
  },
  { read: '/serverGroups', member: 'cluster', reason: 'the same' },
  {
    read: '/securityGroups',
    member: 'portRanges',
    reason: "Clouddriver leaves out the last port of a network policy's range",
  },
  { read: '/search', member: 'totalMatches', reason: 'Busdriver counts all pages, Clouddriver one' },
];

/** Why a difference is meant to be; undefined for one that is not. @param members from the top of the answer */
export function findReason(path: string, members: readonly string[]): string | undefined {
  const at = `.${members.join('.')}.`;
  return knownDifferences.find(({ read, member }) => path.includes(read) && at.includes(`.${member}.`))
    ?.reason;
}
