import { createHash, generateKeyPairSync } from 'node:crypto';
import type { RequestListener } from 'node:http';
import { openBitbucketSources } from '#providers/artifacts/bitbucket.ts';
import { openEmbeddedSources } from '#providers/artifacts/embedded.ts';
import { openGcsSources } from '#providers/artifacts/gcs.ts';
import { openGitRepoSources } from '#providers/artifacts/git-repo/git-repo.ts';
import { openGitHubSources } from '#providers/artifacts/github.ts';
import { openGitLabSources } from '#providers/artifacts/gitlab.ts';
import { openHelmSources } from '#providers/artifacts/helm/helm.ts';
import { openHelmOciSources } from '#providers/artifacts/helm/helm-oci.ts';
import { openHttpSources } from '#providers/artifacts/http.ts';
import { openJenkinsSources } from '#providers/artifacts/jenkins.ts';
import { openIvySources } from '#providers/artifacts/maven/ivy.ts';
import { openMavenSources } from '#providers/artifacts/maven/maven.ts';
import { openOracleSources } from '#providers/artifacts/oracle.ts';
import { openPassedOnSources } from '#providers/artifacts/passed-on.ts';
import { openS3Sources } from '#providers/artifacts/s3.ts';
import { createOneFileServer } from '#test/support/artifacts/git-packs.ts';
import type { ArtifactTypeSample, RemoteType } from '#test/support/conformance/artifact-sample.ts';
import { createTestHost } from '#test/support/services/test-host.ts';
import { readArchive } from './git-repo/git-archives.ts';

const malformedUrls = [
  '',
  'planted',
  '/planted',
  'http://',
  'http://[planted',
  'http://planted:planted@ORIGIN/x',
];

const gitHub: RemoteType = {
  kind: 'github',
  account: {},
  toCredentials: (token) => ({ token }),
  toHeader: (token) => ['authorization', `token ${token}`],
  toReference: (origin, file) => `${origin}/api/v3/repos/acme/shop/contents/${file}`,
  createListener: describeFiles,
};

const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const private_key = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();

/** The key with a passphrase. */
function toPem(passphrase: string): string {
  return privateKey.export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase }).toString();
}

/** What a token begins with that is signed by a key of this id. */
function toTokenHead(kid: string): string {
  return `${Buffer.from(JSON.stringify({ alg: 'RS256', typ: 'JWT', kid })).toString('base64url')}[.]`;
}

/** User name and password. */
const basic: Pick<RemoteType, 'toCredentials' | 'toHeader'> = {
  toCredentials: (password) => ({ username: 'ann', password }),
  toHeader: (password) => ['authorization', `Basic ${btoa(`ann:${password}`)}`],
};

const bitbucket: RemoteType = {
  kind: 'bitbucket',
  account: {},
  toCredentials: (token) => ({ token }),
  toHeader: (token) => ['authorization', `Bearer ${token}`],
  toReference: (origin, file) => `${origin}/2.0/repositories/acme/shop/src/main/${file}`,
};

/** A repository of charts, each of which is one file. */
function describeCharts(sendFile: RequestListener): RequestListener {
  const charts = ['web.yml', 'planted.yml', 'small', 'large'];
  const entries = charts.map((name) => `  ${name}:\n  - version: 1.0.0\n    urls: [charts/${name}]\n`);
  return (request, response) => {
    if (request.url === '/index.yaml') response.end(`entries:\n${entries.join('')}`);
    else sendFile(request, response);
  };
}

/** A Maven repository that has no descriptor of any module. */
function describeModules(sendFile: RequestListener): RequestListener {
  return (request, response) => {
    if (request.url?.endsWith('.pom')) response.writeHead(404).end();
    else sendFile(request, response);
  };
}

/** A Maven repository whose artifacts have one version. */
function describeVersions(sendFile: RequestListener): RequestListener {
  const versioning = '<versioning><versions><version>1.0</version></versions></versioning>';
  return (request, response) => {
    if (request.url?.endsWith('/maven-metadata.xml')) response.end(`<metadata>${versioning}</metadata>`);
    else sendFile(request, response);
  };
}

