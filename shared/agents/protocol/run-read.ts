import * as z from 'zod';
import { NotFoundError } from '#core/errors.ts';
import type { JsonObject } from '#core/json.ts';
import type { JobReader, LiveReads } from '#provider-kit/live-reads.ts';
import type { ProviderSet } from '#provider-kit/provider-set.ts';
import { parseWith } from '#settings/coerce.ts';
import type { ReadRequest } from './messages.ts';

const object = { location: z.string(), name: z.string() };
const members = {
  location: z.string(),
  kind: z.string(),
  application: z.string(),
  cluster: z.string(),
};
const manifestSchema = z.object({ ...object, includeEvents: z.boolean(), revealSecrets: z.boolean() });
const membersSchema = z.object(members);
const dynamicSchema = z.object({ ...members, criteria: z.string() });
const objectSchema = z.object(object);
const deletionSchema = z.object({ ...object, uid: z.string() });
const fileSchema = z.object({ ...object, fileName: z.string() });

/** Finds the reader of an account's platform. */
export type ReaderSource = ProviderSet['getLiveReader'];

/** One read. */
interface Reading {
  readonly account: string;
  readonly args: unknown;
  readonly signal: AbortSignal;
}

/** A method of a reader. */
type Method = (getReader: ReaderSource, reading: Reading) => Promise<unknown>;

function on<Sort extends keyof LiveReads>(
  sort: Sort,
  run: (reader: NonNullable<LiveReads[Sort]>, reading: Reading) => Promise<unknown>,
): Method {
  return async (getReader, reading) => run(await getReader(reading.account, sort), reading);
}

const methods: ReadonlyMap<string, Method> = new Map([
  [
    'manifests.get',
    on('manifests', async (manifests, { args, ...given }) =>
      manifests.getManifest({ ...given, ...parse(manifestSchema, args) }),
    ),
  ],
  [
    'manifests.list',
    on('manifests', async (manifests, { account, args }) =>
      manifests.listClusterManifests({ account, ...parse(membersSchema, args) }),
    ),
  ],
  [
    'manifests.dynamic',
    on('manifests', async (manifests, { account, args }) => {
      const { criteria, ...cluster } = parse(dynamicSchema, args);
      return manifests.getDynamicManifest({ account, ...cluster }, criteria);
    }),
  ],
  [
    'jobs.get',
    on('jobs', async (jobs, { account, args }) => jobs.getJob({ account, ...parse(objectSchema, args) })),
  ],
  [
    'jobs.delete',
    on('jobs', async (jobs, { account, args }) => {
      await jobs.cancelJob({ account, ...parse(deletionSchema, args) });
      return {};
    }),
  ],
  ['jobs.properties', on('jobs', getFile)],
  ['pods.properties', on('instances', getFile)],
  [
    'console.list',
    on('instances', async (instances, { account, args }) =>
      instances.getConsoleOutput({ account, ...parse(objectSchema, args) }),
    ),
  ],
]);

async function getFile(
  reader: Pick<JobReader, 'getFileContents'>,
  { account, args }: Reading,
): Promise<JsonObject> {
  const { fileName, ...object } = parse(fileSchema, args);
  return reader.getFileContents({ account, ...object }, fileName);
}

/**
 * Makes a read that Busdriver asked for, by the readers that a process beside the cluster has.
 *
 * @param signal gives it up
 * @returns what `JSON.stringify` makes the answer of
 * @throws what the reader throws; NotFoundError for a method that this release does not know
 */
export async function runRead(
  getReader: ReaderSource,
  { account, method, args }: Pick<ReadRequest, 'account' | 'method' | 'args'>,
  signal: AbortSignal,
): Promise<unknown> {
  const run = methods.get(method);
  if (run === undefined)
    throw new NotFoundError(`The agent does not know ${method}: install the agent of the server's release`);
  return run(getReader, { account, args: JSON.parse(args), signal });
}

function parse<T>(schema: z.ZodType<T>, args: unknown): T {
  return parseWith(schema, args, '');
}
