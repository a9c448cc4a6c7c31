import * as z from 'zod';
import { NotFoundError } from '#core/errors.ts';
import type { LiveReads } from '#provider-kit/live-reads.ts';
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

/** The reader of an account's platform. @throws NotFoundError when there is none */
export type ReaderSource = <Sort extends keyof LiveReads>(
  account: string,
  sort: Sort,
) => Promise<NonNullable<LiveReads[Sort]>>;

/** One read. */
interface Reading {
  getReader: ReaderSource;
  readonly account: string;
  readonly args: unknown;
  readonly signal: AbortSignal;
}

const methods: ReadonlyMap<string, (reading: Reading) => Promise<unknown>> = new Map([
  [
    'manifests.get',
    async (reading) => {
      const { account, signal } = reading;
      return (await reading.getReader(reading.account, 'manifests')).getManifest({
        account,
        signal,
        ...parse(manifestSchema, reading),
      });
    },
  ],
  [
    'manifests.list',
    async (reading) => {
      const { account } = reading;
      return (await reading.getReader(reading.account, 'manifests')).listClusterManifests({
        account,
        ...parse(membersSchema, reading),
      });
    },
  ],
  [
    'manifests.dynamic',
    async (reading) => {
      const { criteria, ...cluster } = parse(dynamicSchema, reading);
      return (await reading.getReader(reading.account, 'manifests')).getDynamicManifest(
        { account: reading.account, ...cluster },
        criteria,
      );
    },
  ],
  [
    'jobs.get',
    async (reading) =>
      (await reading.getReader(reading.account, 'jobs')).getJob({
        account: reading.account,
        ...parse(objectSchema, reading),
      }),
  ],
  [
    'jobs.delete',
    async (reading) => {
      await (await reading.getReader(reading.account, 'jobs')).cancelJob({
        account: reading.account,
        ...parse(deletionSchema, reading),
      });
      return {};
    },
  ],
  [
    'jobs.properties',
    async (reading) => {
      const { fileName, ...job } = parse(fileSchema, reading);
      return (await reading.getReader(reading.account, 'jobs')).getFileContents(
        { account: reading.account, ...job },
        fileName,
      );
    },
  ],
  [
    'pods.properties',
    async (reading) => {
      const { fileName, ...pod } = parse(fileSchema, reading);
      return (await reading.getReader(reading.account, 'instances')).getFileContents(
        { account: reading.account, ...pod },
        fileName,
      );
    },
  ],
  [
    'console.list',
    async (reading) =>
      (await reading.getReader(reading.account, 'instances')).getConsoleOutput({
        account: reading.account,
        ...parse(objectSchema, reading),
      }),
  ],
]);

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
  return run({ getReader, account, args: JSON.parse(args), signal });
}

function parse<T>(schema: z.ZodType<T>, { args }: Reading): T {
  return parseWith(schema, args, '');
}