/** What each repository of a registry has as its one layer: what the servers of the suites answer. */
const layers = new Map<string, () => Buffer>([
  ['web.yml', () => Buffer.from('kind: Pod')],
  ['planted.yml', () => Buffer.from('kind: Pod')],
  ['small', () => Buffer.alloc(2 ** 16, 'x')],
  ['large', () => Buffer.alloc(100 * 2 ** 20, 'x')],
]);

/** A registry that has charts. */
function describeRegistry(sendFile: RequestListener): RequestListener {
  const mediaType = 'application/vnd.cncf.helm.chart.content.v1.tar+gzip';
  return (request, response) => {
    const [, repository = ''] = /^\/v2\/(.*)\/manifests\/1\.0\.0$/.exec(request.url ?? '') ?? [];
    const content = layers.get(repository);
    if (content === undefined) return sendFile(request, response);
    const digest = `sha256:${createHash('sha256').update(content()).digest('hex')}`;
    response.end(JSON.stringify({ layers: [{ mediaType, digest }] }));
  };
}

/** GitHub's contents API, which says where a file is. */
function describeFiles(sendFile: RequestListener): RequestListener {
  return (request, response) => {
    const [, file] = /\/contents\/(.*)\?/.exec(request.url ?? '') ?? [];
    if (file === undefined) sendFile(request, response);
    else response.end(JSON.stringify({ download_url: `http://${request.headers.host}/raw/${file}` }));
  };
}

