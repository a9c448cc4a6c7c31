import { readFile } from 'node:fs/promises';
import { Agent, request } from 'undici';

/** Where an application is made, and how much of it. */
export interface FillOptions {
  /** Address of the API server, the certificate that signed its own, and a token that may do everything. */
  readonly server: string;
  readonly caFile: string;
  readonly token: string;
  /** It is made if there is none. */
  readonly namespace: string;
  readonly application: string;
  /** Deployments, each with one ReplicaSet. */
  readonly deployments: number;
  /** Pods of each. */
  readonly podsEach: number;
  /** Told now and then how far it is. */
  report?(line: string): void;
}

/** Requests at a time: more do not make the API server faster. */
const concurrency = 24;

/**
 * Makes an application of many Deployments with their ReplicaSets and pods, as the controllers would make them, but written
 * directly: paused Deployments make no ReplicaSets, and nobody schedules the pods, so that thousands of them cost the machine
 * nothing once they are there.
 */
export async function fillApplication(options: FillOptions): Promise<void> {
  const { namespace, deployments, report } = options;
  const dispatcher = new Agent({ connect: { ca: await readFile(options.caFile) }, connections: concurrency });
  const create = (path: string, body: object): Promise<Created> => post(options, { path, body, dispatcher });
  try {
    await create('/api/v1/namespaces', toNamed({ apiVersion: 'v1', kind: 'Namespace' }, namespace)).catch(
      ignoreExisting,
    );
    let next = 0;
    const work = async (): Promise<void> => {
      for (let index = next++; index < deployments; index = next++) {
        await createDeployment(options, { index, create });
        if ((index + 1) % 500 === 0) report?.(`made ${index + 1} of ${deployments} Deployments`);
      }
    };
    await Promise.all(Array.from({ length: concurrency }, work));
  } finally {
    await dispatcher.close();
  }
}

interface Created {
  readonly metadata: { readonly name: string; readonly uid: string };
}

async function createDeployment(
  { namespace, application, podsEach }: FillOptions,
  { index, create }: { index: number; create(path: string, body: object): Promise<Created> },
): Promise<void> {
  const name = `${application}-${String(index).padStart(5, '0')}`;
  const selected = { app: name };
  // As a deploy by Spinnaker labels them.
  const labels = {
    ...{ ...selected, 'app.kubernetes.io/name': application },
    'app.kubernetes.io/managed-by': 'spinnaker',
  };
  const annotations = {
    'moniker.spinnaker.io/application': application,
    'moniker.spinnaker.io/cluster': `deployment ${name}`,
  };
  const template = { metadata: { labels, annotations }, spec: { containers: [toContainer(index)] } };
  const apps = `/apis/apps/v1/namespaces/${namespace}`;
  const spec = { selector: { matchLabels: selected }, template, replicas: podsEach };
  const meta = { namespace, labels, annotations };
  const deployment = await create(`${apps}/deployments`, {
    ...toNamed({ apiVersion: 'apps/v1', kind: 'Deployment' }, name, meta),
    spec: { ...spec, paused: true },
  });
  const setMeta = {
    ...meta,
    annotations: { ...annotations, 'deployment.kubernetes.io/revision': '1' },
    ownerReferences: [toOwner('apps/v1', 'Deployment', deployment)],
  };
  const set = await create(`${apps}/replicasets`, {
    ...toNamed({ apiVersion: 'apps/v1', kind: 'ReplicaSet' }, `${name}-6d5f7c9b8`, setMeta),
    spec,
  });
  const podMeta = { ...meta, ownerReferences: [toOwner('apps/v1', 'ReplicaSet', set)] };
  await Promise.all(
    Array.from({ length: podsEach }, (_, pod) =>
      create(`/api/v1/namespaces/${namespace}/pods`, {
        ...toNamed(
          { apiVersion: 'v1', kind: 'Pod' },
          `${set.metadata.name}-${String(pod).padStart(5, 'x')}`,
          podMeta,
        ),
        spec: { ...template.spec, schedulerName: 'nobody', automountServiceAccountToken: false },
      }),
    ),
  );
}

function toContainer(index: number): object {
  return { name: 'main', image: `registry.example.com/shop/app-${index % 50}:1.${index}` };
}

function toNamed(type: { apiVersion: string; kind: string }, name: string, metadata: object = {}): object {
  return { ...type, metadata: { ...metadata, name } };
}

function toOwner(apiVersion: string, kind: string, { metadata: { name, uid } }: Created): object {
  return { apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true };
}

class RefusedError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

function ignoreExisting(error: unknown): undefined {
  if (error instanceof RefusedError && error.status === 409) return undefined;
  throw error;
}

async function post(
  { server, token }: FillOptions,
  { path, body, dispatcher }: { path: string; body: object; dispatcher: Agent },
): Promise<Created> {
  const answer = await request(new URL(path, server), {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
    dispatcher,
  });
  const text = await answer.body.text();
  const { statusCode } = answer;
  if (statusCode >= 300) throw new RefusedError(statusCode, `POST ${path}: ${statusCode} ${text}`);
  return JSON.parse(text) as Created;
}
