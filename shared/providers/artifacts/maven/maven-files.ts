import { InvalidInputError, NotFoundError } from '#core/errors.ts';
import type { Artifact } from '#provider-kit/artifact.ts';
import type { AccountServer } from '../download/account-server.ts';
import { readAnswer } from '../download/answer-reading.ts';
import { DocumentMemory } from '../download/document-memory.ts';
import type { SourceOptions } from '../download/source.ts';
import { isCoordinate } from './coordinates.ts';
import type { MavenQuery } from './maven-job.ts';
import { parseVersionConstraint } from './maven-versions.ts';

/** The coordinates of a file in a Maven repository. */
interface MavenCoordinates {
  readonly group: string;
  readonly artifact: string;
  /** `jar` unless the reference says otherwise. */
  readonly extension: string;
  /** Empty for none. */
  readonly classifier: string;
  /** As requested: a version, a range, or a word such as `RELEASE`. */
  readonly version: string;
}

/** A version that a repository has. */
interface MavenVersion {
  /** The name of its folder: `1.0-SNAPSHOT`. */
  readonly folder: string;
  /** The version in names of files: `1.0-20260101.120000-7`. The same as the folder's, except for snapshots. */
  readonly version: string;
}

const snapshotEnd = '-SNAPSHOT';

/**
 * Reads the file that an artifact refers to.
 *
 * @throws InvalidInputError for a reference of another form, NotFoundError if the repository has no such version, and what
 *   `AccountServer.read` throws.
 */
export type ReadMavenFile = (artifact: Artifact, signal: AbortSignal) => Promise<AsyncIterable<Uint8Array>>;

/** An account of a Maven repository. */
interface MavenAccount {
  /** Name of the account. */
  readonly name: string;
  readonly server: AccountServer;
  readonly options: SourceOptions;
}

/** Reads files of the repository of one account, remembering its metadata for a minute. */
export function createMavenReader(account: MavenAccount): ReadMavenFile {
  const { name, server, options } = account;
  const memory = new DocumentMemory({ clock: options.clock, open: server.open });
  return async (artifact, signal) => {
    const coordinates = parseMavenReference(artifact);
    const { host } = server.base;
    const folders = [...coordinates.group.split('.'), coordinates.artifact];
    const found = await findMavenVersion(coordinates, async (wanted, ...folder) => {
      const url = toUrl(server, [...folders, ...folder, 'maven-metadata.xml']);
      const load = () => import('./maven-job.ts');
      const job = { load, query: { host, wanted }, account: name, options, signal };
      return readAnswer(await memory.read(url, signal), job);
    });
    if (found === undefined) {
      throw new NotFoundError(`${host} has no version of the artifact that the reference asks for`);
    }
    return server.read(toUrl(server, [...folders, found.folder, toFileName(coordinates, found)]), signal);
  };
}

/**
 * Reads `group:artifact[:extension[:classifier]]:version`, as in Maven's resolver.
 *
 * @throws InvalidInputError for anything else. The message does not contain the reference.
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
 * The version to use, by Clouddriver's rules: `RELEASE` and `LATEST` are those of the repository, a range means its greatest version, and
 * any other version must be in the repository's list. A snapshot is its newest build.
 *
 * @param ask reads the metadata of the artifact, or of one of its folders.
 * @returns undefined if the repository has none.
 */
async function findMavenVersion(
  coordinates: MavenCoordinates,
  ask: (wanted: MavenQuery['wanted'], ...folder: readonly string[]) => Promise<string | undefined>,
): Promise<MavenVersion | undefined> {
  const { version } = coordinates;
  const folder = version.endsWith(snapshotEnd) ? version : await ask({ version });
  if (folder === undefined || !isCoordinate(folder)) return undefined;
  if (!folder.endsWith(snapshotEnd)) return { folder, version: folder };
  const { classifier, extension } = coordinates;
  const build = await ask({ classifier, extension }, folder);
  return build !== undefined && isCoordinate(build) ? { folder, version: build } : undefined;
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
