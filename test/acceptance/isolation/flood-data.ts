export interface HostileRequest {
  readonly title: string;
  /** Default GET. */
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly headers?: { readonly [name: string]: string };
  /** Makes the body; made once for all requests. */
  readonly body?: () => string;
  /** So many are sent at a time. Default 1. */
  readonly times?: number;
  /** The last byte of the body is never sent. */
  readonly isHeld?: boolean;
  /** Each request comes from a user of its own. */
  readonly asManyUsers?: boolean;
  /** Statuses with which it may be answered; a 503 must say when to try again. */
  readonly statuses: readonly number[];
}

export const attackedAccount = 'attacked';

const ops = { method: 'POST', path: '/kubernetes/ops' } as const;
const megabyte = 1_000_000;

/** Text of a body with one operation whose fields are texts of JSON. */
function describe(operation: string, fields: { readonly [name: string]: string }): string {
  const all = { account: JSON.stringify(attackedAccount), moniker: '{"app":"flood"}', ...fields };
  const members = Object.entries(all).map(([name, text]) => `${JSON.stringify(name)}:${text}`);
  return `[{${JSON.stringify(operation)}:{${members.join()}}}]`;
}

function deploy(fields: { readonly [name: string]: string }): () => string {
  return () => describe('deployManifest', fields);
}

/** Text of a list of so many times the same. */
function repeat(item: string, count: number): string {
  return `[${Array.from({ length: count }, () => item).join()}]`;
}

function nameMany(count: number, prefix: string): string {
  return Array.from({ length: count }, (_, index) => `${prefix}${index.toString(36)}`).join();
}

function configMap(index: number, filler: string): string {
  const metadata = { name: `flood-${index}`, namespace: 'default' };
  return JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { filler } });
}

/** The largest legal deploy, of which the labels select nothing. */
function describeLargest(): string {
  const filler = 'x'.repeat(900);
  const manifests = Array.from({ length: 5_000 }, (_, index) => configMap(index, filler));
  const selectors = '{"selectors":[{"kind":"EQUALS","key":"no","values":["such"]}]}';
  return describe('deployManifest', {
    manifests: `[${manifests.join()}]`,
    labelSelectors: selectors,
    allowNothingSelected: 'true',
  });
}

const prototypeNames = ['constructor', '__proto__', 'hasOwnProperty', 'toString', 'valueOf', 'prototype'];

type OperationFlood = readonly [title: string, body: () => string, status: number, times?: number];

const postAll = (floods: readonly OperationFlood[], more: Partial<HostileRequest> = {}): HostileRequest[] =>
  floods.map(([title, body, status, times = 4]) => ({
    ...{ ...ops, title, body, statuses: [status], times, ...more },
  }));

const listKeys = (value: string) =>
  Array.from({ length: 300_000 }, (_, index) => `"k${index}":${value}`).join();
const largeBody = () => 'x'.repeat(6 * megabyte);
const listFields = [
  'requiredArtifacts',
  'optionalArtifacts',
  'services',
  'labelSelectors',
  'moniker',
  'account',
];

