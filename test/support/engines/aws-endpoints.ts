import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { vi } from 'vitest';
import { closeServer, listenLocally } from '../network/local-server.ts';
import { makeTempDir } from '../run/temp-dir.ts';

/** A call as it came over the wire. */
export interface SeenCall {
  readonly action:
    | 'AssumeRole'
    | 'DescribeCluster'
    | 'DescribeSecret'
    | 'GetObject'
    | 'GetParameter'
    | 'GetSecretValue';
  /** Access key that signed it. */
  readonly accessKeyId: string;
  /** Region that it was signed for. */
  readonly region: string;
  /** What was asked for: the query of STS, the body of Secrets Manager, the name of a cluster. */
  readonly parameters: Readonly<Record<string, string>>;
}

/** An error in AWS' manner. */
export interface Refusal {
  readonly status: number;
  readonly code: string;
  readonly message: string;
}

/** What the endpoints know; tests change it. */
export interface AwsWorld {
  /** Clusters by name; what EKS says of each. */
  readonly clusters: Map<string, object | Refusal>;
  /** Secrets by name or ARN. Another text is another version. */
  readonly secrets: Map<string, { SecretString?: string; SecretBinary?: string } | Refusal>;
  /** Tags of secrets, by the secret's name. */
  readonly tags: Map<string, { readonly [key: string]: string } | Refusal>;
  /** Objects in S3, by `bucket/key`. */
  readonly objects: Map<string, string | Refusal>;
  /** Parameters of Systems Manager, by name. */
  readonly parameters: Map<string, string | Refusal>;
  /** Roles that may be assumed, by ARN; the life of a session in seconds. */
  readonly roles: Map<string, number | Refusal>;
  /** How many DescribeCluster EKS takes at once, and then each second, of one AWS account in one region. Default: any number. */
  readonly describeLimit: { burst: number; perSecond: number };
}

/** STS, EKS and Secrets Manager, speaking their wire protocols on 127.0.0.1. */
export interface AwsEndpoints extends AsyncDisposable, AwsWorld {
  /** The folder of AWS' own files. */
  readonly dir: string;
  readonly calls: SeenCall[];
  /** Calls of one action. */
  countCalls(action: SeenCall['action']): number;
  /** Lets calls wait for their answer until the function that it returns is called. */
  hold(): () => void;
}

/**
 * Starts the endpoints and points this process's environment at them, with a key of its own. Disposing undoes the latter, and whatever
 * else vitest was told to put into the environment.
 *
 * @param folder a folder in which no AWS configuration is. Default: one that goes with the endpoints.
 */
export async function startAwsEndpoints(folder?: string): Promise<AwsEndpoints> {
  const own = folder === undefined ? await makeTempDir() : undefined;
  const dir = folder ?? own?.path ?? '';
  const calls: SeenCall[] = [];
  let held: Promise<void> | undefined;
  const world: AwsWorld = {
    clusters: new Map(),
    secrets: new Map(),
    tags: new Map(),
    objects: new Map(),
    parameters: new Map(),
    roles: new Map(),
    describeLimit: { burst: Number.POSITIVE_INFINITY, perSecond: 0 },
  };
  const meter = new CallMeter(world);
  const server = createServer(async (message, response) => {
    const call = await readCall(message);
    calls.push(call);
    await held;
    answerers[call.action](call, { world, response, count: calls.length, meter });
  });
  const url = `http://127.0.0.1:${await listenLocally(server)}`;
  stubEnvironment(url, dir);
  return {
    ...world,
    dir,
    calls,
    countCalls: (action) => calls.filter((call) => call.action === action).length,
    hold() {
      const { promise, resolve } = Promise.withResolvers<void>();
      held = promise;
      return resolve;
    },
    async [Symbol.asyncDispose]() {
      vi.unstubAllEnvs();
      await closeServer(server);
      await own?.[Symbol.asyncDispose]();
    },
  };
}

