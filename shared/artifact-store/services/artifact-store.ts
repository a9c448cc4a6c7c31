import { retry } from '#core/back-off.ts';
import type { Clock, Randomness } from '#core/clock.ts';
import { FailedOperationError, getErrorMessage, NotFoundError, UnavailableError } from '#core/errors.ts';
import type { JsonObject } from '#core/json.ts';
import type { Aws } from '#platform/ports/aws.ts';
import { openBase } from '#platform/services/base.ts';
import { openHostServices } from '#platform/services/host-services.ts';
import type { Services } from '#platform/services/services.ts';
import { getS3Endpoint, isAmazon, signS3Get } from '#providers/artifacts/s3-requests.ts';
import {
  type ArtifactStore,
  formatStoredReference,
  type StoredReference,
  storedBytesMax,
} from '../artifact-store.ts';
import { type ArtifactStoreSettings, parseArtifactStore } from '../artifact-store-settings.ts';

/** Milliseconds for one content, from the connection to the last byte: routes of accounts answer within 20 seconds. */
const timeoutMs = 12_000;
const triesMax = 3;
/** Bytes read of a refusal. */
const errorBytesMax = 4_096;

/** What reading a store needs. */
interface S3StoreOptions {
  readonly openAws: () => Promise<Aws>;
  readonly clock: Pick<Clock, 'sleep'>;
  readonly randomness: Pick<Randomness, 'fraction'>;
}

/**
 * The artifact store of the settings.
 *
 * @throws NotFoundError where there is none; FailedOperationError when its settings cannot be followed.
 */
export function openArtifactStore(services: Services, settings: JsonObject): ArtifactStore {
  const store = readSettings(settings);
  if (store !== undefined)
    return createS3Store(store, { ...openBase(services), ...openHostServices(services) });
  throw new NotFoundError(
    'There is no artifact store: artifact-store.type: s3 and artifact-store.s3.bucket in the settings name one',
  );
}

function readSettings(settings: JsonObject): ArtifactStoreSettings | undefined {
  try {
    return parseArtifactStore(settings);
  } catch (cause) {
    throw new FailedOperationError(`The artifact store cannot be read: ${getErrorMessage(cause)}`, { cause });
  }
}

/** A bucket in the form of Spinnaker's services: the key of a content is `<application>/<hash>`. */
export function createS3Store(settings: ArtifactStoreSettings, options: S3StoreOptions): ArtifactStore {
  return {
    async open(reference, signal) {
      const name = `${formatStoredReference(reference)} of the artifact store`;
      const deadline = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
      const response = await send(settings, reference, { ...options, signal: deadline, name });
      if (response.status === 200) return limit(response.body ?? [], name);
      throw await toRefusal(response, name);
    },
  };
}

interface SendOptions extends S3StoreOptions {
  readonly signal: AbortSignal;
  readonly name: string;
}

async function send(
  settings: ArtifactStoreSettings,
  { application, hash }: StoredReference,
  { openAws, clock, randomness, signal, name }: SendOptions,
): Promise<Response> {
  const { bucket, key } = settings;
  const isSigned = settings.url === undefined || key !== undefined || isAmazon(settings.url);
  const sendOnce = async (): Promise<Response> => {
    const { url: origin, region } = await getS3Endpoint(openAws, settings);
    const url = new URL(`${origin}/${bucket}/${application}/${hash}`);
    const headers = isSigned ? await signS3Get(await openAws(), url, { region, key }) : {};
    const response = await fetch(url, { headers, redirect: 'manual', signal });
    if (response.status !== 429 && response.status < 500) return response;
    await response.body?.cancel();
    throw new UnavailableError(`${name} cannot be read: S3 answers ${response.status}`);
  };
  try {
    return await retry({ backOff: { firstMs: 200 }, triesMax, clock, randomness, signal }, sendOnce);
  } catch (cause) {
    if (cause instanceof UnavailableError) throw cause;
    throw new UnavailableError(`${name} cannot be read: ${describeFailure(cause)}`, { cause });
  }
}

/** The error of fetch itself only says that it failed. */
function describeFailure(error: unknown): string {
  return getErrorMessage(error instanceof Error && error.cause instanceof Error ? error.cause : error);
}

async function toRefusal(response: Response, name: string): Promise<Error> {
  const { status } = response;
  const text = await readStart(response);
  if (status === 404 && !text.includes('NoSuchBucket')) return new NotFoundError(`There is no ${name}`);
  const code = /<Code>(\w{1,60})<\/Code>/.exec(text)?.[1] ?? `status ${status}`;
  const hint =
    status === 403
      ? ': let this process call s3:GetObject on the bucket, which in AWS the option artifactStoreBucket does; without s3:ListBucket, ' +
        'S3 says so of what is not there, too'
      : ': check artifact-store.s3';
  return new FailedOperationError(`${name} cannot be read: ${code}${hint}`);
}

async function readStart(response: Response): Promise<string> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of response.body ?? []) {
    pieces.push(piece);
    bytes += piece.length;
    if (bytes > errorBytesMax) break;
  }
  return Buffer.concat(pieces).toString('utf8', 0, errorBytesMax);
}

async function* limit(body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>, name: string) {
  let bytes = 0;
  try {
    for await (const piece of body) {
      bytes += piece.length;
      if (bytes > storedBytesMax) break;
      yield piece;
    }
  } catch (cause) {
    throw new FailedOperationError(`${name} broke off: ${describeFailure(cause)}`, { cause });
  }
  if (bytes > storedBytesMax) throw new FailedOperationError(`${name} has more than ${storedBytesMax} bytes`);
}
