import { operationDefinitions } from '../../../shared/providers/kubernetes/operations/index.ts';

/** A request that must be refused, and how. */
export interface BadRequest {
  readonly title: string;
  readonly method?: string;
  readonly path?: string;
  readonly headers?: { readonly [name: string]: string };
  /** Sent as it is when a string or bytes, as JSON otherwise. */
  readonly body?: unknown;
  readonly status: number;
  /** The answer's `message`, `Validation Failed` when `errors` is given. */
  readonly message?: string;
  readonly errors?: readonly string[];
}

const ops = '/kubernetes/ops';

const operationNames = operationDefinitions.map(({ name }) => name).join(', ');

/** A Deployment that would be accepted. */
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

function deploy(title: string, fields: object, errors: readonly string[]): BadRequest {
  return { title, body: describeDeploy(fields), status: 400, errors };
}

function scale(title: string, fields: object, errors: readonly string[]): BadRequest {
  const description = {
    account: 'test',
    manifestName: 'deployment web',
    location: 'allowed',
    replicas: 1,
    ...fields,
  };
  return { title, body: [{ scaleManifest: description }], status: 400, errors };
}

function remove(title: string, fields: object, errors: readonly string[]): BadRequest {
  const description = { account: 'test', manifestName: 'deployment web', location: 'allowed', ...fields };
  return { title, body: [{ deleteManifest: description }], status: 400, errors };
}

/** Bodies and shapes that no operation is read from. */
export const malformedBodies: readonly BadRequest[] = [
  { title: 'no body', status: 400, errors: ['The request must have a body in JSON'] },
  { title: 'an empty body', body: '', status: 400, errors: ['The request must have a body in JSON'] },
  { title: 'a body of spaces', body: '   ', status: 400, errors: ['The request must have a body in JSON'] },
  {
    title: 'a body that is not JSON',
    body: '{"deployManifest": planted-secret',
    status: 400,
    errors: ['The body is not valid JSON'],
  },
  {
    title: 'a body cut off',
    body: '[{"deployManifest": {"account": "te',
    status: 400,
    errors: ['The body is not valid JSON (at position 35)'],
  },
  { title: 'a body of null bytes', body: '\0\0\0\0', status: 400, errors: ['The body is not valid JSON'] },
  {
    title: 'a body that is not UTF-8',
    body: new Uint8Array([0x5b, 0xff, 0xfe, 0x5d]),
    status: 400,
    errors: ['The body is not valid JSON'],
  },
  {
    title: 'a body nested 200,000 levels deep',
    body: '['.repeat(2e5) + ']'.repeat(2e5),
    status: 400,
    errors: ['The body is nested too deep: at most 500 levels are accepted'],
  },
  {
    title: 'an object instead of an array',
    body: { deployManifest: {} },
    status: 400,
    errors: ['The body must be a JSON array of operations, each an object like {"deployManifest": {…}}'],
  },
  {
    title: 'a string instead of an array',
    body: '"deployManifest"',
    status: 400,
    errors: ['The body must be a JSON array of operations, each an object like {"deployManifest": {…}}'],
  },
  {
    title: 'null instead of an array',
    body: 'null',
    status: 400,
    errors: ['The body must be a JSON array of operations, each an object like {"deployManifest": {…}}'],
  },
  {
    title: 'a number instead of an array',
    body: '3',
    status: 400,
    errors: ['The body must be a JSON array of operations, each an object like {"deployManifest": {…}}'],
  },
  {
    title: 'an operation that is null',
    body: [null],
    status: 400,
    errors: ["Operation 0 must be an object with one key, the operation's name"],
  },
  {
    title: 'an operation that is a string',
    body: ['deployManifest'],
    status: 400,
    errors: ["Operation 0 must be an object with one key, the operation's name"],
  },
  {
    title: 'an operation without a key',
    body: [{}],
    status: 400,
    errors: ["Operation 0 must have exactly one key, the operation's name; it has: none"],
  },
  {
    title: 'an operation with two keys',
    body: [{ deployManifest: {}, scaleManifest: {} }],
    status: 400,
    errors: [
      "Operation 0 must have exactly one key, the operation's name; it has: deployManifest, scaleManifest",
    ],
  },
  {
    title: 'a description that is null',
    body: [{ deployManifest: null }],
    status: 400,
    errors: ["Operation 0: the value of 'deployManifest' must be an object"],
  },
  {
    title: 'a description that is an array',
    body: [{ deployManifest: [] }],
    status: 400,
    errors: ["Operation 0: the value of 'deployManifest' must be an object"],
  },
  {
    title: 'an unknown operation',
    body: [{ destroyServerGroup: {} }],
    status: 400,
    errors: [`Unknown operation 'destroyServerGroup' of provider 'kubernetes'; it has: ${operationNames}`],
  },
  {
    title: 'an operation named like a property of every object',
    body: [{ constructor: {} }],
    status: 400,
    errors: [`Unknown operation 'constructor' of provider 'kubernetes'; it has: ${operationNames}`],
  },
  {
    title: 'an unknown provider',
    path: '/aws/ops',
    body: describeDeploy(),
    status: 400,
    errors: ["Unknown cloud provider 'aws'"],
  },
  {
    title: 'no provider on /ops',
    path: '/ops',
    body: describeDeploy(),
    status: 400,
    errors: [
      "Operation 0: the description must name its 'cloudProvider', or be posted to /{cloudProvider}/ops",
    ],
  },
  {
    title: 'no object on /ops/{operation}',
    path: '/ops/deployManifest',
    body: '[]',
    status: 400,
    errors: ["Operation 0: the value of 'deployManifest' must be an object"],
  },
  {
    title: 'a client request id of 2,000 characters',
    path: `${ops}?clientRequestId=${'x'.repeat(2000)}`,
    body: describeDeploy(),
    status: 400,
    errors: ['clientRequestId must have at most 1024 characters, not 2000'],
  },
  {
    title: 'a body of 12 MB',
    body: JSON.stringify(describeDeploy({ filler: 'x'.repeat(12e6) })),
    status: 413,
    message:
      'The request is too large: a body of 12000348 bytes or more exceeds the 6 MB (6291556 bytes) that AWS Lambda accepts; send less at once, such as fewer manifests in a stage',
  },
];