function stubEnvironment(url: string, folder: string): void {
  const variables = {
    AWS_ENDPOINT_URL_STS: url,
    AWS_ENDPOINT_URL_EKS: url,
    AWS_ENDPOINT_URL_SECRETS_MANAGER: url,
    AWS_ENDPOINT_URL_S3: url,
    AWS_ENDPOINT_URL_SSM: url,
    AWS_REGION: 'eu-west-1',
    AWS_DEFAULT_REGION: undefined,
    AWS_PROFILE: undefined,
    AWS_ACCESS_KEY_ID: 'AKIAOWN',
    AWS_SECRET_ACCESS_KEY: 'own-secret-key',
    AWS_SESSION_TOKEN: undefined,
    AWS_EC2_METADATA_DISABLED: 'true',
    AWS_CONFIG_FILE: `${folder}/aws-config`,
    AWS_SHARED_CREDENTIALS_FILE: `${folder}/aws-credentials`,
  };
  for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value);
}

async function readCall(message: IncomingMessage): Promise<SeenCall> {
  const body = await text(message);
  const [, accessKeyId = '', region = ''] =
    /Credential=([^/]+)\/\d+\/([^/]+)/.exec(message.headers.authorization ?? '') ?? [];
  const target = String(message.headers['x-amz-target']);
  const [, cluster] = /^\/clusters\/([^/?]+)/.exec(message.url ?? '') ?? [];
  if (cluster !== undefined) {
    return { action: 'DescribeCluster', accessKeyId, region, parameters: { name: cluster } };
  }
  const [, action] = /\.(DescribeSecret|GetParameter|GetSecretValue)$/.exec(target) ?? [];
  if (isJsonAction(action)) return { action, accessKeyId, region, parameters: JSON.parse(body) };
  if (message.headers.authorization?.includes('/s3/aws4_request') === true) {
    const id = decodeURIComponent(message.url ?? '').slice(1);
    return { action: 'GetObject', accessKeyId, region, parameters: { id } };
  }
  const parameters = Object.fromEntries(new URLSearchParams(body));
  if (parameters['Action'] !== 'AssumeRole') throw new Error(`no such call: ${message.url} ${body}`);
  return { action: 'AssumeRole', accessKeyId, region, parameters };
}

function isJsonAction(
  action: string | undefined,
): action is 'DescribeSecret' | 'GetParameter' | 'GetSecretValue' {
  return action !== undefined;
}

interface Answering {
  readonly world: AwsWorld;
  readonly response: ServerResponse;
  /** Calls so far. */
  readonly count: number;
  readonly meter: CallMeter;
}

/** Counts what EKS is asked by sessions of one AWS account, as it does. */
class CallMeter {
  readonly #world: AwsWorld;
  readonly #accounts = new Map<string, string>();
  readonly #buckets = new Map<string, { tokens: number; atMs: number }>();

  constructor(world: AwsWorld) {
    this.#world = world;
  }

  /** Remembers of which AWS account a session is. */
  addSession(accessKeyId: string, roleArn: string): void {
    this.#accounts.set(accessKeyId, roleArn.split(':')[4] ?? '');
  }

  /** Whether there is room for a call. */
  take({ accessKeyId, region }: SeenCall): boolean {
    const { burst, perSecond } = this.#world.describeLimit;
    const key = `${this.#accounts.get(accessKeyId) ?? 'own'} ${region}`;
    const { tokens, atMs } = this.#buckets.get(key) ?? { tokens: burst, atMs: Date.now() };
    const now = Date.now();
    const left = Math.min(burst, tokens + ((now - atMs) / 1000) * perSecond);
    this.#buckets.set(key, { tokens: left >= 1 ? left - 1 : left, atMs: now });
    return left >= 1;
  }
}

