import type { Clock } from '../../core/clock.ts';
import { InvalidInputError, NotFoundError } from '../../core/errors.ts';
import { asJsonObject, asString, getPath, type JsonObject, type JsonValue } from '../../core/json.ts';
import type { Artifact } from '../../core/providers/artifact.ts';
import { isCoordinate } from './coordinates.ts';
import { DocumentMemory } from './document-memory.ts';
import type { ContentVersion, DownloadAnswer } from './downloader.ts';
import { fillIvyPattern, type IvyCoordinates } from './ivy-patterns.ts';
import type { IvyResolver } from './ivy-settings.ts';
import { readXml } from './xml.ts';

/** What an account of Ivy reads with. */
export interface IvyAccount {
  readonly resolvers: readonly IvyResolver[];
  /** Configurations of modules, of which files are fetched. */
  readonly configurations: readonly string[];
  /** Asks for a file. @param known what is remembered of it; undefined for nothing @throws what `Downloader.open` throws. */
  open(url: URL, known: ContentVersion | undefined, signal: AbortSignal): Promise<DownloadAnswer>;
  readonly clock: Pick<Clock, 'monotonic'>;
}

/** Reads files of the repositories of one account. */
export interface IvyReader {
  /**
   * The first file of the module that the reference of an artifact means, of the first resolver that has it.
   *
   * @throws InvalidInputError for a reference of another form, NotFoundError when no resolver has the file, and what `IvyAccount.open`
   *   throws.
   */
  read(artifact: Artifact, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>>;
}

type IvyModule = Pick<IvyCoordinates, 'organisation' | 'module' | 'revision'>;
type IvyFile = Pick<IvyCoordinates, 'artifact' | 'type' | 'ext'>;

/** Reads files of an account, whose descriptors of modules are remembered for a minute. */
export function createIvyReader(account: IvyAccount): IvyReader {
  const { resolvers, configurations } = account;
  const memory = new DocumentMemory(account);
  return {
    async read(artifact, signal) {
      const module = parseIvyReference(artifact);
      const readDescriptor = (url: URL) => memory.read(url, signal);
      return findFirst(resolvers, async (resolver) => {
        const files = await findFiles({ configurations, readDescriptor }, resolver, module);
        return findFirst(files, (file) => {
          const coordinates = toCoordinates(resolver, module, file);
          return findFirst(resolver.artifacts, async (pattern) => {
            const url = fillIvyPattern(pattern, coordinates);
            return (await account.open(url, undefined, signal)).body;
          });
        });
      });
    },
  };
}

/** What descriptors are read with. */
interface DescriptorReader extends Pick<IvyAccount, 'configurations'> {
  readDescriptor(url: URL): Promise<AsyncIterable<Uint8Array>>;
}

/**
 * Reads `organisation:module:revision`.
 *
 * @throws InvalidInputError for anything else, `latest.release`, `1.+` and ranges too. The reference itself stays out of the message.
 */
export function parseIvyReference({ reference = '' }: Artifact): IvyModule {
  const [organisation = '', module = '', revision = '', ...others] = reference.split(':', 4);
  const isWhole = others.length === 0 && [organisation, module, revision].every(isCoordinate);
  if (isWhole && !/^latest\.|\+$/.test(revision)) return { organisation, module, revision };
  throw new InvalidInputError(
    'reference: expected organisation:module:revision; latest.release, 1.+ and ranges are not looked up',
  );
}

/** Files that may be a module's, in order: that of its descriptor, without one its jar. None where the descriptor names none. */
async function findFiles(
  { configurations, readDescriptor }: DescriptorReader,
  resolver: IvyResolver,
  module: IvyModule,
): Promise<readonly IvyFile[]> {
  const [isPom, jar] = [resolver.descriptor === 'pom', toFile(module, 'jar')];
  const descriptor = isPom ? toFile(module, 'pom') : { artifact: 'ivy', type: 'ivy', ext: 'xml' };
  const coordinates = toCoordinates(resolver, module, descriptor);
  for (const pattern of resolver.descriptors) {
    const url = fillIvyPattern(pattern, coordinates);
    const body = await readDescriptor(url).catch(passMissing);
    if (body === undefined) continue;
    const document = await readXml(body, url.host);
    return isPom ? readPom(document, module) : readPublications(document, jar, configurations);
  }
  return [jar];
}

/** The file whose extension is the packaging, if it is there, as some packagings are those of jars. */
function readPom(document: JsonObject, module: IvyModule): readonly IvyFile[] {
  const packaging = asString(getPath(document, 'project', 'packaging')) ?? '';
  const others = isCoordinate(packaging) && packaging !== 'pom' ? [packaging] : [];
  return [...new Set([...others, 'jar'])].map((ext) => toFile(module, ext));
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
  const published = list(getPath(publications, 'artifact')).find((entry) => {
    const named = list(getPath(entry, 'conf')).flatMap((conf) => asString(getPath(conf, '@name')) ?? []);
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

function toFile({ module }: IvyModule, ext: string): IvyFile {
  return { artifact: module, type: ext, ext };
}

function toCoordinates(resolver: IvyResolver, module: IvyModule, file: IvyFile): IvyCoordinates {
  const { organisation } = module;
  const folders = resolver.isMavenCompatible ? organisation.replaceAll('.', '/') : organisation;
  return { ...module, ...file, organisation: folders };
}

/** The elements of a name, of which there may be none, one or many. */
function list(value: JsonValue | undefined): readonly JsonValue[] {
  if (value === undefined) return [];
  return Array.isArray(value) ? value : [value];
}

/** The first that is there. @throws NotFoundError when none is, the last one's; what else is thrown at once. */
async function findFirst<T, R>(items: readonly T[], find: (item: T) => Promise<R>): Promise<R> {
  let failure = new NotFoundError('No resolver of the account has a file of the module');
  for (const item of items) {
    try {
      return await find(item);
    } catch (error) {
      if (!(error instanceof NotFoundError)) throw error;
      failure = error;
    }
  }
  throw failure;
}

function passMissing(error: unknown): undefined {
  if (!(error instanceof NotFoundError)) throw error;
}
