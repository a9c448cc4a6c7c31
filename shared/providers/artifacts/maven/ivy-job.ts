import { asJsonObject, asString, getPath, type JsonObject, type JsonValue } from '#core/json.ts';
import { type AnswerBody, readPieces } from '../download/answer-body.ts';
import { isCoordinate } from './coordinates.ts';
import { type IvyFile, toIvyFile } from './ivy-patterns.ts';
import { listElements, readXml, xmlBytesMax } from './xml.ts';

/** A request for the files that a module's descriptor names. */
interface IvyQuery {
  readonly host: string;
  /** The name of the module. */
  readonly module: string;
  readonly descriptor: 'pom' | 'ivy';
  /** Configurations whose files are requested. */
  readonly configurations: readonly string[];
}

/** @see AnswerModule */
export const location = import.meta.url;

/** @see AnswerModule */
export const bytesMax = xmlBytesMax;

/**
 * Reads the descriptor of a module.
 *
 * @returns the possible files, in order; none if it names none.
 * @throws FailedOperationError like `readXml`.
 */
export async function run({
  body,
  host,
  descriptor,
  module,
  configurations,
}: IvyQuery & { readonly body: AnswerBody }): Promise<readonly IvyFile[]> {
  const document = await readXml(readPieces(body), host);
  if (descriptor === 'pom') return readPom(document, module);
  return readPublications(document, toIvyFile(module, 'jar'), configurations);
}

/** The file with the packaging as its extension, if it exists, or the jar: some packagings are those of jars. */
function readPom(document: JsonObject, module: string): readonly IvyFile[] {
  const packaging = asString(getPath(document, 'project', 'packaging')) ?? '';
  const others = isCoordinate(packaging) && packaging !== 'pom' ? [packaging] : [];
  return [...new Set([...others, 'jar'])].map((ext) => toIvyFile(module, ext));
}

/** The first file that a descriptor of Ivy publishes in one of the configurations. */
function readPublications(
  document: JsonObject,
  jar: IvyFile,
  configurations: readonly string[],
): readonly IvyFile[] {
  const publications = getPath(document, 'ivy-module', 'publications');
  if (publications === undefined) return [jar];
  const usual = asString(getPath(publications, '@defaultconf')) || '*';
  const published = listElements(getPath(publications, 'artifact')).find((entry) => {
    const named = listElements(getPath(entry, 'conf')).flatMap(
      (conf) => asString(getPath(conf, '@name')) ?? [],
    );
    const listed = asString(getPath(entry, '@conf'))?.split(',') ?? named;
    const within = (listed.length > 0 ? listed : usual.split(',')).map((conf) => conf.trim());
    return within.includes('*') || within.some((conf) => configurations.includes(conf));
  });
  return published === undefined ? [] : toPublished(published, jar);
}

function toPublished(entry: JsonValue, jar: IvyFile): readonly IvyFile[] {
  const attributes = asJsonObject(entry) ?? {};
  const type = asString(attributes['@type']) ?? jar.type;
  const file = {
    artifact: asString(attributes['@name']) ?? jar.artifact,
    type,
    ext: asString(attributes['@ext']) ?? type,
  };
  return Object.values(file).every(isCoordinate) ? [file] : [];
}
