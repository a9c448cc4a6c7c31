import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { JsonObject } from '#core/json.ts';
import { type Route, routes } from '#functions/routes.ts';
import {
  createNamespace,
  describeWithCluster,
  kubectl,
  type TestNamespace,
} from '#test/support/cluster/cluster.ts';
import { makeTempDir, type TempDir } from '#test/support/run/temp-dir.ts';
import { type Fiat, type FiatMode, startFiat } from '#test/support/services/fiat.ts';
import { type Front50, startFront50 } from '#test/support/services/front50.ts';
import { type System, startSystem } from '#test/support/system/system.ts';
import { type CallerName, callers, getExpectation, type Judge, type Outcome, table } from './expectations.ts';
import { application, gated, toRouteRequest } from './requests.ts';

const all = ['READ', 'WRITE', 'EXECUTE'] as const;
/** What Fiat says of callers, whose names are their rights. */
const rights = {
  stranger: { accounts: { open: all }, applications: { other: all } },
  reader: { accounts: { [gated]: ['READ'] }, applications: { [application]: ['READ'] } },
  writer: { accounts: { [gated]: all }, applications: { [application]: all } },
  admin: { admin: true },
} as const;

/**
 * What Fiat does by the judge it is asked to be; first that it is away: what it says of who does not say his name is remembered for 20 s.
 */
const modes: { readonly [judge in Exclude<Judge, 'gate'>]: FiatMode } = {
  down: 'down',
  'code 500': '500',
  'wrong-json': 'wrong-json',
  up: 'up',
  slow: 'slow',
};

describe('the table of rights', () => {
  it('has each route, and no other', () => {
    expect(Object.keys(table).sort()).toEqual(routes.map((route) => `${route.method} ${route.path}`).sort());
  });
});

