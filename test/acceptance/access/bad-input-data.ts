import { operationDefinitions } from '#providers/kubernetes/operations/index.ts';

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

function listWrong(operation: string, base: object, rows: readonly WrongRow[]): readonly BadRequest[] {
  const inClouddriver = operation.replace('Manifest', 'KubernetesManifest');
  const toError = (error: string) => {
    if (error.startsWith('.')) return `${inClouddriver}.${inClouddriver}${error}`;
    return error.startsWith(':') ? `${operation}${error}` : error;
  };
  return rows.map(([title, fields, ...errors]) => ({
    ...{ title, body: [{ [operation]: { ...base, ...fields } }], status: 400, errors: errors.map(toError) },
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

/** The Deployment with some members replaced. */
const manifest = (members: object) => ({ manifests: [{ ...deployment, ...members }] });
const named = (metadata: object) =>
  manifest({ metadata: { name: 'web', namespace: 'allowed', ...metadata } });
const selecting = (selector: object) => ({ labelSelectors: { selectors: [{ values: ['a'], ...selector }] } });
const oneVersion = { annotations: { 'strategy.spinnaker.io/max-version-history': '1' } };
const text = 'got a string (not shown)';
const ofTwoWords = "is not an object's name of the form 'kind name', as in 'deployment web'";
const noPath = "expected a name without '/' and '%'";
const selectorKinds = 'ANY, EQUALS, NOT_EQUALS, CONTAINS, NOT_CONTAINS, EXISTS, NOT_EXISTS';

const wrongDeploys: readonly WrongRow[] = [
  ['no account', { account: undefined }, '.account.empty'],
  ['an account that is null', { account: null }, '.account.empty'],
  ['an empty account', { account: '' }, '.account.empty'],
  [
    'an unknown account',
    { account: 'nowhere' },
    ": there is no Kubernetes account 'nowhere'; there are: test, wide",
  ],
  ['an account that is an object', { account: {} }, ': account: expected a string, got an object'],
  ['no moniker', { moniker: undefined }, '.moniker.empty'],
  ['a moniker that is a string', { moniker: 'web' }, `: moniker: expected an object, ${text}`],
  ['a moniker without app', { moniker: {} }, '.moniker.app.empty'],
  [
    'a moniker whose sequence is text',
    { moniker: { app: 'web', sequence: 'three' } },
    `: moniker.sequence: expected a whole number, ${text}`,
  ],
  ['no manifests', { manifests: undefined }, '.manifests.empty'],
  ['manifests that are an object', { manifests: deployment }, ': manifests: expected a list, got an object'],
  ['manifests that are a string', { manifests: 'all' }, `: manifests: expected a list, ${text}`],
  ['a manifest that is a string', { manifests: ['web'] }, `: manifests[0]: expected an object, ${text}`],
  ['a manifest that is a number', { manifests: [3] }, ': manifests[0]: expected an object, got 3'],
  [
    'a manifest without kind',
    manifest({ kind: undefined }),
    ': manifests[0].kind: expected a string, got none',
  ],
  [
    'a manifest whose kind is a number',
    manifest({ kind: 3 }),
    ': manifests[0].kind: expected a string, got 3',
  ],
  [
    'a manifest without apiVersion',
    manifest({ apiVersion: undefined }),
    ': manifests[0].apiVersion: expected a string, got none',
  ],
  [
    'a manifest without metadata',
    manifest({ metadata: undefined }),
    ': manifests[0].metadata: expected an object, got none',
  ],
  [
    'a manifest whose metadata is a string',
    manifest({ metadata: 'web' }),
    `: manifests[0].metadata: expected an object, ${text}`,
  ],
  [
    'a manifest without a name',
    named({ name: undefined }),
    ': manifests[0].metadata.name: expected a name or a generateName, got none',
  ],
  [
    'a namespace that the account does not have',
    { namespaceOverride: 'forbidden' },
    '.forbidden.wrongNamespace',
  ],
  ['a manifest in such a namespace', named({ namespace: 'other' }), '.other.wrongNamespace'],
  [
    'a manifest whose namespace is a list',
    named({ namespace: ['vault'] }),
    ': manifests[0].metadata.namespace: expected a string, got a list',
  ],
  [
    'a manifest whose name has a slash',
    named({ name: 'web/status' }),
    `: manifests[0].metadata.name: ${noPath}`,
  ],
  [
    'a Namespace that the account does not have',
    { manifests: [{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'vault' } }] },
    '.vault.wrongNamespace',
  ],
  [
    'a kind that cannot be deployed',
    { manifests: [{ apiVersion: 'v1', kind: 'Event', metadata: { name: 'e', namespace: 'allowed' } }] },
    'event e cannot be deployed: Kubernetes itself makes such objects',
  ],
  ['a flag that is text', { enableTraffic: 'maybe' }, `: enableTraffic: expected true or false, ${text}`],
  ['a flag that is an object', { versioned: {} }, ': versioned: expected true or false, got an object'],
  [
    'a strategy in lower case',
    { strategy: 'red_black' },
    `: strategy: expected one of RED_BLACK, BLUE_GREEN, HIGHLANDER, NONE, ${text}`,
  ],
  [
    'a strategy that needs two versions and keeps one',
    { strategy: 'RED_BLACK', ...named(oneVersion) },
    'deployment web: annotation strategy.spinnaker.io/max-version-history is 1, but the strategy RED_BLACK needs at least 2 versions',
  ],
  ['services that are a string', { services: 'service web' }, `: services: expected a list, ${text}`],
  [
    'artifacts that are an object',
    { requiredArtifacts: {} },
    ': requiredArtifacts: expected a list, got an object',
  ],
  [
    'an artifact that is a string',
    { requiredArtifacts: ['a'] },
    `: requiredArtifacts[0]: expected an object, ${text}`,
  ],
  [
    'selectors without a key',
    selecting({ kind: 'EQUALS' }),
    ': labelSelectors.selectors[0].key: expected the key of a label, got none',
  ],
  [
    'selectors of an unknown kind',
    selecting({ kind: 'LIKE', key: 'a' }),
    `: labelSelectors.selectors[0].kind: expected one of ${selectorKinds}, ${text}`,
  ],
];

const wholeNumber = ': replicas: expected a whole number of at least 0,';
const wrongScales: readonly WrongRow[] = [
  ['no name', { manifestName: undefined }, '.manifestName.empty'],
  ['a name of one word', { manifestName: 'deployment' }, `'deployment' ${ofTwoWords}`],
  ['a name of three words', { manifestName: 'deployment web app' }, `'deployment web app' ${ofTwoWords}`],
  ['replicas that are text', { replicas: 'many' }, `${wholeNumber} ${text}`],
  ['negative replicas', { replicas: -1 }, `${wholeNumber} got -1`],
  ['replicas that are an object', { replicas: {} }, `${wholeNumber} got an object`],
  [
    'a kind that cannot be scaled',
    { manifestName: 'configMap web' },
    'configMap web: the kind configMap does not support scale',
  ],
  ['a namespace that the account does not have', { location: 'other' }, '.other.wrongNamespace'],
];

const wrongDeletes: readonly WrongRow[] = [
  ['neither a name nor kinds', { manifestName: undefined }, ...['.kinds.empty', '.labelSelectors.empty']],
  ['a name of one word', { manifestName: 'web' }, `'web' ${ofTwoWords}`],
  [
    'the name of a subresource',
    { manifestName: 'namespace vault/status', location: '' },
    `'namespace vault/status' is not an object's name: ${noPath}`,
  ],
  [
    'a Namespace that the account does not have',
    { manifestName: 'namespace vault', location: '' },
    '.vault.wrongNamespace',
  ],
  ['a namespace that is a list', { location: ['vault'] }, ': location: expected a string, got a list'],
  ['options that are a string', { options: 'all' }, `: options: expected an object, ${text}`],
  [
    'kinds that are a string',
    { manifestName: undefined, kinds: 'deployment' },
    `: kinds: expected a list, ${text}`,
  ],
  ['a namespace that the account does not have', { location: 'other' }, '.other.wrongNamespace'],
];

const onWeb = { account: 'test', manifestName: 'deployment web', location: 'allowed' };

export const wrongDescriptions: readonly BadRequest[] = [
  ...listWrong(
    'deployManifest',
    { account: 'test', moniker: { app: 'web' }, manifests: [deployment] },
    wrongDeploys,
  ),
  ...listWrong('scaleManifest', { ...onWeb, replicas: 1 }, wrongScales),
  ...listWrong('deleteManifest', onWeb, wrongDeletes),
];

/** A request such as `GET /path`, and what its answer says. */
type RouteRow = readonly [title: string, request: string, answer: string, body?: unknown];

function toRequest([title, request, answer, body]: RouteRow): Omit<BadRequest, 'status'> {
  const [method = '', path = ''] = request.split(' ');
  return { title, method, path, message: answer, ...(body !== undefined && { body }) };
}

const noTask = 'Task not found (id: abc)';
const noAccount = 'not found; GET /credentials lists the accounts there are';
const notIts = "the account may not use the namespace 'kube-system' (wrongNamespace)";
const nothing = `Nothing found (account: test, location: kube-system): ${notIts}`;
const noKind =
  'no matches for kind "widget": the cluster of account "test" does not serve it; is its CustomResourceDefinition installed?';
const manifests = 'GET /manifests/test';

const missing: readonly RouteRow[] = [
  ['an unknown path', 'GET /nowhere', 'No route for GET /nowhere'],
  ['resuming an unknown task', 'POST /task/abc:resume', noTask, '{}'],
  ['an unknown task', 'GET /task/abc', noTask],
  ['a task id of another world', 'GET /task/..%2f..%2fetc%2fpasswd', 'Task not found (id: ../../etc/passwd)'],
  ['cancelling an unknown task', 'DELETE /task/abc', noTask],
  ['failing an unknown task', 'PATCH /kubernetes/task/abc', noTask, { retry: true }],
  ['restarting an unknown task', 'POST /kubernetes/task/abc/restart', noTask, describeDeploy()],
  [
    'a manifest of a kind that there is not',
    `${manifests}/allowed/widget%20web`,
    `Failed to read manifest: (account: test, location: allowed, name: widget web): ${noKind}`,
  ],
  [
    'members of a cluster of a kind that there is not',
    `${manifests}/allowed/widget/cluster/web/widget%20web/dynamic/newest`,
    `Failed to list widget in allowed of account test: ${noKind}`,
  ],
  [
    'a manifest of an unknown account',
    'GET /manifests/nowhere/ns/deployment%20web',
    `Account 'nowhere' ${noAccount}`,
  ],
  ['a manifest with a malformed name', `${manifests}/allowed/web`, `'web' ${ofTwoWords}`],
  [
    'a manifest name with a slash',
    `${manifests}/allowed/deployment%20..%2f..%2fsecrets`,
    `'deployment ../../secrets' is not an object's name: ${noPath}`,
  ],
  [
    'a namespace with a slash',
    `${manifests}/..%2fkube-system/deployment%20web`,
    'Manifest (account: test, location: ../kube-system, name: deployment web) not found',
  ],
  [
    'a manifest name encoded twice',
    `${manifests}/allowed/deployment%20%2577eb`,
    `'deployment %77eb' is not an object's name: ${noPath}`,
  ],
  [
    'a slash encoded twice',
    `${manifests}/allowed/deployment%20web%252Fstatus`,
    `'deployment web%2Fstatus' is not an object's name: ${noPath}`,
  ],
  ['an account encoded twice', 'GET /credentials/%2574est', `Account '%74est' ${noAccount}`],
  [
    'a manifest of a namespace that the account does not have',
    `${manifests}/kube-system/configMap%20coredns`,
    `Failed to read manifest: (account: test, location: kube-system, name: configMap coredns): ${notIts}`,
  ],
  [
    'members of a cluster in such a namespace',
    `${manifests}/kube-system/secret/cluster/web/secret%20web`,
    `Failed to list secret in kube-system of account test: ${notIts}`,
  ],
  ['a Job of such a namespace', 'GET /applications/web/jobs/test/kube-system/job%20web', nothing],
  ['deleting a Job of such a namespace', 'DELETE /applications/web/jobs/test/kube-system/job%20web', nothing],
  [
    'the properties of a pod of such a namespace',
    'GET /applications/web/kubernetes/pods/test/kube-system/web/main',
    nothing,
  ],
  ['the console of a pod of such a namespace', 'GET /instances/test/kube-system/pod%20web/console', nothing],
  [
    'a Namespace that the account does not have',
    `${manifests}/namespace%20kube-system`,
    `Failed to read manifest: (account: test, location: , name: namespace kube-system): ${notIts}`,
  ],
  ['an unknown account', 'GET /credentials/nowhere', `Account 'nowhere' ${noAccount}`],
  [
    'an artifact of an unknown account',
    'PUT /artifacts/fetch',
    "Credentials 'nobody' supporting artifact type 'http/file' cannot be found",
    { type: 'http/file', artifactAccount: 'nobody', reference: 'http://example.invalid/' },
  ],
];

const wrongMethods: readonly RouteRow[] = [
  ['GET of a route that takes POST', `GET ${ops}`, "Request method 'GET' is not supported (supported: POST)"],
  [
    'PUT of a route that takes GET',
    'PUT /task/abc',
    "Request method 'PUT' is not supported (supported: DELETE, GET, HEAD, POST)",
  ],
  [
    'POST of a task without :resume',
    'POST /task/abc',
    "Request method 'POST' is not supported (supported: GET, DELETE)",
    '{}',
  ],
];

const unreadable: readonly RouteRow[] = [
  [
    'a manifest name with a null byte',
    `${manifests}/allowed/deployment%20w%00b`,
    'The path holds a control character',
  ],
  ['a malformed percent sign', 'GET /task/%zz', 'The path holds a malformed percent-encoding'],
];

const invalid: readonly RouteRow[] = [
  [
    'the owner of a task of another provider',
    'GET /aws/task/abc/owner',
    "Provider 'aws' has no such task route; only kubernetes has",
  ],
  [
    'failing a task with something else',
    'PATCH /kubernetes/task/abc',
    'The body must be an object like {"retry": true}',
    [],
  ],
  [
    'restarting with a wrong description',
    'POST /kubernetes/task/abc/restart',
    `deployManifest: manifests: expected a list, ${text}`,
    describeDeploy({ manifests: 'all' }),
  ],
  [
    'a refresh of the cache that is no object',
    'POST /cache/kubernetes/manifest',
    'The body must be a JSON object',
    [],
  ],
  [
    'a flag that changes nothing, but is text',
    'GET /applications?restricted=perhaps',
    "Query parameter 'restricted' must be true or false, not 'perhaps'",
  ],
  [
    'a flag of a query that is text',
    'GET /credentials?expand=perhaps',
    "Query parameter 'expand' must be true or false, not 'perhaps'",
  ],
  [
    'an unknown criteria',
    `${manifests}/allowed/replicaSet/cluster/web/replicaSet%20web/dynamic/prettiest`,
    "criteria 'prettiest' is none of oldest, newest, second_newest, largest, smallest",
  ],
  [
    'an artifact without an account',
    'PUT /artifacts/fetch',
    'An artifact account must be supplied to download this artifact',
    { type: 'http/file', reference: 'http://example.invalid/' },
  ],
  ['an artifact that is an array', 'PUT /artifacts/fetch', 'artifact: expected an object, got a list', []],
];

export const wrongRoutes: readonly BadRequest[] = [
  ...missing.map((row) => ({ ...toRequest(row), status: 404 })),
  ...wrongMethods.map((row) => ({ ...toRequest(row), status: 405 })),
  ...unreadable.map((row) => ({ ...toRequest(row), status: 400 })),
  ...invalid.map(toRequest).map(({ message = '', ...rest }) => ({ ...rest, status: 400, errors: [message] })),
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