const answerers: Record<SeenCall['action'], (call: SeenCall, answering: Answering) => void> = {
  DescribeCluster(call, { world, response, meter }) {
    const name = call.parameters['name'] ?? '';
    if (!meter.take(call)) {
      answerJson(response, 429, { code: 'TooManyRequestsException', message: 'Too Many Requests' });
      return;
    }
    const missing = { code: 'ResourceNotFoundException', status: 404, message: `No cluster found: ${name}.` };
    const found = world.clusters.get(name) ?? missing;
    if (!isRefusal(found)) answerJson(response, 200, { cluster: { name, ...found } });
    else answerJson(response, found.status, { code: found.code, message: found.message });
  },

  GetSecretValue({ parameters }, { world, response }) {
    const name = parameters['SecretId'] ?? '';
    const message = "Secrets Manager can't find the specified secret.";
    const found = world.secrets.get(name) ?? { code: 'ResourceNotFoundException', status: 400, message };
    if (!isRefusal(found)) answerJson(response, 200, { Name: name, VersionId: toVersionId(found), ...found });
    else answerJson(response, found.status, { __type: found.code, Message: found.message });
  },

  DescribeSecret({ parameters }, { world, response }) {
    const name = parameters['SecretId'] ?? '';
    const found = world.tags.get(name) ?? {};
    if (isRefusal(found))
      answerJson(response, Number(found.status), { __type: found.code, Message: found.message });
    else {
      const Tags = Object.entries(found).map(([Key, Value]) => ({ Key, Value }));
      answerJson(response, 200, { Name: name, Tags });
    }
  },

  GetObject({ parameters }, { world, response }) {
    const missing = { code: 'NoSuchKey', status: 404, message: 'The specified key does not exist.' };
    const found = world.objects.get(parameters['id'] ?? '') ?? missing;
    if (typeof found === 'string') {
      response.writeHead(200, { etag: `"${toVersionId({ found })}"` }).end(found);
    } else {
      const { code, message } = found;
      const xml = `<?xml version="1.0"?><Error><Code>${code}</Code><Message>${message}</Message></Error>`;
      response.writeHead(found.status, { 'content-type': 'application/xml' }).end(xml);
    }
  },

  GetParameter({ parameters }, { world, response }) {
    const missing = { code: 'ParameterNotFound', status: 400, message: '' };
    const found = world.parameters.get(parameters['Name'] ?? '') ?? missing;
    if (typeof found !== 'string') {
      answerJson(response, found.status, { __type: `com.amazonaws#${found.code}`, message: found.message });
    } else {
      const Version = Number.parseInt(toVersionId({ found }).slice(0, 6), 16);
      answerJson(response, 200, { Parameter: { Name: parameters['Name'], Value: found, Version } });
    }
  },

  AssumeRole({ parameters }, { world, response, count, meter }) {
    const role = parameters['RoleArn'] ?? '';
    meter.addSession(`ASIA${count}`, role);
    const message = `User: arn:aws:iam::111122223333:user/me is not authorized to perform: sts:AssumeRole on resource: ${role}`;
    const found = world.roles.get(role) ?? { status: 403, code: 'AccessDenied', message };
    const xml = typeof found === 'number' ? toSession(found, count) : toErrorXml(found);
    response
      .writeHead(typeof found === 'number' ? 200 : found.status, { 'content-type': 'text/xml' })
      .end(xml);
  },
};

function toVersionId(secret: object): string {
  return createHash('sha256').update(JSON.stringify(secret)).digest('hex').slice(0, 32);
}

function isRefusal(value: object): value is Refusal {
  return 'code' in value;
}

function answerJson(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

function toSession(seconds: number, count: number): string {
  const expiration = new Date(Date.now() + seconds * 1000).toISOString();
  return `<AssumeRoleResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleResult><Credentials><AccessKeyId>ASIA${count}</AccessKeyId><SecretAccessKey>role-secret-key</SecretAccessKey><SessionToken>role-session-token</SessionToken><Expiration>${expiration}</Expiration></Credentials></AssumeRoleResult></AssumeRoleResponse>`;
}

function toErrorXml({ code, message }: Refusal): string {
  return `<ErrorResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><Error><Type>Sender</Type><Code>${code}</Code><Message>${message}</Message></Error></ErrorResponse>`;
}

/** The request that a token of EKS holds: its query, and whose key signed it. */
export function readToken(token: string): { url: URL; accessKeyId: string } {
  const url = new URL(Buffer.from(token.replace(/^k8s-aws-v1\./, ''), 'base64url').toString('utf8'));
  return { url, accessKeyId: url.searchParams.get('X-Amz-Credential')?.split('/')[0] ?? '' };
}
