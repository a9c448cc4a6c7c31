import { FailedOperationError } from '#core/errors.ts';
import { formatPacket, notGit, type Packet, readPackets } from './packets.ts';

/** One request of git's protocol. */
export interface GitRequest {
  readonly body: string;
  /** Whether no request comes behind it that belongs to the same conversation. */
  readonly isLast: boolean;
}

/** Calls `git-upload-pack` of one repository. */
export interface GitTransport {
  /** What the server says first: what it can do, and its refs if it speaks an old version. */
  advertise(signal: AbortSignal): Promise<AsyncIterable<Uint8Array>>;
  /** What it answers. Behind a last request, the next one begins a conversation of its own. */
  request(request: GitRequest, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>>;
}

/** What a server says of a repository. */
export interface RemoteRefs {
  /** Version of the protocol that the server speaks. */
  readonly version: 0 | 2;
  /** What it can do, by name, with what stands behind `=`. */
  readonly capabilities: ReadonlyMap<string, string>;
  /** The ids of those refs that were asked for, by name: branches, tags, `HEAD`. */
  readonly refs: ReadonlyMap<string, string>;
}

/** Which refs are of interest. */
export interface RefQuery {
  /** Their names begin with one of these. */
  readonly prefixes: readonly string[];
  readonly isWanted: (name: string) => boolean;
}

/** Most refs that are kept. */
export const refsMax = 50_000;

/** Most lines that a server says of refs, wanted or not. */
const refLinesMax = 2_000_000;

/**
 * Asks for the refs of a repository, by version 2 of git's protocol, or by the one before where the server does not know it.
 *
 * @throws FailedOperationError when the answer is not git's, or the repository has ids of SHA-256.
 */
export async function listRefs(
  transport: GitTransport,
  query: RefQuery,
  signal: AbortSignal,
): Promise<RemoteRefs> {
  const advertised = await readAdvertisement(await transport.advertise(signal), query);
  assertSha1(advertised.capabilities);
  if (advertised.version === 0) return advertised;
  const { capabilities } = advertised;
  const lines = [formatPacket('command=ls-refs'), formatObjectFormat(capabilities), '0001'];
  const prefixes = query.prefixes.map((prefix) => formatPacket(`ref-prefix ${prefix}`));
  const body = [...lines, ...prefixes, '0000'].join('');
  const collector = new RefCollector(query);
  for await (const packet of readPackets(await transport.request({ body, isLast: false }, signal))) {
    if (packet.kind !== 'data') break;
    collector.add(toLine(packet));
  }
  return { version: 2, capabilities, refs: collector.refs };
}

/** The line that tells the kind of ids, where the server knows it. */
export function formatObjectFormat(capabilities: ReadonlyMap<string, string>): string {
  return capabilities.has('object-format') ? formatPacket('object-format=sha1') : '';
}

/** The text of a line. @throws FailedOperationError when the server tells an error by it, whose text stays out. */
export function toLine({ data }: Packet): string {
  const line = data.toString('utf8').replace(/\n$/, '');
  if (line.startsWith('ERR ')) throw new RefusedByServerError('The git server refused the request');
  return line;
}

/** The server told, in git's protocol, that it does not do what it was asked. */
export class RefusedByServerError extends FailedOperationError {
  override name = 'RefusedByServerError';
}

function assertSha1(capabilities: ReadonlyMap<string, string>): void {
  const format = capabilities.get('object-format') ?? 'sha1';
  if (format === 'sha1') return;
  throw new FailedOperationError('The repository has ids of SHA-256, which cannot be read: only SHA-1 can');
}

/** Reads what a server says first; over HTTP a line about the service stands before it. */
async function readAdvertisement(body: AsyncIterable<Uint8Array>, query: RefQuery): Promise<RemoteRefs> {
  const collector = new RefCollector(query);
  let capabilities: ReadonlyMap<string, string> | undefined;
  let version: 0 | 2 = 0;
  for await (const packet of readPackets(body)) {
    if (packet.kind === 'flush' && capabilities === undefined) continue;
    if (packet.kind !== 'data') break;
    const line = toLine(packet);
    if (line.startsWith('# service=') || line === 'version 1') continue;
    if (line === 'version 2') version = 2;
    if (version === 2) capabilities = addCapability(capabilities, line);
    else capabilities ??= readCapabilities(line);
    if (version === 0) collector.add(line);
  }
  if (capabilities === undefined) throw notGit();
  return { version, capabilities, refs: collector.refs };
}

function addCapability(
  known: ReadonlyMap<string, string> | undefined,
  line: string,
): ReadonlyMap<string, string> {
  const [name = '', ...value] = line.split('=');
  if ((known?.size ?? 0) > capabilitiesMax) throw notGit();
  return new Map([...(known ?? []), [name, value.join('=')]]);
}

const capabilitiesMax = 100;

/** The capabilities behind the first ref. */
function readCapabilities(line: string): ReadonlyMap<string, string> {
  const [ref = '', listed = ''] = line.split('\0', 2);
  if (!refPattern.test(ref)) throw notGit();
  const entries = listed.split(' ').slice(0, capabilitiesMax);
  return new Map(
    entries.map((entry) => {
      const [name = '', ...value] = entry.split('=');
      return [name, value.join('=')];
    }),
  );
}

const refPattern = /^([0-9a-f]{40}) ([^ ]+)/;

class RefCollector {
  readonly #query: RefQuery;
  readonly #refs = new Map<string, string>();
  #lines = 0;

  constructor(query: RefQuery) {
    this.#query = query;
  }

  get refs(): ReadonlyMap<string, string> {
    return this.#refs;
  }

  /** Adds a ref by its line; what follows its name is of no interest. */
  add(line: string): void {
    this.#lines += 1;
    if (this.#lines > refLinesMax) throw new FailedOperationError('The repository has too many refs');
    const [, id, name] = refPattern.exec(line.split('\0', 1)[0] ?? '') ?? [];
    if (id === undefined || name === undefined || !this.#query.isWanted(name)) return;
    if (this.#refs.size >= refsMax) {
      throw new FailedOperationError(`The repository has more than ${refsMax} branches and tags`);
    }
    this.#refs.set(name, id);
  }
}