/** Descriptions of operations with one thing wrong. */
export const wrongDescriptions: readonly BadRequest[] = [
  deploy('no account', { account: undefined }, [
    'deployKubernetesManifest.deployKubernetesManifest.account.empty',
  ]),
  deploy('an account that is null', { account: null }, [
    'deployKubernetesManifest.deployKubernetesManifest.account.empty',
  ]),
  deploy('an empty account', { account: '' }, [
    'deployKubernetesManifest.deployKubernetesManifest.account.empty',
  ]),
  deploy('an unknown account', { account: 'nowhere' }, [
    "deployManifest: there is no Kubernetes account 'nowhere'; there are: test",
  ]),
  deploy('an account that is an object', { account: {} }, [
    'deployManifest: account: expected a string, got an object',
  ]),
  deploy('no moniker', { moniker: undefined }, [
    'deployKubernetesManifest.deployKubernetesManifest.moniker.empty',
  ]),
  deploy('a moniker that is a string', { moniker: 'web' }, [
    'deployManifest: moniker: expected an object, got a string (not shown)',
  ]),
  deploy('a moniker without app', { moniker: {} }, [
    'deployKubernetesManifest.deployKubernetesManifest.moniker.app.empty',
  ]),
  deploy('a moniker whose sequence is text', { moniker: { app: 'web', sequence: 'three' } }, [
    'deployManifest: moniker.sequence: expected a whole number, got a string (not shown)',
  ]),
  deploy('no manifests', { manifests: undefined }, [
    'deployKubernetesManifest.deployKubernetesManifest.manifests.empty',
  ]),
  deploy('manifests that are an object', { manifests: deployment }, [
    'deployManifest: manifests: expected a list, got an object',
  ]),
  deploy('manifests that are a string', { manifests: 'all' }, [
    'deployManifest: manifests: expected a list, got a string (not shown)',
  ]),
  deploy('a manifest that is a string', { manifests: ['web'] }, [
    'deployManifest: manifests[0]: expected an object, got a string (not shown)',
  ]),
  deploy('a manifest that is a number', { manifests: [3] }, [
    'deployManifest: manifests[0]: expected an object, got 3',
  ]),
  deploy('a manifest without kind', { manifests: [{ ...deployment, kind: undefined }] }, [
    'deployManifest: manifests[0].kind: expected a string, got none',
  ]),
  deploy('a manifest whose kind is a number', { manifests: [{ ...deployment, kind: 3 }] }, [
    'deployManifest: manifests[0].kind: expected a string, got 3',
  ]),
  deploy('a manifest without apiVersion', { manifests: [{ ...deployment, apiVersion: undefined }] }, [
    'deployManifest: manifests[0].apiVersion: expected a string, got none',
  ]),
  deploy('a manifest without metadata', { manifests: [{ ...deployment, metadata: undefined }] }, [
    'deployManifest: manifests[0].metadata: expected an object, got none',
  ]),
  deploy('a manifest whose metadata is a string', { manifests: [{ ...deployment, metadata: 'web' }] }, [
    'deployManifest: manifests[0].metadata: expected an object, got a string (not shown)',
  ]),
  deploy(
    'a manifest without a name',
    { manifests: [{ ...deployment, metadata: { namespace: 'allowed' } }] },
    ['deployManifest: manifests[0].metadata.name: expected a name or a generateName, got none'],
  ),
  deploy('a namespace that the account does not have', { namespaceOverride: 'forbidden' }, [
    'deployKubernetesManifest.deployKubernetesManifest.forbidden.wrongNamespace',
  ]),
  deploy(
    'a manifest in such a namespace',
    { manifests: [{ ...deployment, metadata: { name: 'web', namespace: 'other' } }] },
    ['deployKubernetesManifest.deployKubernetesManifest.other.wrongNamespace'],
  ),
  deploy(
    'a manifest whose namespace is a list',
    { manifests: [{ ...deployment, metadata: { name: 'web', namespace: ['vault'] } }] },
    ['deployManifest: manifests[0].metadata.namespace: expected a string, got a list'],
  ),
  deploy(
    'a manifest whose name has a slash',
    { manifests: [{ ...deployment, metadata: { name: 'web/status', namespace: 'allowed' } }] },
    ["deployManifest: manifests[0].metadata.name: expected a name without '/' and '%'"],
  ),
  deploy(
    'a Namespace that the account does not have',
    { manifests: [{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'vault' } }] },
    ['deployKubernetesManifest.deployKubernetesManifest.vault.wrongNamespace'],
  ),
  deploy(
    'a kind that cannot be deployed',
    { manifests: [{ apiVersion: 'v1', kind: 'Event', metadata: { name: 'e', namespace: 'allowed' } }] },
    ['event e cannot be deployed: Kubernetes itself makes such objects'],
  ),
  deploy('a flag that is text', { enableTraffic: 'maybe' }, [
    'deployManifest: enableTraffic: expected true or false, got a string (not shown)',
  ]),
  deploy('a flag that is an object', { versioned: {} }, [
    'deployManifest: versioned: expected true or false, got an object',
  ]),
  deploy('a strategy in lower case', { strategy: 'red_black' }, [
    'deployManifest: strategy: expected one of RED_BLACK, BLUE_GREEN, HIGHLANDER, NONE, got a string (not shown)',
  ]),
  deploy(
    'a strategy that needs two versions and keeps one',
    {
      strategy: 'RED_BLACK',
      manifests: [
        {
          ...deployment,
          metadata: {
            ...deployment.metadata,
            annotations: { 'strategy.spinnaker.io/max-version-history': '1' },
          },
        },
      ],
    },
    [
      'deployment web: annotation strategy.spinnaker.io/max-version-history is 1, but the strategy RED_BLACK needs at least 2 versions',
    ],
  ),
  deploy('services that are a string', { services: 'service web' }, [
    'deployManifest: services: expected a list, got a string (not shown)',
  ]),
  deploy('artifacts that are an object', { requiredArtifacts: {} }, [
    'deployManifest: requiredArtifacts: expected a list, got an object',
  ]),
  deploy('an artifact that is a string', { requiredArtifacts: ['a'] }, [
    'deployManifest: requiredArtifacts[0]: expected an object, got a string (not shown)',
  ]),
  deploy('selectors without a key', { labelSelectors: { selectors: [{ kind: 'EQUALS', values: ['a'] }] } }, [
    'deployManifest: labelSelectors.selectors[0].key: expected the key of a label, got none',
  ]),
  deploy(
    'selectors of an unknown kind',
    { labelSelectors: { selectors: [{ kind: 'LIKE', key: 'a', values: ['a'] }] } },
    [
      'deployManifest: labelSelectors.selectors[0].kind: expected one of ANY, EQUALS, NOT_EQUALS, CONTAINS, NOT_CONTAINS, EXISTS, NOT_EXISTS, got a string (not shown)',
    ],
  ),
  scale('no name', { manifestName: undefined }, [
    'scaleKubernetesManifest.scaleKubernetesManifest.manifestName.empty',
  ]),
  scale('a name of one word', { manifestName: 'deployment' }, [
    "'deployment' is not an object's name of the form 'kind name', as in 'deployment web'",
  ]),
  scale('a name of three words', { manifestName: 'deployment web app' }, [
    "'deployment web app' is not an object's name of the form 'kind name', as in 'deployment web'",
  ]),
  scale('replicas that are text', { replicas: 'many' }, [
    'scaleManifest: replicas: expected a whole number of at least 0, got a string (not shown)',
  ]),
  scale('negative replicas', { replicas: -1 }, [
    'scaleManifest: replicas: expected a whole number of at least 0, got -1',
  ]),
  scale('replicas that are an object', { replicas: {} }, [
    'scaleManifest: replicas: expected a whole number of at least 0, got an object',
  ]),
  scale('a kind that cannot be scaled', { manifestName: 'configMap web' }, [
    'configMap web: the kind configMap does not support scale',
  ]),
  scale('a namespace that the account does not have', { location: 'other' }, [
    'scaleKubernetesManifest.scaleKubernetesManifest.other.wrongNamespace',
  ]),
  remove('neither a name nor kinds', { manifestName: undefined }, [
    'deleteKubernetesManifest.deleteKubernetesManifest.kinds.empty',
    'deleteKubernetesManifest.deleteKubernetesManifest.labelSelectors.empty',
  ]),
  remove('a name of one word', { manifestName: 'web' }, [
    "'web' is not an object's name of the form 'kind name', as in 'deployment web'",
  ]),
  remove('the name of a subresource', { manifestName: 'namespace vault/status', location: '' }, [
    "'namespace vault/status' is not an object's name: expected a name without '/' and '%'",
  ]),
  remove('a Namespace that the account does not have', { manifestName: 'namespace vault', location: '' }, [
    'deleteKubernetesManifest.deleteKubernetesManifest.vault.wrongNamespace',
  ]),
  remove('a namespace that is a list', { location: ['vault'] }, [
    'deleteManifest: location: expected a string, got a list',
  ]),
  remove('options that are a string', { options: 'all' }, [
    'deleteManifest: options: expected an object, got a string (not shown)',
  ]),
  remove('kinds that are a string', { manifestName: undefined, kinds: 'deployment' }, [
    'deleteManifest: kinds: expected a list, got a string (not shown)',
  ]),
  remove('a namespace that the account does not have', { location: 'other' }, [
    'deleteKubernetesManifest.deleteKubernetesManifest.other.wrongNamespace',
  ]),
];

