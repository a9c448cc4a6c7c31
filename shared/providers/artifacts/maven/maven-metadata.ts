import { asString, getPath, type JsonValue } from '#core/json.ts';
import { readXml } from './xml.ts';

/** A Maven repository's metadata of an artifact, or of one of its snapshots. */
export interface MavenMetadata {
  /** The newest version that is not a snapshot. */
  readonly release: string | undefined;
  /** The newest version of all. */
  readonly latest: string | undefined;
  readonly versions: readonly string[];
  /** The newest files of a snapshot. */
  readonly builds: readonly MavenBuild[];
}

/** A file of a snapshot. */
export interface MavenBuild {
  /** Empty for none. */
  readonly classifier: string;
  readonly extension: string;
  /** `1.0-20260101.120000-7`. */
  readonly version: string;
}

/**
 * Reads a `maven-metadata.xml`. Missing members are empty.
 *
 * @throws FailedOperationError like `readXml`.
 */
export async function readMavenMetadata(
  body: AsyncIterable<Uint8Array>,
  host: string,
): Promise<MavenMetadata> {
  const document = await readXml(body, host);
  const versioning = getPath(document, 'metadata', 'versioning');
  return {
    release: readText(versioning, 'release'),
    latest: readText(versioning, 'latest'),
    versions: list(versioning, 'versions', 'version').flatMap((version) => asString(version) ?? []),
    builds: list(versioning, 'snapshotVersions', 'snapshotVersion').flatMap(toBuild),
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

/** The elements of a name: none, one or many. */
function list(value: JsonValue | undefined, ...keys: readonly string[]): readonly JsonValue[] {
  const found = getPath(value, ...keys) ?? [];
  return Array.isArray(found) ? found : [found];
}
