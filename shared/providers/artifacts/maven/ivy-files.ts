import { InvalidInputError, NotFoundError } from '#core/errors.ts';
import type { Artifact } from '#provider-kit/artifact.ts';
import { readAnswer } from '../download/answer-reading.ts';
import { DocumentMemory } from '../download/document-memory.ts';
import type { ContentVersion, DownloadAnswer } from '../download/downloader.ts';
import type { SourceOptions } from '../download/source.ts';
import { isCoordinate } from './coordinates.ts';
import { fillIvyPattern, type IvyCoordinates, type IvyFile, toIvyFile } from './ivy-patterns.ts';
import type { IvyResolver } from './ivy-settings.ts';

/** The options of an Ivy account. */
export interface IvyAccount {
  /** Name of the account. */
  readonly name: string;
  readonly resolvers: readonly IvyResolver[];
  /** Configurations of modules whose files are fetched. */
  readonly configurations: readonly string[];
  /** Requests a file. @param known what is remembered of it; undefined for nothing @throws what `Downloader.open` throws. */
  open(url: URL, known: ContentVersion | undefined, signal: AbortSignal): Promise<DownloadAnswer>;
  readonly options: SourceOptions;
}

/**
 * Reads the first file of the module in an artifact's reference, from the first resolver that has it.
 *
 * @throws InvalidInputError for a reference of another form, NotFoundError if no resolver has the file, and what `IvyAccount.open` throws.
 */
export type ReadIvyFile = (artifact: Artifact, signal: AbortSignal) => Promise<AsyncIterable<Uint8Array>>;

type IvyModule = Pick<IvyCoordinates, 'organisation' | 'module' | 'revision'>;

/** Reads files of an account; descriptors of modules are remembered for a minute. */
export function createIvyReader(account: IvyAccount): ReadIvyFile {
  const { resolvers, options, open } = account;
  const memory = new DocumentMemory({ clock: options.clock, open });
  return async (artifact, signal) => {
    const module = parseIvyReference(artifact);
    const readDescriptor = (url: URL) => memory.read(url, signal);
    return findFirst(resolvers, async (resolver) => {
      const files = await findFiles({ account, readDescriptor, signal }, resolver, module);
      return findFirst(files, (file) => {
        const coordinates = toCoordinates(resolver, module, file);
        return findFirst(resolver.artifacts, async (pattern) => {
          const url = fillIvyPattern(pattern, coordinates);
          return (await open(url, undefined, signal)).body;
        });
      });
    });
  };
}

/** The options of reading descriptors. */
interface DescriptorReader {
  readonly account: IvyAccount;
  readonly signal: AbortSignal;
  readDescriptor(url: URL): Promise<AsyncIterable<Uint8Array>>;
}

/**
 * Reads `organisation:module:revision`.
 *
 * @throws InvalidInputError for anything else, including `latest.release`, `1.+` and ranges. The message does not contain the reference.
 */
export function parseIvyReference({ reference = '' }: Artifact): IvyModule {
  const [organisation = '', module = '', revision = '', ...others] = reference.split(':', 4);
  const isWhole = others.length === 0 && [organisation, module, revision].every(isCoordinate);
  if (isWhole && !/^latest\.|\+$/.test(revision)) return { organisation, module, revision };
  throw new InvalidInputError(
    'reference: expected organisation:module:revision; latest.release, 1.+ and ranges are not looked up',
  );
}

/** The possible files of a module, in order: those of its descriptor, or without one its jar. None if the descriptor names none. */
async function findFiles(
  { account: { name: account, configurations, options }, readDescriptor, signal }: DescriptorReader,
  resolver: IvyResolver,
  module: IvyModule,
): Promise<readonly IvyFile[]> {
  const { descriptor } = resolver;
  const file =
    descriptor === 'pom' ? toIvyFile(module.module, 'pom') : { artifact: 'ivy', type: 'ivy', ext: 'xml' };
  const coordinates = toCoordinates(resolver, module, file);
  for (const pattern of resolver.descriptors) {
    const url = fillIvyPattern(pattern, coordinates);
    const body = await readDescriptor(url).catch(passMissing);
    if (body === undefined) continue;
    const query = { host: url.host, module: module.module, descriptor, configurations };
    return readAnswer(body, { load: () => import('./ivy-job.ts'), query, account, options, signal });
  }
  return [toIvyFile(module.module, 'jar')];
}

function toCoordinates(resolver: IvyResolver, module: IvyModule, file: IvyFile): IvyCoordinates {
  const { organisation } = module;
  const folders = resolver.isMavenCompatible ? organisation.replaceAll('.', '/') : organisation;
  return { ...module, ...file, organisation: folders };
}

/** The first existing one. @throws NotFoundError, the last one's, if none exists; other errors at once. */
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
