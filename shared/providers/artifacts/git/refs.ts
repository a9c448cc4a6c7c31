import { FailedOperationError } from '#core/errors.ts';
import { formatPacket, notGit, type Packet, readPackets } from './packets.ts';

/** One request of git's protocol. */
interface GitRequest {
  readonly body: string;
  /** Whether no further request of the same conversation follows. */
  readonly isLast: boolean;
}

/** Calls `git-upload-pack` of one repository. */
export interface GitTransport {
  /** The server's first message: its capabilities, and its refs if it uses an old version. */
  advertise(signal: AbortSignal): Promise<AsyncIterable<Uint8Array>>;
  /** Sends a request, and returns the answer. After a last request, the next one begins a new conversation. */
  request(request: GitRequest, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>>;
}

/** A server's description of a repository. */
export interface RemoteRefs {
  /** Version of the protocol that the server speaks. */
  readonly version: 0 | 2;
  /** Its capabilities by name, with the text after `=`. */
  readonly capabilities: ReadonlyMap<string, string>;
  /** The ids of the requested refs, by name: branches, tags, `HEAD`. */
  readonly refs: ReadonlyMap<string, string>;
}

/** The wanted refs. */
interface RefQuery {
  /** Their names begin with one of these. */
  readonly prefixes: readonly string[];
  readonly isWanted: (name: string) => boolean;
}

/** The most refs that are kept. */
export const refsMax = 50_000;

/** The most lines of refs from a server, wanted or not. */
const refLinesMax = 2_000_000;

/**
 * Requests the refs of a repository, by version 2 of git's protocol, or by the previous one if the server does not support it.
 *
 * @throws FailedOperationError if the answer is not git's, or the repository uses SHA-256 ids.
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

/** The line for the kind of ids, if the server supports it. */
export function formatObjectFormat(capabilities: ReadonlyMap<string, string>): string {
  return capabilities.has('object-format') ? formatPacket('object-format=sha1') : '';
}

/** The text of a line. @throws FailedOperationError if it is an error of the server, whose text is left out. */
export function toLine({ data }: Packet): string {
  const line = data.toString('utf8').replace(/\n$/, '');
  if (line.startsWith('ERR ')) throw new RefusedByServerError('The git server refused the request');
  return line;
}

/** The server refused a request in git's protocol. */
export class RefusedByServerError extends FailedOperationError {
  override name = 'RefusedByServerError';
}

function assertSha1(capabilities: ReadonlyMap<string, string>): void {
  const format = capabilities.get('object-format') ?? 'sha1';
  if (format === 'sha1') return;
  throw new FailedOperationError('The repository has ids of SHA-256, which cannot be read: only SHA-1 can');
}

/** Reads a server's first message; over HTTP a line about the service precedes it. */
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
  if ((known?.size ?? 0) > capabilitiesMax) throw notGit();
  return new Map([...(known ?? []), parseCapability(line)]);
}

/** `name`, or `name=value`. */
function parseCapability(text: string): [name: string, value: string] {
  const [name = '', ...value] = text.split('=');
  return [name, value.join('=')];
}

const capabilitiesMax = 100;

/** The capabilities after the first ref. */
function readCapabilities(line: string): ReadonlyMap<string, string> {
  const [ref = '', listed = ''] = line.split('\0', 2);
  if (!refPattern.test(ref)) throw notGit();
  return new Map(listed.split(' ').slice(0, capabilitiesMax).map(parseCapability));
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

  /** Adds a ref by its line; ignores what follows its name. */
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
