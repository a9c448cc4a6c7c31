import type { Clock } from '../../core/clock.ts';
import { InvalidInputError, NotFoundError } from '../../core/errors.ts';
import type { Artifact } from '../../core/providers/artifact.ts';
import type { AccountServer } from './account-server.ts';
import { isCoordinate } from './coordinates.ts';
import { DocumentMemory } from './document-memory.ts';
import { type MavenMetadata, readMavenMetadata } from './maven-metadata.ts';
import { findGreatestVersion, parseVersionConstraint } from './maven-versions.ts';

/** What a file of a Maven repository is known by. */
export interface MavenCoordinates {
  readonly group: string;
  readonly artifact: string;
  /** `jar` unless the reference says otherwise. */
  readonly extension: string;
  /** Empty for none. */
  readonly classifier: string;
  /** As it was asked for: a version, a range, or a word such as `RELEASE`. */
  readonly version: string;
}

/** A version that a repository has. */
export interface MavenVersion {
  /** The name of its folder: `1.0-SNAPSHOT`. */
  readonly folder: string;
  /** What names of files have: `1.0-20260101.120000-7`. The same as the folder's, but for snapshots. */
  readonly version: string;
}

/** The newest that is released, and the newest of all, in the words of Maven and of Ivy. */
const releaseWords: readonly string[] = ['RELEASE', 'latest.release'];
const latestWords: readonly string[] = ['LATEST', 'SNAPSHOT', 'latest.integration'];

const snapshotEnd = '-SNAPSHOT';

/** Reads files of a Maven repository. */
export interface MavenReader {
  /**
   * The file that the reference of an artifact means.
   *
   * @throws InvalidInputError for a reference of another form, NotFoundError when the repository has no such version, and what
   *   `AccountServer.read` throws.
   */
  read(artifact: Artifact, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>>;
}

/** Reads files of the repository of one account, whose metadata are remembered for a minute. */
export function createMavenReader(server: AccountServer, clock: Pick<Clock, 'monotonic'>): MavenReader {
  const memory = new DocumentMemory({ clock, open: server.open });
  return { read: (artifact, signal) => readMavenFile({ server, memory }, artifact, signal) };
}

async function readMavenFile(
  { server, memory }: { readonly server: AccountServer; readonly memory: DocumentMemory },
  artifact: Artifact,
  signal: AbortSignal,
): Promise<AsyncIterable<Uint8Array>> {
  const coordinates = parseMavenReference(artifact);
  const folders = [...coordinates.group.split('.'), coordinates.artifact];
  const found = await findMavenVersion(coordinates, async (...folder) => {
    const url = toUrl(server, [...folders, ...folder, 'maven-metadata.xml']);
    return readMavenMetadata(await memory.read(url, signal), server.base.host);
  });
  if (found === undefined) {
    throw new NotFoundError(`${server.base.host} has no version of the artifact that the reference asks for`);
  }
  const url = toUrl(server, [...folders, found.folder, toFileName(coordinates, found)]);
  return server.read(url, signal);
}

/**
 * Reads `group:artifact[:extension[:classifier]]:version`, as Maven's resolver does.
 *
 * @throws InvalidInputError for anything else. The reference itself stays out of the message.
 */
export function parseMavenReference({ reference = '' }: Artifact): MavenCoordinates {
  const form = /^([^:\s]+):([^:\s]+)(?::([^:\s]*)(?::([^:\s]+))?)?:([^:\s]+)$/;
  const [, group = '', artifact = '', kind, classifier = '', version = ''] = form.exec(reference) ?? [];
  const extension = kind || 'jar';
  const names = [...group.split('.'), artifact, extension, classifier || 'none'];
  if (names.every(isCoordinate) && (isCoordinate(version) || parseVersionConstraint(version) !== undefined)) {
    return { group, artifact, extension, classifier, version };
  }
  throw new InvalidInputError(
    'reference: expected group:artifact[:extension[:classifier]]:version, the last one a version, a range such as [1.0,2.0), RELEASE or LATEST',
  );
}

/**
 * The version that is meant, by the rules of Clouddriver: `RELEASE` and `LATEST` are what the repository says of them, a range is the
 * greatest within it, and any other version is one that the repository lists. A snapshot is its newest build.
 *
 * @param load reads the metadata of the artifact, or of one of its folders.
 * @returns undefined when the repository has none.
 */
export async function findMavenVersion(
  coordinates: MavenCoordinates,
  load: (...folder: readonly string[]) => Promise<MavenMetadata>,
): Promise<MavenVersion | undefined> {
  const { version } = coordinates;
  const folder = version.endsWith(snapshotEnd) ? version : selectVersion(await load(), version);
  if (folder === undefined || !isCoordinate(folder)) return undefined;
  if (!folder.endsWith(snapshotEnd)) return { folder, version: folder };
  const build = findBuild(await load(folder), coordinates);
  return build !== undefined && isCoordinate(build) ? { folder, version: build } : undefined;
}

function selectVersion(metadata: MavenMetadata, wanted: string): string | undefined {
  if (releaseWords.includes(wanted)) return metadata.release;
  if (latestWords.includes(wanted)) return metadata.latest;
  if (metadata.versions.includes(wanted)) return wanted;
  const constraint = parseVersionConstraint(wanted);
  return constraint && findGreatestVersion(metadata.versions.filter(isCoordinate), constraint);
}

/** The newest build of a snapshot: that of the file itself, else, as Clouddriver takes it, of any with the classifier. */
function findBuild(
  { builds }: MavenMetadata,
  { classifier, extension }: MavenCoordinates,
): string | undefined {
  const meant = builds.filter((build) => build.classifier === classifier);
  return (meant.find((build) => build.extension === extension) ?? meant[0])?.version;
}

function toFileName(
  { artifact, classifier, extension }: MavenCoordinates,
  { version }: MavenVersion,
): string {
  return `${[artifact, version, ...(classifier === '' ? [] : [classifier])].join('-')}.${extension}`;
}

function toUrl({ base }: AccountServer, segments: readonly string[]): URL {
  return new URL(base.href + segments.map((segment) => encodeURIComponent(segment)).join('/'));
}