const floodsOfOperations: readonly HostileRequest[] = [
  ...postAll([
    ['150 KB of empty manifests', deploy({ manifests: repeat('{}', 50_000) }), 400, 1],
    ['4.5 MB of empty manifests', deploy({ manifests: repeat('{}', 1_500_000) }), 400],
    ['as many wrong manifests as are looked at', deploy({ manifests: repeat('{}', 5_000) }), 400, 8],
    ['manifests that are numbers', deploy({ manifests: repeat('0', 2_000_000) }), 400],
    [
      'one List of a million items',
      deploy({ manifest: `{"kind":"List","items":${repeat('{}', 900_000)}}` }),
      400,
    ],
    ['Lists that are empty', deploy({ manifests: repeat('{"kind":"List"}', 300_000) }), 400],
    ['the largest legal deploy', describeLargest, 200, 2],
    ['6 MB of empty operations', () => repeat('{}', 900_000), 400],
    ['1,000 unknown operations', () => repeat('{"destroy":{}}', 1_000), 400],
    ['an operation of 300,000 names', () => `[{${listKeys('{}')}}]`, 400],
    [
      '1,000 deploys without a manifest',
      () => repeat(describe('deployManifest', {}).slice(1, -1), 1_000),
      400,
    ],
    ...listFields.map(
      (field): OperationFlood => [
        `a list of 900,000 numbers for ${field}`,
        deploy({ manifests: '[]', [field]: repeat('0', 900_000) }),
        ...([400, 2] as const),
      ],
    ),
    [
      'selectors of 900,000 values',
      deploy({ labelSelectors: `{"selectors":${repeat(`{"values":${repeat('[]', 3_000)}}`, 300)}}` }),
      400,
    ],
    ['options of 300,000 names', () => describe('deleteManifest', { options: `{${listKeys('[]')}}` }), 400],
    ['a name of 6 MB', () => describe('x'.repeat(6 * megabyte), {}), 400],
    [
      'an account with a name of 6 MB',
      () => describe('deployManifest', { account: `"${'x'.repeat(6 * megabyte)}"` }),
      400,
    ],
  ]),
  ...postAll(
    [['lists in lists, 3 million deep', () => '['.repeat(3 * megabyte) + ']'.repeat(3 * megabyte), 400, 8]],
    { statuses: [400, 503] },
  ),
  ...postAll([['objects in objects without end', () => '{"a":'.repeat(1_200_000), 413, 8]]),
  ...postAll([['a text without end', () => `"${largeBody()}`, 400, 8]], { statuses: [400, 503] }),
  ...postAll([['a text of nothing but quotes', () => '"'.repeat(6 * megabyte), 413, 8]], {
    statuses: [413, 503],
  }),
  ...postAll([['12 MB', () => 'x'.repeat(12 * megabyte), 413, 16]]),
  ...postAll([['120 held bodies of 6 MB', largeBody, 503, 120]], { isHeld: true }),
  ...postAll([['120 held bodies of as many users', largeBody, 503, 120]], {
    isHeld: true,
    asManyUsers: true,
  }),
  ...postAll([['600 held requests', () => 'xx', 503, 600]], { isHeld: true }),
];

type NameFlood = readonly [title: string, path: string, status: number, times?: number];

const askAll = (floods: readonly NameFlood[], more: Partial<HostileRequest> = {}): HostileRequest[] =>
  floods.map(([title, path, status, times = 8]) => ({ title, path, statuses: [status], times, ...more }));

const search = '/search?type=serverGroups&q=';
const parameters = Array.from({ length: 8_000 }, (_, index) => `p${index.toString(36)}`).join('&');

const floodsOfNames: readonly HostileRequest[] = [
  ...askAll([
    ['9,000 applications', `/serverGroups?applications=${nameMany(9_000, 'a')}`, 400],
    [
      'as many applications as are looked for',
      `/serverGroups?applications=${nameMany(500, 'b')}`,
      ...([200, 4] as const),
    ],
    ['6,000 ids', `/serverGroups?ids=${nameMany(6_000, 'c:d:')}`, 400],
    ['9,000 clusters', `/applications/flood/serverGroups?clusters=${nameMany(9_000, 'e')}`, 400],
    ['9,000 types', `/search?q=x&type=${nameMany(9_000, 'f')}`, 400],
    ['a search for 30 KB', `${search}${'x'.repeat(30_000)}`, 400],
    ['16,000 parameters', `${search}x&${parameters}`, 400],
  ]),
  ...askAll([['headers of prototypes', '/health', 200]], {
    headers: Object.fromEntries(prototypeNames.map((name) => [name, 'x'])),
  }),
  ...askAll([
    ['a path of prototypes', `/securityGroups/${attackedAccount}/constructor`, 200],
    ['parameters of prototypes', `${search}x&${prototypeNames.join('&')}`, 200],
  ]),
  ...askAll([['a user of 50 KB', '/health', 400]], { headers: { 'x-spinnaker-user': 'x'.repeat(50_000) } }),
  ...askAll([
    ['a task id of 50 KB', `/task/${'x'.repeat(50_000)}`, 400],
    ['a task id of a megabyte', `/task/${'x'.repeat(megabyte)}`, 431],
    [
      'a name of nothing but percent signs',
      `/manifests/${attackedAccount}/default/${'%25'.repeat(15_000)}`,
      400,
    ],
    ['a path of 25,000 segments', '/a'.repeat(25_000), 404],
  ]),
  ...askAll(
    [['a client request id of 30 KB', `/kubernetes/ops?clientRequestId=${'x'.repeat(30_000)}`, 400]],
    { method: 'POST', body: deploy({}) },
  ),
  ...askAll([['demands of 50 KB', '/applications/flood/serverGroups', 200]], {
    headers: { 'cache-control': 'max-age=99999,'.repeat(3_500) },
  }),
  ...askAll([['3,000 requests at a time', '/health', 200, 3_000]], { statuses: [200, 503] }),
];

export const hostileRequests: readonly HostileRequest[] = [...floodsOfOperations, ...floodsOfNames];