/** Every type of artifacts, each way of fetching it: a further one is held to the same by its entry here. */
export const samples: readonly ArtifactTypeSample[] = [
  {
    title: 'in its reference',
    open: openEmbeddedSources,
    type: 'embedded/base64',
    types: ['embedded/base64', 'remote/base64'],
    malformed: ['planted!', 'http://ORIGIN/planted'],
  },
  {
    title: 'passed on',
    open: openPassedOnSources,
    type: 'docker/image',
    malformed: ['planted', 'http://ORIGIN/planted'],
  },
  {
    title: 'by its download URL',
    open: openGitHubSources,
    type: 'github/file',
    malformed: malformedUrls,
    remote: gitHub,
  },
  {
    title: 'by the contents API',
    open: openGitHubSources,
    type: 'github/file',
    malformed: malformedUrls,
    remote: { ...gitHub, account: { useContentAPI: true }, createListener: (sendFile) => sendFile },
  },
  {
    title: 'of a branch',
    open: openGitRepoSources,
    type: 'git/repo',
    malformed: malformedUrls,
    remote: {
      kind: 'gitRepo',
      account: {},
      toCredentials: (token) => ({ token }),
      toHeader: (token) => ['authorization', `Basic ${btoa(`token:${token}`)}`],
      toReference: (origin, file) => `${origin}/${file}`,
      createListener: createOneFileServer,
      toText: async (body) => (await readArchive(body)).get('web.yml')?.content ?? '',
    },
  },
  {
    title: 'by the URL of the API',
    open: openGitLabSources,
    type: 'gitlab/file',
    malformed: malformedUrls,
    remote: {
      kind: 'gitlab',
      account: {},
      toCredentials: (token) => ({ token }),
      toHeader: (token) => ['private-token', token],
      toReference: (origin, file) => `${origin}/api/v4/projects/7/repository/files/${file}/raw`,
    },
  },
  {
    title: 'with a token',
    open: openBitbucketSources,
    type: 'bitbucket/file',
    malformed: malformedUrls,
    remote: bitbucket,
  },
  {
    title: 'with user name and password',
    open: openBitbucketSources,
    type: 'bitbucket/file',
    malformed: malformedUrls,
    remote: {
      ...bitbucket,
      ...basic,
    },
  },
  {
    title: 'of a repository',
    open: openHelmSources,
    type: 'helm/chart',
    types: ['helm/chart', 'helm/index'],
    malformed: [''],
    remote: {
      kind: 'helm',
      account: {},
      ...basic,
      toReference: (_, file) => file,
      toArtifact: (name) => ({ name }),
      toServer: (repository) => ({ repository }),
      createListener: describeCharts,
    },
  },
  {
    title: 'of a registry',
    open: openHelmOciSources,
    type: 'helm/image',
    malformed: ['', '../planted', 'planted?x', 'planted:1', 'http://ORIGIN/planted', 'Planted'],
    remote: {
      kind: 'helm-oci',
      account: {},
      ...basic,
      toReference: (_, file) => file,
      toArtifact: (name) => ({ name, version: '1.0.0' }),
      toServer: (address) => ({ address }),
      createListener: describeRegistry,
    },
  },
  {
    title: 'of a module',
    open: openIvySources,
    type: 'ivy/file',
    malformed: ['', 'planted', 'a:..:planted', 'a:planted:latest.release', 'http://ORIGIN/planted'],
    remote: {
      kind: 'ivy',
      account: {},
      ...basic,
      toReference: (_, file) => `com.acme:${file}:1.0`,
      toServer: (root) => ({ settings: { resolvers: { ibiblio: [{ m2compatible: true, root }] } } }),
      createListener: describeModules,
    },
  },
  {
    title: 'archived by a build',
    open: openJenkinsSources,
    type: 'jenkins/file',
    malformed: ['', '../planted', 'planted/%2E%2e/x', 'planted?x', 'planted#x', 'pla\\nted', '.\t./planted'],
    remote: {
      kind: 'jenkins',
      account: {},
      ...basic,
      toReference: (_, file) => file,
      toArtifact: (reference) => ({ name: 'shop', version: '7', reference }),
      toServer: (address) => ({ address }),
    },
  },
  {
    title: 'by its coordinates',
    open: openMavenSources,
    type: 'maven/file',
    malformed: ['', 'planted', 'a:..:planted', 'a:planted/../x:1.0', 'a:b:[planted', 'http://ORIGIN/planted'],
    remote: {
      kind: 'maven',
      account: {},
      ...basic,
      toReference: (_, file) => `com.acme:${file}:yml:[1.0,2.0)`,
      toServer: (repositoryUrl) => ({ repositoryUrl }),
      createListener: describeVersions,
    },
  },
  {
    title: 'at any URL',
    open: openHttpSources,
    type: 'http/file',
    malformed: malformedUrls,
    remote: {
      kind: 'http',
      account: {},
      ...basic,
      toReference: (origin, file) => `${origin}/${file}`,
    },
  },
  {
    title: 'of Google',
    open: openGcsSources,
    type: 'gcs/object',
    malformed: ['', 'gs://planted', 'gs://configs/x#planted', 'http://ORIGIN/planted'],
    remote: {
      kind: 'gcs',
      account: {},
      toCredentials: (private_key_id) => ({
        json: JSON.stringify({ client_email: 'ann@planted.example.com', private_key, private_key_id }),
      }),
      toHeader: (id) => ['authorization', new RegExp(`^Bearer ${toTokenHead(id)}[\\w-]+[.][\\w-]+$`)],
      toReference: (_, file) => `gs://configs/${file}`,
      toServer: (apiEndpoint) => ({ apiEndpoint }),
    },
  },
  {
    title: 'of Oracle',
    open: openOracleSources,
    type: 'oracle/object',
    malformed: ['', 'oci://planted', 'oci://configs/x#planted?', 'http://ORIGIN/planted'],
    remote: {
      kind: 'oracle',
      account: { namespace: 'acme' },
      toCredentials: (privateKeyPassphrase) => ({
        ...{ tenancyId: 'ocid1.t', userId: 'ocid1.u', fingerprint: 'aa:bb', privateKeyPassphrase },
        sshPrivateKey: toPem(privateKeyPassphrase),
      }),
      toHeader: () => [
        'authorization',
        /^Signature version="1",keyId="ocid1[.]t\/ocid1[.]u\/aa:bb",.*,signature="[\w+/]+={0,2}"$/,
      ],
      toReference: (_, file) => `oci://configs/${file}`,
      toServer: (apiEndpoint) => ({ apiEndpoint }),
    },
  },
  {
    title: 'of a server of its own',
    open: openS3Sources,
    type: 's3/object',
    malformed: ['', 's3://planted', 's3://configs/../planted', 'http://ORIGIN/planted'],
    remote: {
      kind: 's3',
      account: {},
      toCredentials: (awsSecretAccessKey) => ({ awsAccessKeyId: 'AKID', awsSecretAccessKey }),
      toHeader: () => ['authorization', /^AWS4-HMAC-SHA256 Credential=AKID.*Signature=[0-9a-f]{64}$/],
      toReference: (_, file) => `s3://configs/${file}`,
      toServer: (apiEndpoint) => ({ apiEndpoint }),
      services: createTestHost(),
    },
  },
];
