import { access, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '#core/json.ts';
import {
  CertificateAuthority,
  type Identity,
} from '#test/shared/providers/kubernetes/credentials/certificates.ts';
import { ecrRegion, ecrRegistryId, startEcr, toDigest } from '#test/support/artifacts/ecr.ts';
import { type AwsEndpoints, startAwsEndpoints } from '#test/support/engines/aws-endpoints.ts';
import { type Place, startPlace } from '#test/support/network/place.ts';
import { makeTempDir, writeProgram } from '#test/support/run/temp-dir.ts';
import { startTokenBroker } from '#test/support/services/token-broker.ts';
import { type System, startSystem } from '#test/support/system/system.ts';

/** Identities of this installation, each as it is seen where it is sent. */
const planted = {
  eks: 'k8s-aws-v1.',
  aws: 'AWS4-HMAC-SHA256',
  broker: 'planted-broker-token',
  ecr: Buffer.from('AWS:planted-ecr-token').toString('base64'),
  registry: Buffer.from('puller:planted-registry-password').toString('base64'),
  artifact: Buffer.from('reader:planted-artifact-password').toString('base64'),
  google: 'planted-refresh-token',
};

const stack = new AsyncDisposableStack();
const authority = new CertificateAuthority();
const otherAuthority = new CertificateAuthority('another authority');
let aws: AwsEndpoints;
let system: System;
/** The cluster that an identity is for, and whose name anybody may write. */
let cluster: Place;
/** Whoever is to get none of them, with a certificate that all of them trust, and without. */
let thief: Place;
let plainThief: Place;
/** Registries and the hosts of their tokens; hosts of artifacts; Google. */
let registry: Place;
let tokens: Place;
let ecrRegistry: Place;
let files: Place;
let google: Place;
let dir: string;

const toBase64 = (text: string): string => Buffer.from(text).toString('base64');
const certify = (...hosts: string[]): Identity => authority.issue({ commonName: 'test', hosts });
const isThere = (file: string): Promise<boolean> =>
  access(file).then(
    () => true,
    () => false,
  );

/** What the thieves have seen of each identity. */
function listStolen(): readonly string[] {
  const seen = [...thief.received, ...plainThief.received].join('\n');
  return Object.entries(planted).flatMap(([name, text]) => (seen.includes(text) ? [name] : []));
}

async function startPlaces(): Promise<void> {
  const here = { identity: certify('127.0.0.1', 'localhost') };
  const there = { ...here, name: 'localhost' };
  cluster = stack.use(await startPlace(answerAsCluster, here));
  thief = stack.use(await startPlace(answerAsCluster, there));
  plainThief = stack.use(await startPlace(answerAsCluster, { name: 'localhost' }));
  tokens = stack.use(await startPlace((_, response) => void response.end('{"token": "pull"}'), there));
  registry = stack.use(await startPlace(answerAsRegistry, here));
  ecrRegistry = stack.use(await startPlace(answerAsEcr, here));
  files = stack.use(await startPlace((_, response) => void response.end('a: b'), here));
  google = stack.use(
    await startPlace(
      (_, response) => void response.end('{"access_token": "given", "expires_in": 3600}'),
      here,
    ),
  );
}

const answerAsCluster: Parameters<typeof startPlace>[0] = (_, response) =>
  void response.end(JSON.stringify({ kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'x' } }));

/** As Docker Hub and GitLab do it: tokens are given by another host, and bytes come from a third one. */
const answerAsRegistry: Parameters<typeof startPlace>[0] = ({ url = '', headers }, response) => {
  const realm = `Bearer realm="${tokens.url}/jwt/auth",service="registry"`;
  if (headers.authorization !== 'Bearer pull') response.writeHead(401, { 'www-authenticate': realm }).end();
  else if (url.includes('/blobs/')) response.writeHead(302, { location: `${thief.url}/bytes` }).end();
  else if (url.includes('/tags/')) response.end('{"name": "shop", "tags": ["1"]}');
  else response.end('{"repositories": ["shop"]}');
};

const answerAsEcr: Parameters<typeof startPlace>[0] = ({ headers }, response) => {
  if (headers.authorization === undefined)
    response.writeHead(401, { 'www-authenticate': 'Basic realm="ecr"' });
  response.end('{}');
};

