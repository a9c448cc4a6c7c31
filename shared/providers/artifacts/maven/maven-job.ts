import { asString, getPath, type JsonValue } from '#core/json.ts';
import { type AnswerBody, readPieces } from '../download/answer-body.ts';
import { isCoordinate } from './coordinates.ts';
import { findGreatestVersion, parseVersionConstraint } from './maven-versions.ts';
import { listElements, readXml, xmlBytesMax } from './xml.ts';

/** Maven's and Ivy's words for the newest release, and for the newest version of all. */
const releaseWords: readonly string[] = ['RELEASE', 'latest.release'];
const latestWords: readonly string[] = ['LATEST', 'SNAPSHOT', 'latest.integration'];

/** A request for a version in the metadata of an artifact, or of a snapshot of it. */
export interface MavenQuery {
  readonly host: string;
  /** The requested version, or a file of a snapshot, whose newest build is requested. */
  readonly wanted: { readonly version: string } | SnapshotFile;
}

interface SnapshotFile {
  readonly classifier: string;
  readonly extension: string;
}

/** @see AnswerModule */
export const location = import.meta.url;

/** @see AnswerModule */
export const bytesMax = xmlBytesMax;

/**
 * Reads metadata of a Maven repository.
 *
 * @returns the version to use; undefined if there is none.
 * @throws FailedOperationError like `readXml`.
 */
export async function run({
  body,
  host,
  wanted,
}: MavenQuery & { readonly body: AnswerBody }): Promise<string | undefined> {
  const metadata = await readMavenMetadata(readPieces(body), host);
  return 'version' in wanted ? selectVersion(metadata, wanted.version) : findBuild(metadata, wanted);
}

function selectVersion(metadata: MavenMetadata, wanted: string): string | undefined {
  if (releaseWords.includes(wanted)) return metadata.release;
  if (latestWords.includes(wanted)) return metadata.latest;
  if (metadata.versions.includes(wanted)) return wanted;
  const constraint = parseVersionConstraint(wanted);
  return constraint && findGreatestVersion(metadata.versions.filter(isCoordinate), constraint);
}

/** The newest build of a snapshot: that of the file itself, else, as in Clouddriver, of any file with the classifier. */
function findBuild({ builds }: MavenMetadata, { classifier, extension }: SnapshotFile): string | undefined {
  const meant = builds.filter((build) => build.classifier === classifier);
  return (meant.find((build) => build.extension === extension) ?? meant[0])?.version;
}

/** A Maven repository's metadata of an artifact, or of one of its snapshots. */
interface MavenMetadata {
  /** The newest version that is not a snapshot. */
  readonly release: string | undefined;
  /** The newest version of all. */
  readonly latest: string | undefined;
  readonly versions: readonly string[];
  /** The newest files of a snapshot. */
  readonly builds: readonly MavenBuild[];
}

/** A file of a snapshot. */
interface MavenBuild {
  /** Empty for none. */
  readonly classifier: string;
  readonly extension: string;
  /** `1.0-20260101.120000-7`. */
  readonly version: string;
}

/** Reads a `maven-metadata.xml`. Missing members are empty. @throws FailedOperationError like `readXml`. */
async function readMavenMetadata(body: AsyncIterable<Uint8Array>, host: string): Promise<MavenMetadata> {
  const document = await readXml(body, host);
  const versioning = getPath(document, 'metadata', 'versioning');
  return {
    release: readText(versioning, 'release'),
    latest: readText(versioning, 'latest'),
    versions: listElements(getPath(versioning, 'versions', 'version')).flatMap(
      (version) => asString(version) ?? [],
    ),
    builds: listElements(getPath(versioning, 'snapshotVersions', 'snapshotVersion')).flatMap(toBuild),
  };
}

function toBuild(value: JsonValue): readonly MavenBuild[] {
  const version = readText(value, 'value');
  if (version === undefined) return [];
  const classifier = readText(value, 'classifier') ?? '';
  return [{ classifier, extension: readText(value, 'extension') ?? '', version }];
}

function readText(value: JsonValue | undefined, key: string): string | undefined {
  return asString(getPath(value, key)) || undefined;
}