/** Paths, methods and other routes. */
export const wrongRoutes: readonly BadRequest[] = [
  {
    title: 'an unknown path',
    method: 'GET',
    path: '/nowhere',
    status: 404,
    message: 'No route for GET /nowhere',
  },
  {
    title: 'GET of a route that takes POST',
    method: 'GET',
    path: ops,
    status: 405,
    message: "Request method 'GET' is not supported (supported: POST)",
  },
  {
    title: 'DELETE of a route that takes GET',
    method: 'DELETE',
    path: '/task/abc',
    status: 405,
    message: "Request method 'DELETE' is not supported (supported: GET, HEAD, POST)",
  },
  {
    title: 'POST of a task without :resume',
    path: '/task/abc',
    body: '{}',
    status: 405,
    message: "Request method 'POST' is not supported (supported: GET)",
  },
  {
    title: 'resuming an unknown task',
    path: '/task/abc:resume',
    body: '{}',
    status: 404,
    message: 'Task not found (id: abc)',
  },
  {
    title: 'an unknown task',
    method: 'GET',
    path: '/task/abc',
    status: 404,
    message: 'Task not found (id: abc)',
  },
  {
    title: 'a task id of another world',
    method: 'GET',
    path: '/task/..%2f..%2fetc%2fpasswd',
    status: 404,
    message: 'Task not found (id: ../../etc/passwd)',
  },
  {
    title: 'the owner of a task of another provider',
    method: 'GET',
    path: '/aws/task/abc/owner',
    status: 400,
    errors: ["Provider 'aws' has no such task route; only kubernetes has"],
  },
  {
    title: 'failing an unknown task',
    method: 'PATCH',
    path: '/kubernetes/task/abc',
    body: { retry: true },
    status: 404,
    message: 'Task not found (id: abc)',
  },
  {
    title: 'failing a task with something else',
    method: 'PATCH',
    path: '/kubernetes/task/abc',
    body: [],
    status: 400,
    errors: ['The body must be an object like {"retry": true}'],
  },
  {
    title: 'restarting an unknown task',
    path: '/kubernetes/task/abc/restart',
    body: describeDeploy(),
    status: 404,
    message: 'Task not found (id: abc)',
  },
  {
    title: 'restarting with a wrong description',
    path: '/kubernetes/task/abc/restart',
    body: describeDeploy({ manifests: 'all' }),
    status: 400,
    errors: ['deployManifest: manifests: expected a list, got a string (not shown)'],
  },
  {
    title: 'a refresh of the cache that is no object',
    path: '/cache/kubernetes/manifest',
    body: [],
    status: 400,
    errors: ['The body must be a JSON object'],
  },
  {
    title: 'a flag that changes nothing, but is text',
    method: 'GET',
    path: '/applications?restricted=perhaps',
    status: 400,
    errors: ["Query parameter 'restricted' must be true or false, not 'perhaps'"],
  },
  {
    title: 'a manifest of a kind that there is not',
    method: 'GET',
    path: '/manifests/test/allowed/widget%20web',
    status: 404,
    message:
      'Failed to read manifest: (account: test, location: allowed, name: widget web): no matches for kind "widget": the cluster of ' +
      'account "test" does not serve it; is its CustomResourceDefinition installed?',
  },
  {
    title: 'members of a cluster of a kind that there is not',
    method: 'GET',
    path: '/manifests/test/allowed/widget/cluster/web/widget%20web/dynamic/newest',
    status: 404,
    message:
      'Failed to list widget in allowed of account test: no matches for kind "widget": the cluster of account "test" does not ' +
      'serve it; is its CustomResourceDefinition installed?',
  },
  {
    title: 'a manifest of an unknown account',
    method: 'GET',
    path: '/manifests/nowhere/ns/deployment%20web',
    status: 404,
    message: "Account 'nowhere' not found; GET /credentials lists the accounts there are",
  },
  {
    title: 'a manifest with a malformed name',
    method: 'GET',
    path: '/manifests/test/allowed/web',
    status: 404,
    message: "'web' is not an object's name of the form 'kind name', as in 'deployment web'",
  },
  {
    title: 'a manifest name with a slash',
    method: 'GET',
    path: '/manifests/test/allowed/deployment%20..%2f..%2fsecrets',
    status: 404,
    message: "'deployment ../../secrets' is not an object's name: expected a name without '/' and '%'",
  },
  {
    title: 'a namespace with a slash',
    method: 'GET',
    path: '/manifests/test/..%2fkube-system/deployment%20web',
    status: 404,
    message: 'Manifest (account: test, location: ../kube-system, name: deployment web) not found',
  },
  {
    title: 'a manifest name encoded twice',
    method: 'GET',
    path: '/manifests/test/allowed/deployment%20%2577eb',
    status: 404,
    message: "'deployment %77eb' is not an object's name: expected a name without '/' and '%'",
  },
  {
    title: 'a slash encoded twice',
    method: 'GET',
    path: '/manifests/test/allowed/deployment%20web%252Fstatus',
    status: 404,
    message: "'deployment web%2Fstatus' is not an object's name: expected a name without '/' and '%'",
  },
  {
    title: 'an account encoded twice',
    method: 'GET',
    path: '/credentials/%2574est',
    status: 404,
    message: "Account '%74est' not found; GET /credentials lists the accounts there are",
  },
  {
    title: 'a manifest of a namespace that the account does not have',
    method: 'GET',
    path: '/manifests/test/kube-system/configMap%20coredns',
    status: 404,
    message:
      'Failed to read manifest: (account: test, location: kube-system, name: configMap coredns): ' +
      "the account may not use the namespace 'kube-system' (wrongNamespace)",
  },
  {
    title: 'members of a cluster in such a namespace',
    method: 'GET',
    path: '/manifests/test/kube-system/secret/cluster/web/secret%20web',
    status: 404,
    message:
      'Failed to list secret in kube-system of account test: ' +
      "the account may not use the namespace 'kube-system' (wrongNamespace)",
  },
  {
    title: 'a Job of such a namespace',
    method: 'GET',
    path: '/applications/web/jobs/test/kube-system/job%20web',
    status: 404,
    message:
      'Nothing found (account: test, location: kube-system): ' +
      "the account may not use the namespace 'kube-system' (wrongNamespace)",
  },
  {
    title: 'deleting a Job of such a namespace',
    method: 'DELETE',
    path: '/applications/web/jobs/test/kube-system/job%20web',
    status: 404,
    message:
      'Nothing found (account: test, location: kube-system): ' +
      "the account may not use the namespace 'kube-system' (wrongNamespace)",
  },
  {
    title: 'the properties of a pod of such a namespace',
    method: 'GET',
    path: '/applications/web/kubernetes/pods/test/kube-system/web/main',
    status: 404,
    message:
      'Nothing found (account: test, location: kube-system): ' +
      "the account may not use the namespace 'kube-system' (wrongNamespace)",
  },
  {
    title: 'the console of a pod of such a namespace',
    method: 'GET',
    path: '/instances/test/kube-system/pod%20web/console',
    status: 404,
    message:
      'Nothing found (account: test, location: kube-system): ' +
      "the account may not use the namespace 'kube-system' (wrongNamespace)",
  },
  {
    title: 'a Namespace that the account does not have',
    method: 'GET',
    path: '/manifests/test/namespace%20kube-system',
    status: 404,
    message:
      'Failed to read manifest: (account: test, location: , name: namespace kube-system): ' +
      "the account may not use the namespace 'kube-system' (wrongNamespace)",
  },
  {
    title: 'a manifest name with a null byte',
    method: 'GET',
    path: '/manifests/test/allowed/deployment%20w%00b',
    status: 400,
    message: 'The path holds a control character',
  },
  {
    title: 'a malformed percent sign',
    method: 'GET',
    path: '/task/%zz',
    status: 400,
    message: 'The path holds a malformed percent-encoding',
  },
  {
    title: 'a flag of a query that is text',
    method: 'GET',
    path: '/credentials?expand=perhaps',
    status: 400,
    errors: ["Query parameter 'expand' must be true or false, not 'perhaps'"],
  },
  {
    title: 'an unknown criteria',
    method: 'GET',
    path: '/manifests/test/allowed/replicaSet/cluster/web/replicaSet%20web/dynamic/prettiest',
    status: 400,
    errors: ["criteria 'prettiest' is none of oldest, newest, second_newest, largest, smallest"],
  },
  {
    title: 'an unknown account',
    method: 'GET',
    path: '/credentials/nowhere',
    status: 404,
    message: "Account 'nowhere' not found; GET /credentials lists the accounts there are",
  },
  {
    title: 'an artifact without an account',
    method: 'PUT',
    path: '/artifacts/fetch',
    body: { type: 'http/file', reference: 'http://example.invalid/' },
    status: 400,
    errors: ['An artifact account must be supplied to download this artifact'],
  },
  {
    title: 'an artifact of an unknown account',
    method: 'PUT',
    path: '/artifacts/fetch',
    body: { type: 'http/file', artifactAccount: 'nobody', reference: 'http://example.invalid/' },
    status: 404,
    message: "Credentials 'nobody' supporting artifact type 'http/file' cannot be found",
  },
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
  {
    title: 'an artifact that is an array',
    method: 'PUT',
    path: '/artifacts/fetch',
    body: [],
    status: 400,
    errors: ['artifact: expected an object, got a list'],
  },
];
