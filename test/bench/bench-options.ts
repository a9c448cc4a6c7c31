import {
  formatHelp,
  many,
  one,
  optional,
  type Parse,
  parseOptions,
  read,
  toggle,
  UsageError,
  type Values,
} from '#infra/options.ts';

/** What a run measures unless told otherwise: the rows that other servers have, too, and the first fill. */
const usualParts = ['starts', 'deploys', 'load', 'reads', 'fill'] as const;

const parts = [
  ...usualParts,
  ...(['cycles', 'imports', 'calls', 'accounts', 'images', 'artifacts', 'v1', 'agents', 'deployed'] as const),
];

/** Modes of the cache: what an account has that says nothing of it, or one that it names. */
const cacheModes = ['default', 'interval', 'stream'] as const;

export type BenchMode = (typeof cacheModes)[number];

export type BenchPart = (typeof parts)[number];

/** Any server with Clouddriver's API that already runs, and knows the control plane of `--cluster`. */
export interface PeerOptions {
  readonly name: string;
  readonly url: string;
  /** Its process on this machine: without it nothing is known of its memory and its processor time. */
  readonly pid?: number | undefined;
  /** Its account of that control plane. Default: its first one of Kubernetes. */
  readonly account?: string | undefined;
}

const options = {
  samples: one('--samples <N>=60', 'samples of each timed row', read.number(1, 10_000)),
  starts: one('--starts <N>=5', 'starts of the whole system', read.number(1, 1_000)),
  modes: one(
    '--modes <LIST>=interval,stream',
    `modes of the cache: ${cacheModes.join(', ')}, or none for peers alone`,
    (text, flag) => (text === 'none' ? [] : read.someOf(cacheModes)(text, flag)),
  ),
  only: one(`--only <LIST>=${usualParts.join(',')}`, `parts alone: ${parts.join(', ')}`, read.someOf(parts)),
  /** Folder of a control plane that runs. */
  cluster: optional(
    '--cluster <DIR>',
    "a control plane that runs, by 'npm run cluster -- --dir DIR' (default: one of its own)",
    read.text,
  ),
  urls: many(
    '--peer <NAME=URL>',
    "any server with Clouddriver's API that already runs: the same rows; needs --cluster",
    toPair(parseUrl),
  ),
  pids: many(
    '--peer-pid <NAME=PID>',
    'its process, for its processor time and its memory',
    toPair(read.number(1, 2 ** 31)),
  ),
  accounts: many(
    '--peer-account <NAME=ACCOUNT>',
    'its account of that control plane (default: its first one of Kubernetes)',
    toPair(read.text),
  ),
  write: toggle('--write', 'write the run into docs/benchmarks.md, row by row'),
  json: toggle('--json', 'print the run as JSON, at its end, and nothing else'),
  bundles: toggle('--bundles', "the functions' bundles instead: needs no control plane"),
  units: toggle('--units', "units of DynamoDB that caching costs instead: what 'npm run cost' takes"),
};

type Given = Values<typeof options>;

export interface BenchOptions extends Omit<Given, 'urls' | 'pids' | 'accounts' | 'bundles' | 'units'> {
  /** What is measured instead of the rows; undefined: the rows. */
  readonly instead?: 'bundles' | 'units' | undefined;
  readonly peers: readonly PeerOptions[];
}

const program = {
  name: 'npm run bench --',
  about:
    'Measures Busdriver from outside, over HTTP on kept connections, as Orca and Gate call it, against a real control plane on this ' +
    'machine. Prints each row as soon as it is measured, then all of them as a table. Absolute times wander on shared machines: ' +
    'compare rows with the floor and with the other servers of the same run.',
  options,
};

export const benchHelp = `${formatHelp(program)}\n`;

/**
 * Parses the arguments of the command.
 *
 * @throws UsageError that names the option, with what was expected
 */
export function parseBenchOptions(args: readonly string[]): BenchOptions {
  const { urls, pids, accounts, bundles, units, ...rest } = parseOptions(program, args);
  if (bundles && units) throw new UsageError('--bundles, --units: expected one of them');
  const peers = joinPeers({ urls, pids, accounts });
  if (peers.length > 0 && rest.cluster === undefined) {
    throw new UsageError('--peer: expected --cluster as well, whose control plane the peer knows');
  }
  if (rest.modes.length + peers.length === 0) throw new UsageError('--modes: expected a mode, or a --peer');
  return { ...rest, peers, instead: bundles ? 'bundles' : units ? 'units' : undefined };
}

function joinPeers(given: Pick<Given, 'urls' | 'pids' | 'accounts'>): PeerOptions[] {
  const urls = toMap('--peer', given.urls);
  const pids = toMap('--peer-pid', given.pids, urls);
  const accounts = toMap('--peer-account', given.accounts, urls);
  return [...urls].map(([name, url]) => ({
    ...{ name, url, pid: pids.get(name), account: accounts.get(name) },
  }));
}

/** Values by name. Those of options beside `--peer` must be of a peer. */
function toMap<T>(
  flag: string,
  pairs: readonly (readonly [string, T])[],
  peers?: ReadonlyMap<string, string>,
): Map<string, T> {
  for (const [index, [name]] of pairs.entries()) {
    if (pairs.slice(0, index).some(([earlier]) => earlier === name))
      throw new UsageError(`${flag}: ${name} is given twice`);
    if (peers?.has(name) === false) throw new UsageError(`${flag}: there is no --peer ${name}=…`);
  }
  return new Map(pairs);
}

/** `NAME=VALUE`. */
function toPair<T>(parse: Parse<T>): Parse<readonly [string, T]> {
  return (text, flag) => {
    // The name stands in a cell of a table.
    const [, name, value] = /^([\w .-]{1,40})=(.+)$/.exec(text) ?? [];
    if (name !== undefined && value !== undefined) return [name, parse(value, flag)];
    throw new UsageError(`${flag}: expected NAME=VALUE, with letters, digits, '.', '-' and '_' in NAME`);
  };
}

function parseUrl(text: string, flag: string): string {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol) || url.search !== '' || url.hash !== '') {
    throw new UsageError(`${flag}: expected an address such as http://127.0.0.1:7002, not '${text}'`);
  }
  return url.href.replace(/\/$/, '');
}