function configure(): JsonObject {
  const basic = { username: 'reader', password: 'planted-artifact-password' };
  const user = { type: 'authorized_user', client_id: 'c', client_secret: 's', refresh_token: planted.google };
  const audience = '//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/aws';
  const workload = {
    ...{
      type: 'external_account',
      audience,
      subject_token_type: 'urn:ietf:params:aws:token-type:aws4_request',
    },
    token_url: `${thief.url}/exchange`,
  };
  const gcs = [
    {
      name: 'ours',
      apiEndpoint: google.url,
      json: JSON.stringify({ ...user, token_uri: `${google.url}/token` }),
    },
    { name: 'strays', json: JSON.stringify({ ...user, token_uri: `${thief.url}/token` }) },
    { name: 'workload', json: JSON.stringify(workload) },
  ];
  const shops = { trustedHosts: ['localhost'], repositories: ['shop'], inspectDigests: true };
  return {
    busdriver: { accounts: { allowPlainSecrets: true, tokenBrokerHosts: ['127.0.0.1'] } },
    kubernetes: { enabled: true, accounts: [] },
    dockerRegistry: {
      enabled: true,
      accounts: [
        { name: 'hub', address: registry.url, username: 'puller', password: 'planted-registry-password' },
        { name: 'ecr', address: ecrRegistry.url, ecr: { registryId: ecrRegistryId, region: ecrRegion } },
      ].map((account) => ({ ...account, ...shops })),
    },
    artifacts: {
      urlRestrictions: { rejectLocalhost: false, allowedIps: ['127.0.0.1', '::1'] },
      http: { enabled: true, accounts: [{ name: 'files', ...basic, credentialOrigins: [files.url] }] },
      gcs: { enabled: true, accounts: gcs },
    },
  };
}

beforeAll(async () => {
  dir = stack.use(await makeTempDir()).path;
  aws = stack.use(await startAwsEndpoints(dir));
  const ecr = stack.use(await startEcr());
  ecr.repositories.set('shop', new Map([[toDigest('a'), { tags: ['1'], pushedAtMs: 0 }]]));
  await startPlaces();
  const broker = stack.use(await startTokenBroker(() => planted.broker));
  const config = path.join(dir, 'clouddriver.yml');
  const trusted = path.join(dir, 'authorities.pem');
  await writeFile(trusted, authority.certificate + otherAuthority.certificate);
  await writeFile(config, JSON.stringify(configure()));
  // Keys of the environment win over a profile that is named there.
  const keys = '[default]\naws_access_key_id = AKIAOWN\naws_secret_access_key = own-secret-key\n';
  await writeFile(path.join(dir, 'aws-credentials'), keys);
  const env = {
    ...{ ARCADE_URL: broker.url, ARCADE_API_KEY: broker.apiKey, NODE_EXTRA_CA_CERTS: trusted },
    ...{ AWS_ACCESS_KEY_ID: '', AWS_SECRET_ACCESS_KEY: '' },
  };
  system = stack.use(await startSystem({ config: [config], env }));
  aws.clusters.set('prod-payments', toEks(cluster.url));
});
afterAll(() => stack.disposeAsync());

function toEks(endpoint: string, { certificate } = authority): object {
  return { endpoint, certificateAuthority: { data: toBase64(certificate) }, status: 'ACTIVE' };
}

async function send(method: string, target: string, body: object): Promise<{ status: number; text: string }> {
  const headers = { 'content-type': 'application/json' };
  const response = await system.fetch(target, { method, headers, body: JSON.stringify(body) });
  return { status: response.status, text: await response.text() };
}

/** Makes an account, or replaces it, and reads by it. @returns what was answered last */
async function use(name: string, definition: object): Promise<string> {
  const saved = await send('PUT', '/credentials', { type: 'kubernetes', name, ...definition });
  if (saved.status !== 200) return saved.text;
  return (await system.fetch(`/manifests/${name}/default/configMap%20x`)).text();
}

const configMap = '"kind":"ConfigMap"';

interface Kubeconfig {
  readonly server?: string;
  /** Further members of the cluster. */
  readonly cluster?: JsonObject;
  readonly exec?: JsonObject;
  readonly user?: JsonObject;
}

const getToken = { command: 'aws', args: ['eks', 'get-token', '--cluster-name', 'prod-payments'] };

/** What `aws eks update-kubeconfig` writes, or nearly. */
function makeKubeconfig({
  server = cluster.url,
  cluster: more,
  exec = getToken,
  user,
}: Kubeconfig = {}): string {
  const data = { 'certificate-authority-data': toBase64(authority.certificate) };
  const apiVersion = 'client.authentication.k8s.io/v1';
  return JSON.stringify({
    'current-context': 'c',
    contexts: [{ name: 'c', context: { cluster: 'c', user: 'c' } }],
    clusters: [{ name: 'c', cluster: { server, ...data, ...more } }],
    users: [{ name: 'c', user: user ?? { exec: { apiVersion, ...exec } } }],
  });
}

