import { createServer, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { Sha256 } from '@smithy/core/checksum';
import { SignatureV4 } from '@smithy/signature-v4';
import type { AwsCredentialIdentity } from '@smithy/types';
import { vi } from 'vitest';
import { closeServer, listenLocally } from '../network/local-server.ts';

/** A call that was signed rightly. */
export interface EcrCall {
  readonly action: string;
  readonly accessKeyId: string;
  readonly region: string;
  readonly input: Readonly<Record<string, unknown>>;
}

/** An image as a test puts it there. */
export interface TestEcrImage {
  readonly tags: readonly string[];
  /** Milliseconds since the epoch. */
  readonly pushedAtMs: number;
}

/** ECR's API on 127.0.0.1: AWS' JSON protocol, for those alone who sign their calls. */
export interface TestEcr extends AsyncDisposable {
  readonly url: string;
  /** AWS account that it belongs to. */
  readonly registryId: string;
  /** Images by digest, by repository; tests change them. */
  readonly repositories: Map<string, Map<string, TestEcrImage>>;
  /** Whose calls are taken, by access key; tests change them. */
  readonly keys: Map<string, AwsCredentialIdentity>;
  /** What a token is at present: user and password. */
  token: string;
  /** Seconds for which a token holds. */
  tokenSeconds: number;
  /** Entries of a page at most. */
  pageSize: number;
  /** Errors that the next calls are answered, first to last. */
  readonly refusals: { readonly status: number; readonly code: string; readonly message?: string }[];
  readonly calls: EcrCall[];
  /** Calls of one action. */
  countCalls(action: string): number;
  /** Requests that were not signed as AWS wants it. */
  readonly unsigned: string[];
}

/** AWS account of the registry. */
export const ecrRegistryId = '123456789012';

/** Region of the registry. */
export const ecrRegion = 'us-west-2';

/** Names the digest of a letter: `sha256:aaa…`. */
export function toDigest(letter: string): string {
  return `sha256:${letter.repeat(64)}`;
}

/** Starts ECR of one AWS account, and points this process's environment at it; vitest's `unstubAllEnvs` undoes the latter. */
export async function startEcr(registryId = ecrRegistryId): Promise<TestEcr> {
  const server = createServer((message, response) => {
    void answer(message).then(({ status, body }) =>
      response.writeHead(status, { 'content-type': 'application/x-amz-json-1.1' }).end(JSON.stringify(body)),
    );
  });
  const url = `http://127.0.0.1:${await listenLocally(server)}`;
  const calls: EcrCall[] = [];
  const unsigned: string[] = [];
  const own = { accessKeyId: 'AKIAOWN', secretAccessKey: 'own-secret-key' };
  const ecr: TestEcr = {
    url,
    registryId,
    repositories: new Map(),
    keys: new Map([[own.accessKeyId, own]]),
    token: 'AWS:planted-ecr-token',
    tokenSeconds: 12 * 3600,
    pageSize: 1_000,
    refusals: [],
    calls,
    unsigned,
    countCalls: (action) => calls.filter((call) => call.action === action).length,
    [Symbol.asyncDispose]: () => closeServer(server),
  };
  const answer = async (message: IncomingMessage): Promise<Answer> => {
    const body = await text(message);
    const target = String(message.headers['x-amz-target']);
    const [, action = ''] = /^AmazonEC2ContainerRegistry_V20150921\.(\w+)$/.exec(target) ?? [];
    const signer = parseSigner(message);
    if (!(await isSigned(message, body, ecr.keys.get(signer.accessKeyId)))) {
      unsigned.push(`${target} by ${signer.accessKeyId}`);
      return refuse('UnrecognizedClientException', 'The security token included in the request is invalid.');
    }
    const input = JSON.parse(body) as Record<string, unknown>;
    calls.push({ action, ...signer, input });
    const refusal = ecr.refusals.shift();
    if (refusal !== undefined) return refuse(refusal.code, refusal.message ?? '', refusal.status);
    return answerers[action]?.(input, ecr) ?? refuse('UnknownOperationException', action);
  };
  vi.stubEnv('AWS_ENDPOINT_URL_ECR', url);
  return ecr;
}

interface Answer {
  readonly status: number;
  readonly body: object;
}

function refuse(code: string, message: string, status = 400): Answer {
  return { status, body: { __type: code, message } };
}

const answerers: {
  readonly [action: string]: (input: Readonly<Record<string, unknown>>, ecr: TestEcr) => Answer;
} = {
  GetAuthorizationToken(_, { token, tokenSeconds }) {
    const authorizationToken = Buffer.from(token).toString('base64');
    const expiresAt = Date.now() / 1000 + tokenSeconds;
    return { status: 200, body: { authorizationData: [{ authorizationToken, expiresAt }] } };
  },
  DescribeRepositories(input, ecr) {
    if (input['registryId'] !== ecr.registryId)
      return refuse('InvalidParameterException', 'no such registry');
    const { page, nextToken } = cut([...ecr.repositories.keys()], input, ecr);
    const repositories = page.map((repositoryName) => ({ repositoryName, registryId: ecr.registryId }));
    return { status: 200, body: { repositories, nextToken } };
  },
  DescribeImages(input, ecr) {
    const repositoryName = String(input['repositoryName']);
    const images = ecr.repositories.get(repositoryName);
    if (input['registryId'] !== ecr.registryId || images === undefined) {
      return refuse('RepositoryNotFoundException', `The repository with name '${repositoryName}' is away`);
    }
    const isTagged = JSON.stringify(input['filter']) === '{"tagStatus":"TAGGED"}';
    const all = [...images].filter(([, { tags }]) => tags.length > 0 || !isTagged);
    const { page, nextToken } = cut(all, input, ecr);
    const imageDetails = page.map(([imageDigest, { tags, pushedAtMs }]) => ({
      ...{ registryId: ecr.registryId, repositoryName, imageDigest, imageSizeInBytes: 7 },
      ...(tags.length > 0 && { imageTags: tags }),
      imagePushedAt: pushedAtMs / 1000,
    }));
    return { status: 200, body: { imageDetails, nextToken } };
  },
};

/** A page, and what asks for the next one. */
function cut<T>(all: readonly T[], input: Readonly<Record<string, unknown>>, { pageSize }: TestEcr) {
  const most = Math.min(Number(input['maxResults'] ?? 100), pageSize);
  const start = Number(input['nextToken'] ?? 0);
  const end = start + most;
  return { page: all.slice(start, end), nextToken: end < all.length ? String(end) : undefined };
}

function parseSigner({ headers: { authorization = '' } }: IncomingMessage) {
  const [, accessKeyId = '', region = ''] =
    /Credential=([^/]+)\/\d+\/([^/]+)\/ecr\/aws4_request/.exec(authorization) ?? [];
  return { accessKeyId, region };
}

/** Whether a request has the signature that the key makes of it. */
async function isSigned(
  message: IncomingMessage,
  body: string,
  credentials: AwsCredentialIdentity | undefined,
): Promise<boolean> {
  const { authorization = '' } = message.headers;
  if (credentials === undefined) return false;
  const [, names = ''] = /SignedHeaders=([^,]+)/.exec(authorization) ?? [];
  const headers = Object.fromEntries(
    names.split(';').map((name) => [name, String(message.headers[name] ?? '')]),
  );
  const [, year, month, day, hour, minute, second] =
    /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(String(message.headers['x-amz-date'])) ?? [];
  const { region } = parseSigner(message);
  const signer = new SignatureV4({ credentials, region, service: 'ecr', sha256: Sha256 });
  const signed = await signer.sign(
    { method: 'POST', protocol: 'http:', hostname: '127.0.0.1', path: '/', query: {}, headers, body },
    { signingDate: new Date(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`) },
  );
  return signed.headers['authorization'] === authorization;
}
