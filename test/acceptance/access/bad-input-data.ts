import { operationDefinitions } from '#providers/kubernetes/operations/index.ts';
import { readFixture } from '#test/support/run/fixture.ts';

export interface BadRequest {
  readonly title: string;
  readonly method?: string;
  readonly path?: string;
  /** Sent as it is when a string or bytes, as JSON otherwise. */
  readonly body?: unknown;
  readonly status: number;
  /** The answer's `message`, `Validation Failed` when `errors` is given. */
  readonly message?: string;
  readonly errors?: readonly string[];
}

const ops = '/kubernetes/ops';

const operationNames = operationDefinitions.map(({ name }) => name).join(', ');

export const deployment = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', namespace: 'allowed' },
  spec: {
    replicas: 0,
    selector: { matchLabels: { app: 'web' } },
    template: {
      metadata: { labels: { app: 'web' } },
      spec: { containers: [{ name: 'main', image: 'a/b' }] },
    },
  },
};

/** A description of `deployManifest` that would be accepted, with some fields replaced; undefined leaves one out. */
export function describeDeploy(fields: object = {}): object[] {
  return [
    { deployManifest: { account: 'test', moniker: { app: 'web' }, manifests: [deployment], ...fields } },
  ];
}

/** `.rule` of an error stands behind the operation's name in Clouddriver, `: rule` behind the name here. */
type WrongRow = readonly [title: string, fields: object, ...errors: string[]];

function listWrong(operation: string, base: object): readonly BadRequest[] {
  const inClouddriver = operation.replace('Manifest', 'KubernetesManifest');
  const toError = (error: string) => {
    if (error.startsWith('.')) return `${inClouddriver}.${inClouddriver}${error}`;
    return error.startsWith(':') ? `${operation}${error}` : error;
  };
  return (rows.operations[operation] ?? []).map(([title, fields, ...errors]) => ({
    ...{
      title,
      body: [{ [operation]: { ...base, ...toFields(fields) } }],
      status: 400,
      errors: errors.map(toError),
    },
  }));
}

const notJson = 'The body is not valid JSON';
const noBody = 'The request must have a body in JSON';
const noList = 'The body must be a JSON array of operations, each an object like {"deployManifest": {…}}';
const noOperation = "Operation 0 must be an object with one key, the operation's name";
const noKey = "Operation 0 must have exactly one key, the operation's name; it has:";
const noDescription = "Operation 0: the value of 'deployManifest' must be an object";
const refused = (title: string, body: unknown, error: string): BadRequest => ({
  ...{ title, body, status: 400, errors: [error] },
});

export const malformedBodies: readonly BadRequest[] = [
  refused('no body', undefined, noBody),
  refused('an empty body', '', noBody),
  refused('a body of spaces', '   ', noBody),
  refused('a body that is not JSON', '{"deployManifest": planted-secret', notJson),
  refused('a body cut off', '[{"deployManifest": {"account": "te', `${notJson} (at position 35)`),
  refused('a body of null bytes', '\0\0\0\0', notJson),
  refused('a body that is not UTF-8', new Uint8Array([0x5b, 0xff, 0xfe, 0x5d]), notJson),
  refused(
    'a body nested 200,000 levels deep',
    '['.repeat(2e5) + ']'.repeat(2e5),
    'The body is nested too deep: at most 500 levels are accepted',
  ),
  refused('an object instead of an array', { deployManifest: {} }, noList),
  refused('a string instead of an array', '"deployManifest"', noList),
  refused('null instead of an array', 'null', noList),
  refused('a number instead of an array', '3', noList),
  refused('an operation that is null', [null], noOperation),
  refused('an operation that is a string', ['deployManifest'], noOperation),
  refused('an operation without a key', [{}], `${noKey} none`),
  refused(
    'an operation with two keys',
    [{ deployManifest: {}, scaleManifest: {} }],
    `${noKey} deployManifest, scaleManifest`,
  ),
  refused('a description that is null', [{ deployManifest: null }], noDescription),
  refused('a description that is an array', [{ deployManifest: [] }], noDescription),
  ...[
    ['an unknown operation', 'destroyServerGroup'],
    ['an operation named like a property of every object', 'constructor'],
  ].map(([title = '', name = '']) =>
    refused(
      title,
      [{ [name]: {} }],
      `Unknown operation '${name}' of provider 'kubernetes'; it has: ${operationNames}`,
    ),
  ),
  { ...refused('an unknown provider', describeDeploy(), "Unknown cloud provider 'aws'"), path: '/aws/ops' },
  {
    ...refused(
      'no provider on /ops',
      describeDeploy(),
      "Operation 0: the description must name its 'cloudProvider', or be posted to /{cloudProvider}/ops",
    ),
    path: '/ops',
  },
  { ...refused('no object on /ops/{operation}', '[]', noDescription), path: '/ops/deployManifest' },
  {
    ...refused(
      'a client request id of 2,000 characters',
      describeDeploy(),
      'clientRequestId must have at most 1024 characters, not 2000',
    ),
    path: `${ops}?clientRequestId=${'x'.repeat(2000)}`,
  },
  {
    title: 'a body of 12 MB',
    body: JSON.stringify(describeDeploy({ filler: 'x'.repeat(12e6) })),
    status: 413,
    message:
      'The request is too large: a body of 12000348 bytes or more exceeds the 6 MB (6291556 bytes) that AWS Lambda accepts; send less at once, such as fewer manifests in a stage',
  },
];

