import { evaluate, type Values } from './formula.ts';

/** Another Clouddriver, as large as people said that theirs is. */
export interface Peer {
  readonly name: string;
  /** Accounts of the installation that was told of. */
  readonly accounts: number;
  /** Processors that it took there, each with up to 4 GB. */
  readonly processors: number;
  /** GB of memory that it took there. */
  readonly gb: number;
  /** The fewest processors that anybody would give it. */
  readonly processorsLeast: number;
  /** Who said so, where. */
  readonly source: string;
  readonly address: string;
}

const homeDepot =
  'https://blog.spinnaker.io/go-clouddriver-scaling-spinnaker-to-1000-kubernetes-clusters-at-the-home-depot-c2dc1a05be8e';

/** What was published. Nobody published a bill. */
export const peers = {
  clouddriverLow: {
    name: 'Clouddriver, the smaller figure',
    accounts: 500,
    processors: 100,
    gb: 250,
    processorsLeast: 2,
    source: 'The Home Depot, 2022: some 500 Kubernetes accounts on about 100 processors and 250 GB',
    address: homeDepot,
  },
  clouddriverHigh: {
    name: 'Clouddriver, the larger figure',
    accounts: 210,
    processors: 122,
    gb: 158,
    processorsLeast: 2,
    source: 'an issue of 2023: 210 clusters on 122 processors and 158 GB',
    address: 'https://github.com/spinnaker/spinnaker/issues/6892',
  },
  goClouddriver: {
    name: 'go-clouddriver',
    accounts: 500,
    processors: 5,
    gb: 12.5,
    processorsLeast: 1,
    source: 'its README and The Home Depot, 2022: 95 % less than the above, or better still',
    address: homeDepot,
  },
} as const satisfies { readonly [name: string]: Peer };

/** GB of memory that come with a processor. */
const gbOfProcessor = 4;

/** Processors for so many accounts, in proportion to what was told; memory may ask for more than computing does. */
export function countProcessors(peer: Peer, accounts: number): number {
  const { processors, gb, processorsLeast } = peer;
  const needed = Math.max(processors, gb / gbOfProcessor) * (accounts / peer.accounts);
  return Math.max(processorsLeast, needed);
}

/** US dollars a month for processors with their memory, and for the smallest database that survives a zone. */
export function reckonPeer(peer: Peer, accounts: number, values: Values): number {
  const own = new Map([...values, ['processors', countProcessors(peer, accounts)]]);
  return evaluate(peerFormula, own);
}

/** What others cost: they run all the time, whether anything changes or not. */
export const peerFormula = 'processors × hours × processorHour + hours × databaseHour';

const asItWas = 'as it was';
const nothing = 'nothing';
const finished = 'is finished by another';

/** What each does, without numbers of dollars: Busdriver adaptive, in use all day and watched, Clouddriver, go-clouddriver. */
export const peerRows: readonly (readonly string[])[] = [
  [
    'what a view shows is',
    'up to 31 s old; at the first look up to 5 minutes',
    'up to 31 s old',
    'about 1 s old',
    '30 s and the cycle old: 40 s to minutes',
    'live',
  ],
  [
    'what a view costs clusters',
    nothing,
    nothing,
    nothing,
    nothing,
    'lists in every account of the application, for each reader',
  ],
  ['a view of a cluster that is away', asItWas, asItWas, asItWas, asItWas, 'lacks it, or fails'],
  [
    'an accepted deploy whose process dies',
    finished,
    finished,
    finished,
    'stays unfinished',
    'is lost with its request',
  ],
  [
    'a cached account whose worker dies',
    'waits for its lease: 60 to 75 s',
    'the same',
    'waits for its lease of 45 s, and a minute',
    'waits for its lock: 5 minutes',
    'nothing is cached',
  ],
  [
    'clouds',
    'Kubernetes',
    'Kubernetes',
    'Kubernetes',
    "all of Spinnaker's",
    'Kubernetes; a Clouddriver beside it for the rest, which is not in its price',
  ],
];
