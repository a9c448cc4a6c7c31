import { parseArgs } from 'node:util';

/** What a run measures unless told otherwise: the rows that other servers have, too, and the first fill. */
const usualParts = ['starts', 'deploys', 'load', 'reads', 'fill'] as const;

const parts = [
  ...usualParts,
  ...(['cycles', 'imports', 'calls', 'accounts', 'images', 'artifacts', 'v1', 'agents'] as const),
];

/** Modes of the cache: what an account has that says nothing of it, or one that it names. */
const modes = ['default', 'interval', 'stream'] as const;

export type BenchMode = (typeof modes)[number];

export type BenchPart = (typeof parts)[number];

/** Any server with Clouddriver's API that already runs, and knows the control plane of `--cluster`. */
export interface PeerOptions {
  readonly name: string;
  readonly url: string;
  /** Its process on this machine: without it nothing is known of its memory and its processor time. */
  readonly pid?: number;
  /** Its account of that control plane. Default: its first one of Kubernetes. */
  readonly account?: string;
}

export interface BenchOptions {
  readonly help: boolean;
  /** What is measured instead of the rows; undefined: the rows. */
  readonly instead?: 'bundles' | 'units';
  readonly samples: number;
  readonly starts: number;
  readonly modes: readonly BenchMode[];
  readonly peers: readonly PeerOptions[];
  readonly only: readonly BenchPart[];
  /** Folder of a control plane that runs; undefined: one of its own. */
  readonly cluster?: string;
  readonly write: boolean;
  readonly json: boolean;
}

export const benchHelp = `npm run bench -- [options]

Measures Busdriver from outside, over HTTP on kept connections, as Orca and Gate call it, against a real control plane on this
machine. Prints each row as soon as it is measured, then all of them as a table. Absolute times wander on shared machines:
compare rows with the floor and with the other servers of the same run.

Options:
  --samples N          samples of each timed row (default 60)
  --starts N           starts of the whole system (default 5)
  --modes LIST         modes of the cache: ${modes.join(', ')}, or none for peers alone (default interval,stream)
  --only LIST          parts alone: ${parts.join(', ')} (default ${usualParts.join(',')})
  --cluster DIR        a control plane that runs, by 'npm run cluster -- --dir DIR' (default: one of its own)
  --peer NAME=URL      any server with Clouddriver's API that already runs: the same rows (repeatable; needs --cluster)
  --peer-pid NAME=PID  its process, for its processor time and its memory
  --peer-account NAME=ACCOUNT  its account of that control plane (default: its first one of Kubernetes)
  --write              write the run into docs/benchmarks.md, row by row
  --json               print the run as JSON, at its end, and nothing else
  --bundles            the functions' bundles instead: needs no control plane
  --units              units of DynamoDB that caching costs instead: what 'npm run cost' takes
  --help               this text
`;

/**
 * Parses the arguments of the command.
 *
 * @throws Error that names the option, with what was expected
 */
export function parseBenchOptions(args: readonly string[]): BenchOptions {
  const { values } = parse(args);
  const instead = (['bundles', 'units'] as const).filter((name) => values[name]);
  if (instead.length > 1) throw new Error(`--${instead.join(', --')}: expected one of them`);
  const peers = parsePeers(values);
  if (peers.length > 0 && values.cluster === undefined) {
    throw new Error('--peer: expected --cluster as well, whose control plane the peer knows');
  }
  const modes = parseModes(values.modes ?? 'interval,stream');
  if (modes.length + peers.length === 0) throw new Error('--modes: expected a mode, or a --peer');
  return {
    help: values.help ?? false,
    ...(instead[0] && { instead: instead[0] }),
    samples: parseNumber('samples', values.samples ?? '60', { least: 1, most: 10_000 }),
    starts: parseNumber('starts', values.starts ?? '5', { least: 1, most: 1_000 }),
    modes,
    peers,
    only: parseList('only', values.only ?? usualParts.join(','), parts),
    ...(values.cluster !== undefined && { cluster: values.cluster }),
    write: values.write ?? false,
    json: values.json ?? false,
  };
}

function parse(args: readonly string[]) {
  const text = { type: 'string' } as const;
  const texts = { type: 'string', multiple: true } as const;
  const toggle = { type: 'boolean' } as const;
  return parseArgs({
    args: [...args],
    options: {
      ...{ samples: text, starts: text, modes: text, only: text, cluster: text },
      ...{ peer: texts, 'peer-pid': texts, 'peer-account': texts },
      ...{ write: toggle, json: toggle, bundles: toggle, units: toggle, help: toggle },
    },
  });
}

function parseModes(list: string): readonly BenchMode[] {
  return list === 'none' ? [] : parseList('modes', list, modes);
}

function parseList<T extends string>(option: string, list: string, known: readonly T[]): T[] {
  const names = list.split(',');
  const unknown = names.find((name) => !known.some((each) => each === name));
  if (unknown !== undefined)
    throw new Error(`--${option}: expected some of ${known.join(', ')}, not '${unknown}'`);
  return known.filter((each) => names.includes(each));
}

interface PeerValues {
  readonly peer?: readonly string[] | undefined;
  readonly 'peer-pid'?: readonly string[] | undefined;
  readonly 'peer-account'?: readonly string[] | undefined;
}

function parsePeers(values: PeerValues): PeerOptions[] {
  const urls = parsePairs('peer', values.peer);
  const pids = parsePairs('peer-pid', values['peer-pid'], urls);
  const accounts = parsePairs('peer-account', values['peer-account'], urls);
  return [...urls].map(([name, url]) => {
    const pid = pids.get(name);
    const account = accounts.get(name);
    return {
      name,
      url: parseUrl(url),
      ...(pid !== undefined && { pid: parseNumber('peer-pid', pid, { least: 1, most: 2 ** 31 }) }),
      ...(account !== undefined && { account }),
    };
  });
}

/** `NAME=VALUE` by name. Values of options beside `--peer` must be of a peer. */
function parsePairs(
  option: string,
  texts: readonly string[] = [],
  peers?: ReadonlyMap<string, string>,
): Map<string, string> {
  const pairs = new Map<string, string>();
  for (const text of texts) {
    // The name stands in a cell of a table.
    const [, name, value] = /^([\w .-]{1,40})=(.+)$/.exec(text) ?? [];
    if (name === undefined || value === undefined)
      throw new Error(`--${option}: expected NAME=VALUE, with letters, digits, '.', '-' and '_' in NAME`);
    if (pairs.has(name)) throw new Error(`--${option}: ${name} is given twice`);
    if (peers !== undefined && !peers.has(name)) throw new Error(`--${option}: there is no --peer ${name}=…`);
    pairs.set(name, value);
  }
  return pairs;
}

function parseUrl(text: string): string {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol) || url.search !== '' || url.hash !== '') {
    throw new Error(`--peer: expected an address such as http://127.0.0.1:7002, not '${text}'`);
  }
  return url.href.replace(/\/$/, '');
}

function parseNumber(option: string, text: string, { least, most }: { least: number; most: number }): number {
  const value = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= least && value <= most) return value;
  throw new Error(`--${option}: expected a whole number from ${least} to ${most}, not '${text}'`);
}