/** The lists of `test/fixtures/bad-input.yaml`; its head says what stands for what. */
const rows = readFixture<{
  readonly operations: { readonly [operation: string]: readonly WrongRow[] };
  /** By the status of the answer; those that are `invalid` are answered 400 with errors. */
  readonly routes: { readonly [status: string]: readonly RouteRow[] };
}>('bad-input.yaml');

/** With what the names in round brackets stand for. */
function fill(value: unknown): unknown {
  if (value === '(none)') return undefined;
  if (value === '(the deploy)') return describeDeploy();
  if (value === '(the deployment)') return deployment;
  if (Array.isArray(value)) return value.map(fill);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, fill(member)]));
}

/** The fields of a description, whose manifest is the Deployment with other members, or other metadata. */
function toFields(written: object): object {
  const { manifest, metadata, ...fields } = fill(written) as { manifest?: object; metadata?: object };
  const members = { ...manifest, ...(metadata && { metadata: { ...deployment.metadata, ...metadata } }) };
  const isOther = manifest !== undefined || metadata !== undefined;
  return { ...fields, ...(isOther && { manifests: [{ ...deployment, ...members }] }) };
}

const onWeb = { account: 'test', manifestName: 'deployment web', location: 'allowed' };

export const wrongDescriptions: readonly BadRequest[] = [
  ...listWrong('deployManifest', { account: 'test', moniker: { app: 'web' }, manifests: [deployment] }),
  ...listWrong('scaleManifest', { ...onWeb, replicas: 1 }),
  ...listWrong('deleteManifest', onWeb),
];

/** A request such as `GET /path`, and what its answer says. */
type RouteRow = readonly [title: string, request: string, answer: string, body?: unknown];

function toRequest([title, request, answer, body]: RouteRow): Omit<BadRequest, 'status'> {
  const [method = '', path = ''] = request.split(' ');
  return { title, method, path, message: answer, ...(body !== undefined && { body: fill(body) }) };
}

export const wrongRoutes: readonly BadRequest[] = [
  ...[404, 405, 400].flatMap((status) =>
    (rows.routes[status] ?? []).map((row) => ({ ...toRequest(row), status })),
  ),
  ...(rows.routes['invalid'] ?? [])
    .map(toRequest)
    .map(({ message = '', ...rest }) => ({ ...rest, status: 400, errors: [message] })),
  {
    title: 'an artifact with a name beyond the limit, and metadata too deep',
    method: 'PUT',
    path: '/artifacts/fetch',
    body: `{"type":"http/file","name":"${'x'.repeat(8_193)}","metadata":${'{"a":'.repeat(100)}1${'}'.repeat(101)}`,
    status: 400,
    errors: [
      'artifact: name: expected at most 8192 characters, got 8193',
      'artifact: metadata: expected at most 64 levels',
    ],
  },
];
