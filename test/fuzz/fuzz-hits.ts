import type { JsonObject } from '#core/json.ts';
import { createOperationHits } from './operation-hits.ts';
import { application, type Hits, kept, type Playground, retryableMark } from './playground.ts';
import { createViewHits } from './view-hits.ts';

/** Routes that succeed with anything: no request has to aim. */
export const unaimedRoutes: readonly string[] = [
  'PUT /admin/db/truncate/{namespace}',
  'POST /cache/{cloudProvider}/{type}',
];

/** An account that the fuzzer makes, changes and deletes. Nothing answers at its address. */
export const storedAccount = { type: 'kubernetes', name: 'fuzzed', server: { host: 'http://127.0.0.1:1' } };

/** The same in go-clouddriver's form. It has a token: no broker is there to ask. */
const storedProvider = { name: 'fuzzed-provider', host: 'http://127.0.0.1:1', bearerToken: 'fuzzed' };
const ofProvider = [{ path: { account: storedProvider.name } }];

/** One request or more for each route that can miss: who adds one that no view has adds its request here. */
export function createHits(playground: Playground): Hits {
  const { account, otherAccounts } = playground;
  const accounts = [account, ...otherAccounts].map((name) => ({ path: { account: name } }));
  const artifactAccounts = [{ path: { account: 'embedded-artifact' } }];
  const live: Hits = {
    ...createOperationHits(playground),
    ...createTaskHits(playground),
    ...createManifestHits(playground),
    ...createJobHits(playground),
    'GET /credentials/{account}': accounts,
    'GET /credentials/{account}/authorized': accounts,
    'GET /credentials/{account}/health': accounts,
    'POST /credentials/{account}/compare': [{ path: { account } }],
    'POST /credentials': [{ body: storedAccount }],
    'PUT /credentials': [{ body: storedAccount }],
    'PUT /credentials/{account}': [{ path: { account: storedAccount.name }, body: storedAccount }],
    'GET /credentials/type/{type}': [{ path: { type: 'kubernetes' } }],
    'GET /credentials/{account}/history': [{ path: { account: storedAccount.name } }],
    'DELETE /credentials/{account}': [{ path: { account: storedAccount.name } }],
    'POST /v1/kubernetes/providers': [{ body: storedProvider }],
    'PUT /v1/kubernetes/providers': [{ body: storedProvider }],
    'GET /v1/kubernetes/providers/{account}': ofProvider,
    'DELETE /v1/kubernetes/providers/{account}': ofProvider,
    'PUT /v1/kubernetes/providers/{account}/resources': accounts,
    'DELETE /v1/kubernetes/providers/{account}/resources': accounts,
    'GET /cache/{cloudProvider}/{type}': [{ path: { cloudProvider: 'kubernetes', type: 'manifest' } }],
    'GET /artifacts/account/{account}/names': artifactAccounts,
    'GET /artifacts/account/{account}/versions': artifactAccounts,
    'PUT /artifacts/fetch': [
      { body: toArtifact('embedded/base64', 'embedded-artifact', 'a2luZDogQ29uZmlnTWFw') },
      { body: toArtifact('http/file', 'no-auth-http-account', 'http://127.0.0.1:1/file') },
    ],
  };
  return { ...live, ...createViewHits(playground, live) };
}

function toArtifact(type: string, artifactAccount: string, reference: string): JsonObject {
  return { type, artifactAccount, reference, name: 'file.yml', version: 'v000', metadata: { id: 1 } };
}

function createTaskHits({ taskIds }: Playground): Hits {
  const ids = [...taskIds, retryableMark];
  const tasks = ids.map((id) => ({ path: { cloudProvider: 'kubernetes', id } }));
  return {
    'GET /task/{id}': ids.map((id) => ({ path: { id } })),
    'DELETE /task/{id}': ids.map((id) => ({ path: { id } })),
    'POST /task/{id}': ids.toReversed().map((id) => ({ path: { id: `${id}:resume` } })),
    'GET /{cloudProvider}/task/{id}/owner': tasks,
    'PATCH /{cloudProvider}/task/{id}': tasks.flatMap((task) => [
      { ...task, body: { retry: true } },
      { ...task, body: { retry: 'false' } },
    ]),
  };
}

function createManifestHits({ account, namespace }: Playground): Hits {
  const names = [kept.configMap, kept.deployment, kept.pod, `${kept.cluster}-v000`];
  const clusterScoped = [
    `namespace ${namespace}`,
    'clusterRole admin',
    'node',
    'customResourceDefinition x.y',
  ];
  const cluster = { account, location: namespace, name: 'replicaSet', application, cluster: kept.cluster };
  const route = 'GET /manifests/{account}/{location}';
  const members = `${route}/{name}/cluster/{application}/{cluster}`;
  return {
    [route]: clusterScoped.map((location) => ({ path: { account, location } })),
    // The second is what is left when operations have deleted all of the others, since an API server makes it again: half of the hits, so that a
    // run of few calls meets it.
    [`${route}/{name}`]: names.flatMap((name) => [
      { path: { account, location: namespace, name } },
      { path: { account, location: 'default', name: 'service kubernetes' } },
    ]),
    [members]: [{ path: cluster }],
    [`${members}/dynamic/{criteria}`]: [
      { path: cluster },
      { path: { ...cluster, criteria: 'newest' } },
      { path: { ...cluster, criteria: 'largest' } },
    ],
  };
}

function createJobHits({ account, namespace }: Playground): Hits {
  const job = { application, account, location: namespace, id: kept.job };
  const pod = { application, account, location: namespace, pod: kept.pod, fileName: 'main' };
  const route = '/applications/{application}/jobs/{account}/{location}/{id}';
  return {
    [`GET ${route}`]: [{ path: job }],
    [`POST ${route}`]: [{ path: job }],
    [`DELETE ${route}`]: [{ path: { ...job, id: 'job gone' } }, { path: job }],
    [`GET ${route}/{fileName}`]: [{ path: { ...job, fileName: 'main' } }],
    'GET /applications/{application}/kubernetes/pods/{account}/{location}/{pod}/{fileName}': [
      { path: pod },
      { path: { ...pod, pod: 'keeper' } },
    ],
    'GET /instances/{account}/{region}/{id}/console': [
      { path: { account, region: namespace, id: kept.pod } },
    ],
  };
}
