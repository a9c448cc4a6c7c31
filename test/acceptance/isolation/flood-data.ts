/** A request that means harm. */
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

/** The account that is attacked, and by which others are to be harmed. */
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

const floodsOfManifests: readonly HostileRequest[] = [
  {
    ...ops,
    title: '150 KB of empty manifests',
    body: deploy({ manifests: repeat('{}', 50_000) }),
    statuses: [400],
  },
  {
    ...ops,
    title: '4.5 MB of empty manifests',
    body: deploy({ manifests: repeat('{}', 1_500_000) }),
    statuses: [400],
    times: 4,
  },
  {
    ...ops,
    title: 'as many wrong manifests as are looked at',
    body: deploy({ manifests: repeat('{}', 5_000) }),
    statuses: [400],
    times: 8,
  },
  {
    ...ops,
    title: 'manifests that are numbers',
    body: deploy({ manifests: repeat('0', 2_000_000) }),
    statuses: [400],
    times: 4,
  },
  {
    ...ops,
    title: 'one List of a million items',
    body: deploy({ manifest: `{"kind":"List","items":${repeat('{}', 900_000)}}` }),
    statuses: [400],
    times: 4,
  },
  {
    ...ops,
    title: 'Lists that are empty',
    body: deploy({ manifests: repeat('{"kind":"List"}', 300_000) }),
    statuses: [400],
    times: 4,
  },
  { ...ops, title: 'the largest legal deploy', body: describeLargest, statuses: [200], times: 2 },
];

const floodsOfOperations: readonly HostileRequest[] = [
  { ...ops, title: '6 MB of empty operations', body: () => repeat('{}', 900_000), statuses: [400], times: 4 },
  {
    ...ops,
    title: '1,000 unknown operations',
    body: () => repeat('{"destroy":{}}', 1_000),
    statuses: [400],
    times: 4,
  },
  {
    ...ops,
    title: 'an operation of 300,000 names',
    body: () => `[{${Array.from({ length: 300_000 }, (_, index) => `"k${index}":{}`).join()}}]`,
    statuses: [400],
    times: 4,
  },
  {
    ...ops,
    title: '1,000 deploys without a manifest',
    body: () => repeat(describe('deployManifest', {}).slice(1, -1), 1_000),
    statuses: [400],
    times: 4,
  },
];

const floodsOfFields: readonly HostileRequest[] = [
  ...['requiredArtifacts', 'optionalArtifacts', 'services', 'labelSelectors', 'moniker', 'account'].map(
    (field): HostileRequest => ({
      ...ops,
      title: `a list of 900,000 numbers for ${field}`,
      body: deploy({ manifests: '[]', [field]: repeat('0', 900_000) }),
      statuses: [400],
      times: 2,
    }),
  ),
  {
    ...ops,
    title: 'selectors of 900,000 values',
    body: deploy({ labelSelectors: `{"selectors":${repeat(`{"values":${repeat('[]', 3_000)}}`, 300)}}` }),
    statuses: [400],
    times: 4,
  },
  {
    ...ops,
    title: 'options of 300,000 names',
    body: () =>
      describe('deleteManifest', {
        options: `{${Array.from({ length: 300_000 }, (_, index) => `"k${index}":[]`).join()}}`,
      }),
    statuses: [400],
    times: 4,
  },
  {
    ...ops,
    title: 'a name of 6 MB',
    body: () => describe('x'.repeat(6 * megabyte), {}),
    statuses: [400],
    times: 4,
  },
  {
    ...ops,
    title: 'an account with a name of 6 MB',
    body: () => describe('deployManifest', { account: `"${'x'.repeat(6 * megabyte)}"` }),
    statuses: [400],
    times: 4,
  },
];

