import { NotFoundError, UnavailableError } from '#core/errors.ts';
import { asString, getPath, isJsonObject, type JsonObject, type JsonValue } from '#core/json.ts';
import type { InstanceReader, JobReader, ManifestReader, ObjectRequest } from '#provider-kit/live-reads.ts';

type ManifestCoordinates = Awaited<ReturnType<ManifestReader['getDynamicManifest']>>;

/** A read that an agent is to make. */
export interface ReadCall {
  readonly account: string;
  readonly method: string;
  /** The arguments of the method, besides the account. */
  readonly args: object;
  /** Gives the wait up. */
  readonly signal?: AbortSignal | undefined;
}

/** Has an agent make a read. @throws what the agent's reader threw, and AccountDownError where no agent answers */
export type AskAgent = (call: ReadCall) => Promise<JsonValue>;

/** Reads manifests by an agent. @param local the reader of the account's provider, which knows what is secret */
export function createRemoteManifestReader(
  ask: AskAgent,
  local: Pick<ManifestReader, 'isSecret'>,
): ManifestReader {
  return {
    async getManifest({ account, signal, ...args }) {
      return toObject(await ask({ account, method: 'manifests.get', args, signal }));
    },
    isSecret: (name) => local.isSecret(name),
    async listClusterManifests({ account, ...args }) {
      return toObjects(await ask({ account, method: 'manifests.list', args })).map(toCoordinates);
    },
    async getDynamicManifest({ account, ...members }, criteria) {
      const args = { ...members, criteria };
      return toCoordinates(toObject(await ask({ account, method: 'manifests.dynamic', args })));
    },
  };
}

/** Reads jobs by an agent, and ends them. */
export function createRemoteJobReader(ask: AskAgent): JobReader {
  return {
    async getJob({ account, ...args }) {
      return toObject(await ask({ account, method: 'jobs.get', args }));
    },
    async cancelJob({ account, location, name }) {
      // A read may be made twice: without the identity the second time could delete a Job that was made meanwhile.
      const uid = await getUid(ask, { account, location, name });
      await ask({ account, method: 'jobs.delete', args: { location, name, uid } });
    },
    async getFileContents({ account, ...object }, fileName) {
      return toObject(await ask({ account, method: 'jobs.properties', args: { ...object, fileName } }));
    },
  };
}

/** Reads by an agent what instances write. */
export function createRemoteInstanceReader(ask: AskAgent): InstanceReader {
  return {
    async getConsoleOutput({ account, ...args }) {
      return toObjects(await ask({ account, method: 'console.list', args })).map(toConsoleOutput);
    },
    async getFileContents({ account, ...object }, fileName) {
      return toObject(await ask({ account, method: 'pods.properties', args: { ...object, fileName } }));
    },
  };
}

async function getUid(ask: AskAgent, { account, location, name }: ObjectRequest): Promise<string> {
  const args = { location, name, includeEvents: false, revealSecrets: false };
  const notFound = () =>
    new NotFoundError(`Job (account: ${account}, location: ${location}, name: ${name}) not found`);
  const job = await ask({ account, method: 'manifests.get', args }).catch((error: unknown) => {
    throw error instanceof NotFoundError ? notFound() : error;
  });
  const uid = asString(getPath(job, 'manifest', 'metadata', 'uid'));
  if (uid === undefined) throw notFound();
  return uid;
}

function toObject(value: JsonValue): JsonObject {
  return isJsonObject(value) ? value : refuse();
}

function toObjects(value: JsonValue): readonly JsonObject[] {
  return Array.isArray(value) ? value.map(toObject) : refuse();
}

function toCoordinates({ kind, namespace, name }: JsonObject): ManifestCoordinates {
  return { kind: toText(kind), namespace: toText(namespace), name: toText(name) };
}

function toConsoleOutput({ name, output }: JsonObject): { name: string; output: string } {
  return { name: toText(name), output: toText(output) };
}

function toText(value: JsonValue | undefined): string {
  return asString(value) ?? refuse();
}

function refuse(): never {
  throw new UnavailableError('The agent answered something else than what was asked for');
}