describe('the identity at a cluster of EKS, of an account made by the API', () => {
  it.each<[string, () => Kubeconfig, JsonObject?]>([
    ['another server', () => ({ server: thief.url })],
    ['another server, by HTTP', () => ({ server: plainThief.url })],
    ['another server behind its name', () => ({ server: cluster.url.replace('//', '//x@') })],
    ['another path of its server', () => ({ server: `${cluster.url}/proxy` })],
    [
      'another server by aws-iam-authenticator',
      () => ({
        server: thief.url,
        exec: { command: '/usr/local/bin/aws-iam-authenticator', args: ['token', '-i', 'prod-payments'] },
      }),
    ],
    ['any certificate', () => ({ cluster: { 'insecure-skip-tls-verify': true } })],
    ['any certificate, by the account', () => ({}), { insecure: true }],
    [
      'another authority',
      () => ({ cluster: { 'certificate-authority-data': toBase64(otherAuthority.certificate) } }),
    ],
    [
      'one authority more',
      () => ({
        cluster: {
          'certificate-authority-data': toBase64(authority.certificate + otherAuthority.certificate),
        },
      }),
    ],
    ['another name in its certificate', () => ({ cluster: { 'tls-server-name': 'localhost' } })],
    [
      'a cluster that is not there',
      () => ({ exec: { command: 'aws', args: ['eks', 'get-token', '--cluster-name', 'none'] } }),
    ],
    [
      'a region that is a host',
      () => ({ exec: { ...getToken, args: [...getToken.args, '--region', `${new URL(thief.url).host}/#`] } }),
    ],
  ])('goes nowhere with %s', async (title, kubeconfig, more = {}) => {
    const name = `eks-${title.replaceAll(/[^a-z]+/g, '-')}`;
    const before = cluster.received.length;
    const answer = await use(name, { kubeconfigContents: makeKubeconfig(kubeconfig()), ...more });

    expect(answer).toMatch(
      /which accounts made by an API refuse|cannot look up the EKS cluster|its kubeconfig: eks/,
    );
    expect(listStolen()).toEqual([]);
    expect(cluster.received.slice(before).join()).not.toContain(planted.eks);
  });

  it('goes to where EKS says that the cluster is', async () => {
    const kubeconfigContents = makeKubeconfig();
    expect(await use('honest', { kubeconfigContents })).toContain(configMap);
    expect(cluster.received.join('\n')).toContain(planted.eks);
    expect(await use('by-eks', { eks: { cluster: 'prod-payments' } })).toContain(configMap);
    expect(await use('by-eks-insecure', { eks: { cluster: 'prod-payments' }, insecure: true })).toContain(
      'insecure: any certificate',
    );
  });

  it('goes on doing so when the authority of the cluster is another one', async () => {
    const renewed = otherAuthority.issue({ commonName: 'test', hosts: ['127.0.0.1'] });
    const moved = stack.use(await startPlace(answerAsCluster, { identity: renewed }));
    const exec = { command: 'aws', args: ['eks', 'get-token', '--cluster-name', 'moving'] };
    aws.clusters.set('moving', toEks(cluster.url));
    expect(await use('moving', { kubeconfigContents: makeKubeconfig({ exec }) })).toContain(configMap);
    aws.clusters.set('moving', toEks(moved.url, otherAuthority));
    const data = { 'certificate-authority-data': toBase64(otherAuthority.certificate) };
    const kubeconfigContents = makeKubeconfig({ server: moved.url, cluster: data, exec });
    await expect.poll(() => use('moving', { kubeconfigContents })).toContain(configMap);
    expect(moved.received.join('\n')).toContain(planted.eks);
  });
});

describe('a profile of the machine', () => {
  it.each<[string, JsonObject]>([
    ['as an option', { ...getToken, args: [...getToken.args, '--profile', 'owner'] }],
    ['as a variable', { ...getToken, env: [{ name: 'AWS_PROFILE', value: 'owner' }] }],
    ['by its file', { ...getToken, env: [{ name: 'AWS_CONFIG_FILE', value: '/tmp/x' }] }],
  ])('is none of an account that was made by the API: %s', async (title, exec) => {
    const proof = path.join(dir, `proof-${title.replaceAll(' ', '-')}`);
    const program = await writeProgram(path.join(dir, 'program'), `touch ${proof}; exit 1`);
    await writeFile(path.join(dir, 'aws-config'), `[profile owner]\ncredential_process = ${program}\n`);
    const kubeconfigContents = makeKubeconfig({ exec });
    const answer = await use(`profile-${title.replaceAll(' ', '-')}`, { kubeconfigContents });

    expect(answer).toMatch(
      /its kubeconfig runs aws with (a profile|AWS_CONFIG_FILE), which accounts made by an API refuse/,
    );
    expect(await isThere(proof)).toBe(false);
  });
});