const floodsOfBytes: readonly HostileRequest[] = [
  {
    ...ops,
    title: 'lists in lists, 3 million deep',
    body: () => '['.repeat(3 * megabyte) + ']'.repeat(3 * megabyte),
    statuses: [400, 503],
    times: 8,
  },
  {
    ...ops,
    title: 'objects in objects without end',
    body: () => '{"a":'.repeat(1_200_000),
    statuses: [413],
    times: 8,
  },
  {
    ...ops,
    title: 'a text without end',
    body: () => `"${'x'.repeat(6 * megabyte)}`,
    statuses: [400, 503],
    times: 8,
  },
  {
    ...ops,
    title: 'a text of nothing but quotes',
    body: () => '"'.repeat(6 * megabyte),
    statuses: [413, 503],
    times: 8,
  },
  { ...ops, title: '12 MB', body: () => 'x'.repeat(12 * megabyte), statuses: [413], times: 16 },
  {
    ...ops,
    title: '120 held bodies of 6 MB',
    body: () => 'x'.repeat(6 * megabyte),
    statuses: [503],
    times: 120,
    isHeld: true,
  },
  {
    ...ops,
    title: '120 held bodies of as many users',
    body: () => 'x'.repeat(6 * megabyte),
    statuses: [503],
    times: 120,
    isHeld: true,
    asManyUsers: true,
  },
  { ...ops, title: '600 held requests', body: () => 'xx', statuses: [503], times: 600, isHeld: true },
];

const floodsOfNames: readonly HostileRequest[] = [
  {
    title: '9,000 applications',
    path: `/serverGroups?applications=${nameMany(9_000, 'a')}`,
    statuses: [400],
    times: 8,
  },
  {
    title: 'as many applications as are looked for',
    path: `/serverGroups?applications=${nameMany(500, 'b')}`,
    statuses: [200],
    times: 4,
  },
  { title: '6,000 ids', path: `/serverGroups?ids=${nameMany(6_000, 'c:d:')}`, statuses: [400], times: 8 },
  {
    title: '9,000 clusters',
    path: `/applications/flood/serverGroups?clusters=${nameMany(9_000, 'e')}`,
    statuses: [400],
    times: 8,
  },
  { title: '9,000 types', path: `/search?q=x&type=${nameMany(9_000, 'f')}`, statuses: [400], times: 8 },
  {
    title: 'a search for 30 KB',
    path: `/search?type=serverGroups&q=${'x'.repeat(30_000)}`,
    statuses: [400],
    times: 8,
  },
  {
    title: '16,000 parameters',
    path: `/search?type=serverGroups&q=x&${Array.from({ length: 8_000 }, (_, index) => `p${index.toString(36)}`).join('&')}`,
    statuses: [400],
    times: 8,
  },
  {
    title: 'headers of prototypes',
    path: '/health',
    headers: Object.fromEntries(prototypeNames.map((name) => [name, 'x'])),
    statuses: [200],
    times: 8,
  },
  {
    title: 'a path of prototypes',
    path: `/securityGroups/${attackedAccount}/constructor`,
    statuses: [200],
    times: 8,
  },
  {
    title: 'parameters of prototypes',
    path: `/search?type=serverGroups&q=x&${prototypeNames.join('&')}`,
    statuses: [200],
    times: 8,
  },
  {
    title: 'a user of 50 KB',
    path: '/health',
    headers: { 'x-spinnaker-user': 'x'.repeat(50_000) },
    statuses: [400],
    times: 8,
  },
  { title: 'a task id of 50 KB', path: `/task/${'x'.repeat(50_000)}`, statuses: [400], times: 8 },
  { title: 'a task id of a megabyte', path: `/task/${'x'.repeat(megabyte)}`, statuses: [431], times: 8 },
  {
    title: 'a name of nothing but percent signs',
    path: `/manifests/${attackedAccount}/default/${'%25'.repeat(15_000)}`,
    statuses: [400],
    times: 8,
  },
  { title: 'a path of 25,000 segments', path: '/a'.repeat(25_000), statuses: [404], times: 8 },
  {
    title: 'a client request id of 30 KB',
    ...ops,
    path: `/kubernetes/ops?clientRequestId=${'x'.repeat(30_000)}`,
    body: deploy({}),
    statuses: [400],
    times: 8,
  },
  {
    title: 'demands of 50 KB',
    path: '/applications/flood/serverGroups',
    headers: { 'cache-control': 'max-age=99999,'.repeat(3_500) },
    statuses: [200],
    times: 8,
  },
  { title: '3,000 requests at a time', path: '/health', statuses: [200, 503], times: 3_000 },
];

/** What a stranger may send. */
export const hostileRequests: readonly HostileRequest[] = [
  ...floodsOfManifests,
  ...floodsOfOperations,
  ...floodsOfFields,
  ...floodsOfBytes,
  ...floodsOfNames,
];
