import { asJsonArray, asJsonObject, asString, type JsonObject, type JsonValue } from '#core/json.ts';
import type { EcrImage, EcrPageOptions, EcrRegistry, EcrService } from '../../ports/ecr.ts';
import { ServiceBusyError } from '../../ports/lookup.ts';
import { toAwsFailure } from '../aws-failure.ts';
import type { AwsIdentities } from './aws-identity.ts';
import { CallError, type SigningOptions, sendSignedJson } from './signed-call.ts';

interface EcrServiceOptions extends SigningOptions {
  readonly identities: Pick<AwsIdentities, 'getCredentials'>;
}

type EcrAction = 'GetAuthorizationToken' | 'DescribeRepositories' | 'DescribeImages';

/** Entries of a page: ECR's limit. */
const pageSize = 1_000;

/** Bytes of an answer: a page of images with dozens of tags each. */
export const ecrAnswerBytesMax = 8 * 2 ** 20;

/** AWS' codes for a session that has ended, or was ended. */
const endedSession = /^(ExpiredToken(Exception)?|UnrecognizedClientException|InvalidClientTokenId)$/;

/** ECR by its wire protocol, signed as this process or as a role. */
export function createEcrService(options: EcrServiceOptions): EcrService {
  return {
    async getAuthorizationToken(registry, signal) {
      const answer = await call(registry, { action: 'GetAuthorizationToken', input: {}, signal }, options);
      const [data] = asJsonArray(answer['authorizationData']).map(asJsonObject);
      const basic = asString(data?.['authorizationToken']) ?? '';
      const expiresAtMs = toMs(data?.['expiresAt']);
      if (!/^[\w+/]+=*$/.test(basic) || expiresAtMs === undefined) {
        throw new Error(`ECR in ${registry.region} answered no token`);
      }
      return { basic, expiresAtMs };
    },
    async describeRepositories(registry, { nextToken, signal }) {
      const input = toPage(registry, { nextToken });
      const answer = await call(registry, { action: 'DescribeRepositories', input, signal }, options);
      const names = asJsonArray(answer['repositories']).map((each) => asText(each, 'repositoryName'));
      return { names: names.filter((name) => name !== undefined), ...findNextToken(answer) };
    },
    async describeImages(registry, repositoryName, { nextToken, signal }) {
      const filter = { tagStatus: 'TAGGED' };
      const input = { ...toPage(registry, { nextToken }), repositoryName, filter };
      try {
        const answer = await call(registry, { action: 'DescribeImages', input, signal }, options);
        return { images: asJsonArray(answer['imageDetails']).flatMap(readImage), ...findNextToken(answer) };
      } catch (error) {
        if (error instanceof Error && isMissing(error.cause)) return undefined;
        throw error;
      }
    },
  };
}

function toPage({ registryId }: EcrRegistry, { nextToken }: Pick<EcrPageOptions, 'nextToken'>): JsonObject {
  return { registryId, maxResults: pageSize, ...(nextToken !== undefined && { nextToken }) };
}

function findNextToken(answer: JsonObject): { nextToken?: string } {
  const nextToken = asString(answer['nextToken']);
  return nextToken ? { nextToken } : {};
}

interface EcrCall {
  readonly action: EcrAction;
  readonly input: JsonObject;
  readonly signal: AbortSignal;
}

async function call(registry: EcrRegistry, given: EcrCall, options: EcrServiceOptions): Promise<JsonObject> {
  try {
    return await send(registry, given, { ...options, refused: false });
  } catch (error) {
    given.signal.throwIfAborted();
    if (!(error instanceof CallError) || !endedSession.test(error.name))
      throw toFailure(error, registry, given);
  }
  try {
    return await send(registry, given, { ...options, refused: true });
  } catch (error) {
    given.signal.throwIfAborted();
    throw toFailure(error, registry, given);
  }
}

async function send(
  { region, roleArn, externalId }: EcrRegistry,
  { action, input, signal }: EcrCall,
  { identities, refused, ...options }: EcrServiceOptions & { readonly refused: boolean },
): Promise<JsonObject> {
  const credentials = await identities.getCredentials({ region, roleArn, externalId }, refused);
  const target = `AmazonEC2ContainerRegistry_V20150921.${action}`;
  const request = { target, input, bytesMax: ecrAnswerBytesMax, repeatsReason: true, signal };
  return sendSignedJson({ ...request, service: 'ecr' }, { region, credentials }, options);
}

function toFailure(error: unknown, { registryId, region, roleArn }: EcrRegistry, { action }: EcrCall): Error {
  const as = roleArn === undefined ? '' : ` as ${roleArn}`;
  // `fetch` hides why the connection failed.
  const cause = error instanceof TypeError && error.cause instanceof Error ? error.cause : error;
  const failure = toAwsFailure(cause, {
    what: `cannot ask the ECR registry ${registryId} in ${region}${as}`,
    whenDenied: `allow ecr:${action} on its repositories to this identity`,
  });
  return isBusy(error) ? new ServiceBusyError(failure.message, { cause: error }) : failure;
}

/** Whether ECR may answer the same call later: it throttles or is unavailable. A failed connection has no code from AWS. */
function isBusy(error: unknown): boolean {
  if (error instanceof CallError) return error.isPassing;
  return error instanceof Error && (error.name === 'TimeoutError' || error instanceof TypeError);
}

function isMissing(error: unknown): boolean {
  return error instanceof CallError && error.name === 'RepositoryNotFoundException';
}

function readImage(value: JsonValue): readonly EcrImage[] {
  const digest = asText(value, 'imageDigest');
  if (digest === undefined) return [];
  const { imageTags, imagePushedAt } = asJsonObject(value) ?? {};
  const tags = asJsonArray(imageTags).filter((tag) => typeof tag === 'string');
  const pushedAtMs = toMs(imagePushedAt);
  return [
    { digest, tags, ...(pushedAtMs !== undefined && { pushedAt: new Date(pushedAtMs).toISOString() }) },
  ];
}

function asText(value: JsonValue, member: string): string | undefined {
  return asString(asJsonObject(value)?.[member]);
}

/** Times of AWS' JSON protocol are seconds since the epoch, with fractions. */
function toMs(seconds: JsonValue | undefined): number | undefined {
  if (typeof seconds !== 'number') return undefined;
  const ms = Math.round(seconds * 1000);
  return Number.isNaN(new Date(ms).getTime()) ? undefined : ms;
}