describeWithCluster('each route, by who calls and who judges', (cluster) => {
  const stack = new AsyncDisposableStack();
  let dir: TempDir;
  let namespace: TestNamespace;
  let front50: Front50;
  let fiat: Fiat;

  beforeAll(async () => {
    dir = stack.use(await makeTempDir());
    namespace = stack.use(await createNamespace('access'));
    front50 = stack.use(await startFront50({ projects: [toProject(namespace.name)] }));
    fiat = stack.use(await startFiat({ users: toUsers() }));
    await deploy(namespace.name);
  });

  afterAll(() => stack.disposeAsync());

  it('without Fiat', async () => {
    await using system = await start('gate', false);

    expect(await findSurprises(system, 'gate')).toEqual([]);
  });

  it('with Fiat, up, slow and away', async () => {
    await using system = await start('fiat', true);
    const surprises: string[] = [];
    for (const judge of Object.keys(modes) as (keyof typeof modes)[]) {
      await fiat.setMode(modes[judge]);
      surprises.push(...(await findSurprises(system, judge)));
    }

    expect(surprises).toEqual([]);
  });

  it('with Fiat, to who does not say his name, by what Fiat gives to everybody', async () => {
    await using system = await start('everybody', true);
    const paths = ['/applications', '/applications?restricted=false', '/search?q=matrix&type=applications'];
    const ask = () =>
      Promise.all(
        paths.map(async (target) => {
          const response = await system.fetch(target);
          const text = await response.text();
          return [response.status, text.includes(application), text.includes('deployment matrix')];
        }),
      );
    await fiat.setMode('down');
    // Fiat itself asks for names while it starts.
    expect(await ask()).toEqual([
      [503, false, false],
      [200, true, false],
      [503, false, false],
    ]);
    fiat.users = { ...toUsers(), anonymous: rights.reader };
    await fiat.setMode('up');
    expect(await ask()).toEqual([
      [200, true, true],
      [200, true, true],
      [200, true, false],
    ]);
    fiat.users = toUsers();
  });

  /** The system with an account that is open and one that is not, of the same cluster, when both are cached. */
  async function start(name: string, isFiatAsked: boolean): Promise<System> {
    const config = path.join(dir.path, `${name}.yml`);
    const account = { kubeconfigFile: cluster.kubeconfig, namespaces: [namespace.name] };
    const permissions = { READ: ['readers'], WRITE: ['writers'] };
    const settings = {
      kubernetes: {
        enabled: true,
        accounts: [
          { ...account, name: 'open', kinds: ['configMap'] },
          { ...account, name: gated, permissions },
        ],
      },
      services: {
        front50: { baseUrl: front50.url },
        ...(isFiatAsked && { fiat: { enabled: true, baseUrl: fiat.url } }),
      },
    };
    await writeFile(config, JSON.stringify(settings));
    await fiat.setMode('up');
    const system = await startSystem({ config: [config] });
    const isCached = async () => {
      const response = await system.fetch('/applications/matrix/serverGroupManagers', {
        headers: { ...toHeaders('writer', 'up'), 'Cache-Control': 'no-cache' },
      });
      expect(await response.text()).toContain(`"${gated}"`);
    };
    await vi.waitFor(isCached, { timeout: 60_000, interval: 250 });
    return system;
  }

  /** Requests of which something else became than the table says, a line each. */
  async function findSurprises(system: System, judge: Judge): Promise<string[]> {
    const taskId = await makeTask(system, judge);
    const surprises: string[] = [];
    for (const caller of callers) {
      // All at once: those of one user wait for one answer of Fiat.
      const found = await Promise.all(routes.map((route) => check(route, { system, judge, caller, taskId })));
      surprises.push(...found.filter((line) => line !== undefined));
    }
    return surprises;
  }

  /** A finished task of the restricted account. Who may make one while Fiat is away was told before. */
  async function makeTask(system: System, judge: Judge): Promise<string> {
    if (judge !== 'gate') await fiat.setMode('up');
    const headers = { ...toHeaders('writer', 'up'), 'content-type': 'application/json' };
    const description = { account: gated, manifestName: 'configMap none', location: namespace.name };
    const body = JSON.stringify([{ deleteManifest: description }]);
    const response = await system.fetch('/kubernetes/ops', { method: 'POST', headers, body });
    const { id } = (await response.json()) as { id: string };
    const isDone = async () => {
      const task = (await (await system.fetch(`/task/${id}`, { headers })).json()) as {
        status?: { completed: boolean };
      };
      expect(task.status?.completed).toBe(true);
    };
    await vi.waitFor(isDone, { timeout: 30_000, interval: 100 });
    if (judge !== 'gate') await fiat.setMode(modes[judge]);
    return id;
  }

  async function check(
    route: Route,
    { system, judge, caller, taskId }: { system: System; judge: Judge; caller: CallerName; taskId: string },
  ): Promise<string | undefined> {
    const request = toRouteRequest(route, { namespace: namespace.name, taskId });
    const expected = getExpectation(request.route, caller, judge);
    const response = await system.fetch(request.path, {
      method: request.method,
      headers: {
        ...toHeaders(caller, judge),
        ...(request.body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(request.body !== undefined && { body: request.body }),
    });
    const body = await response.text();
    const seen = toOutcome(expected, response.status, body);
    if (seen === expected) return undefined;
    return `${request.route} by ${caller}, ${judge}: ${seen} instead of ${expected} (${response.status} ${body.slice(0, 200)})`;
  }
});

/** What became of a request. Of lists that may be cut it is looked at whether they are. */
function toOutcome(expected: Outcome, status: number, body: string): Outcome {
  if (status === 403) return 'refused';
  if (status === 400 && body.includes(`Access denied to account ${gated}`)) return 'refused';
  if (status === 503) return 'closed';
  if (expected !== 'whole' && expected !== 'cut') return 'in';
  return /"(deployment|networkPolicy) matrix"|"account":"gated"|<td>gated</.test(body) ? 'whole' : 'cut';
}

/** What Gate and Orca send. Users have a name for each judge, so that nothing is remembered of them from another. */
function toHeaders(caller: CallerName, judge: Judge): { readonly [name: string]: string } {
  if (caller === 'none') return {};
  const isListed = caller === 'writer' || caller === 'admin';
  return {
    'X-SPINNAKER-USER': `${caller}-${judge}`,
    'X-SPINNAKER-ACCOUNTS': isListed ? `open,${gated}` : 'open',
  };
}

function toUsers(): { readonly [name: string]: (typeof rights)[keyof typeof rights] } {
  return Object.fromEntries(
    Object.entries(rights).flatMap(([name, user]) =>
      Object.keys(modes).map((judge) => [`${name}-${judge}`, user] as const),
    ),
  );
}

function toProject(namespace: string): JsonObject {
  const cluster = { account: gated, stack: '*', detail: '*', applications: [application], region: namespace };
  return { id: 'p1', name: 'matrix-project', config: { applications: [application], clusters: [cluster] } };
}

/** An application with something of each kind that views show. */
async function deploy(namespace: string): Promise<void> {
  const labels = { app: 'matrix' };
  const annotations = {
    'moniker.spinnaker.io/application': application,
    'moniker.spinnaker.io/cluster': 'deployment matrix',
  };
  const metadata = { name: 'matrix', namespace, labels, annotations };
  const template = {
    metadata: { labels, annotations },
    spec: { containers: [{ name: 'web', image: 'nginx:1.27' }] },
  };
  const objects = [
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata,
      spec: { replicas: 1, selector: { matchLabels: labels }, template },
    },
    { apiVersion: 'v1', kind: 'Service', metadata, spec: { selector: labels, ports: [{ port: 80 }] } },
    { apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy', metadata, spec: { podSelector: {} } },
  ];
  await kubectl(['apply', '-f', '-'], {
    stdin: JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }),
  });
}