describe('the token of a broker', () => {
  it.each<[string, () => JsonObject, string]>([
    ['another host', () => ({ server: { host: thief.url } }), 'server.host'],
    [
      'its host by HTTP',
      () => ({ server: { host: plainThief.url.replace('localhost', '127.0.0.1') } }),
      'server.host',
    ],
    ['whoever answers', () => ({ server: { host: cluster.url }, insecure: true }), 'insecure'],
  ])('goes not to %s', async (title, definition, option) => {
    const answer = await use(`broker-${title.replaceAll(' ', '-')}`, definition());

    expect(answer).toMatch(new RegExp(`${option}: expected .* busdriver\\.accounts\\.tokenBrokerHosts`));
    expect(listStolen()).toEqual([]);
  });

  it('goes to the hosts that the settings name', async () => {
    const server = { host: cluster.url, caData: toBase64(authority.certificate) };
    expect(await use('brokered', { server })).toContain(configMap);
    expect(cluster.received.join('\n')).toContain(planted.broker);
  });
});

describe('what else a definition may not lend', () => {
  it.each<[string, () => JsonObject, string]>([
    [
      'a login of OIDC',
      () => ({ kubeconfigContents: makeKubeconfig({ user: toOidcUser(thief.url) }) }),
      'auth-provider',
    ],
    [
      'passwords of registries',
      () => ({
        ...{ kubeconfigContents: makeKubeconfig({ server: thief.url, user: { token: 'own' } }) },
        ...{ providerVersion: 'v1', namespaces: ['default'], dockerRegistries: [{ accountName: 'hub' }] },
      }),
      'configureImagePullSecrets: expected false',
    ],
    [
      'a token of ECR, to another host',
      () => ({ ...ecrAccount, address: thief.url }),
      "address: expected the registry's own at Amazon ECR",
    ],
    [
      'a token of ECR, to whoever answers',
      () => ({ ...ecrAccount, insecureRegistry: true }),
      "address: expected the registry's own at Amazon ECR",
    ],
    [
      'a secret whose region is a host',
      () => ({ kubeconfigContents: `encrypted:ssm!r:${new URL(thief.url).host}/#!n:/kubeconfig` }),
      'no AWS region is known',
    ],
  ])('%s', async (title, definition, expected) => {
    expect(await use(`lent-${title.replaceAll(/[^a-z]+/gi, '-')}`, definition())).toContain(expected);
    expect(listStolen()).toEqual([]);
  });
});

const ecrAccount = {
  ...{ type: 'dockerRegistry', ecr: { registryId: ecrRegistryId, region: ecrRegion }, inspectDigests: true },
  ...{ address: `https://${ecrRegistryId}.dkr.ecr.${ecrRegion}.amazonaws.com`, repositories: ['shop'] },
};

function toOidcUser(issuer: string): JsonObject {
  const config = { 'idp-issuer-url': issuer, 'client-id': 'c', 'refresh-token': planted.google };
  return { 'auth-provider': { name: 'oidc', config } };
}

describe('passwords of registries and artifact accounts', () => {
  it('go to the host of the tokens that the registry names, and to nobody to whom it redirects', async () => {
    await expect.poll(() => tokens.received.join('\n')).toContain(planted.registry);
    await expect.poll(() => registry.received.join('\n')).toContain('Bearer pull');

    await expect.poll(() => ecrRegistry.received.join('\n')).toContain(planted.ecr);

    expect(registry.received.join('\n')).not.toContain(planted.registry);
    expect(listStolen()).toEqual([]);
  });

  it('go to the origins that the account names', async () => {
    const fetchFrom = (artifactAccount: string, reference: string, type = 'http/file') =>
      send('PUT', '/artifacts/fetch', { type, artifactAccount, reference });

    expect(await fetchFrom('files', `${files.url}/a`)).toMatchObject({ status: 200 });
    expect(files.received.at(-1)).toContain(planted.artifact);
    expect(await fetchFrom('files', `${thief.url}/a`)).toMatchObject({ status: 403 });
    expect((await fetchFrom('ours', 'gs://bucket/a', 'gcs/object')).status).toBe(200);
    expect(google.received.join('\n')).toContain(planted.google);
    for (const account of ['strays', 'workload'])
      expect((await fetchFrom(account, 'gs://bucket/a', 'gcs/object')).status).not.toBe(200);
    expect(listStolen()).toEqual([]);
  });
});
