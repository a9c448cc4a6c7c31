import { setTimeout as sleep } from 'node:timers/promises';
import { type ApiClient, NotServedError } from './api-client.ts';
import type { BenchServer } from './bench-server.ts';
import type { BenchApplication } from './bench-world.ts';
import { toIntroduction } from './sample-objects.ts';

/** Milliseconds until a change must be shown, and between two looks for it. */
const changeTimeoutMs = 90_000;
const changePauseMs = 5;

/** Milliseconds until an application must be shown whole. */
const shownTimeoutMs = 300_000;

/** Milliseconds between two looks at it: three times as long as the last one took, so that looks do not keep the server from its work. */
const pauseMinMs = 50;
const pauseMaxMs = 1_000;
const pauseFactor = 3;

export interface ShownOptions {
  readonly server: Pick<BenchServer, 'account' | 'isPeer' | 'findEnd'>;
  readonly client: ApiClient;
  readonly application: BenchApplication;
}

/**
 * Waits until all server groups of an application are shown with their pods. Names of clusters, of which the answer is small, are
 * looked at until all are there; only then whole server groups. A peer gets a ConfigMap of the application first, for it may know
 * only what it deployed; its names are not waited for.
 *
 * @throws NotServedError when the server has no such list
 * @throws Error with the numbers when it takes more than five minutes
 */
export async function waitUntilShown(options: ShownOptions): Promise<void> {
  const { server, client, application } = options;
  const { account, isPeer } = server;
  const { name, deployments } = application;
  const deadline = performance.now() + shownTimeoutMs;
  if (isPeer) await client.deploy(toIntroduction({ account, namespace: name, application: name }));
  else
    await waitFor(
      options,
      deadline,
      async () => countClusters(await read(options, 'clusters')) >= deployments,
    );
  await waitFor(options, deadline, async () => isWhole(await read(options, 'serverGroups'), application));
}

async function waitFor(
  { server, application }: ShownOptions,
  deadline: number,
  isThere: () => Promise<boolean>,
): Promise<void> {
  for (;;) {
    const startMs = performance.now();
    if (await isThere()) return;
    const pauseMs = (performance.now() - startMs) * pauseFactor;
    const end = await server.findEnd();
    if (end !== undefined) throw new Error(end);
    if (performance.now() > deadline)
      throw new Error(`${application.name} is not shown whole after five minutes`);
    await sleep(Math.min(pauseMaxMs, Math.max(pauseMinMs, pauseMs)));
  }
}

/** The answer; an empty one where it failed, as for an application that is not known yet. */
async function read({ client, application }: ShownOptions, list: string): Promise<string> {
  try {
    return await client.get(`/applications/${application.name}/${list}`);
  } catch (error) {
    if (error instanceof NotServedError) throw error;
    return '[]';
  }
}

/** Names in an answer that has lists of them by account. */
function countClusters(text: string): number {
  return Object.values(JSON.parse(text) as { [account: string]: unknown[] }).flat().length;
}

function isWhole(text: string, { deployments, podsEach }: BenchApplication): boolean {
  const found = JSON.parse(text) as { instances?: unknown[] | null }[];
  const instances = found.reduce((sum, each) => sum + (each.instances?.length ?? 0), 0);
  return found.length === deployments && instances === deployments * podsEach;
}

/** Waits until the managers of an application show a text. @throws Error when it takes more than 90 seconds */
export async function waitForText(
  client: ApiClient,
  { name }: Pick<BenchApplication, 'name'>,
  text: string,
): Promise<void> {
  const path = `/applications/${name}/serverGroupManagers`;
  const deadline = performance.now() + changeTimeoutMs;
  while (!(await client.get(path)).includes(text)) {
    if (performance.now() > deadline) throw new Error(`GET ${path}: a change is not shown after 90 s`);
    await sleep(changePauseMs);
  }
}
