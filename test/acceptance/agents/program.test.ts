import { copyFile, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { parse as parseYaml, stringify } from 'yaml';
import { CertificateAuthority } from '#test/shared/providers/kubernetes/credentials/certificates.ts';
import { findStatusPort, runAgentProgram } from '#test/support/agents/agent-process.ts';
import { startWorld, type World } from '#test/support/agents/agent-world.ts';
import { createNamespace, describeWithCluster } from '#test/support/cluster/cluster.ts';
import { startConnectProxy, startTlsFront } from '#test/support/network/connect-proxy.ts';
import { makeTempDir, type TempDir } from '#test/support/run/temp-dir.ts';
import { parsePrometheusText } from '#test/support/system/prometheus-text.ts';
import type { SystemTask } from '#test/support/system/system.ts';

const fixture = path.resolve(import.meta.dirname, '../../fixtures/agent/armory-agent.yaml');

describeWithCluster("an agent's program", (cluster) => {
  const stack = new AsyncDisposableStack();
  let world: World;
  /** Of the present test: a configuration in it finds `token` and `kubeconfig`. */
  let dir: TempDir;

  beforeAll(async () => {
    const args = ['--allow-host', 'busdriver.test'];
    world = stack.use(await startWorld(['edge'], { keepsPort: true, args }));
  });
  beforeEach(async () => {
    dir = stack.use(await makeTempDir());
    await write('token', await world.signer.sign());
    await copyFile(cluster.kubeconfig, path.join(dir.path, 'kubeconfig'));
  });
  afterAll(() => stack.disposeAsync());

  const write = (name: string, text: string): Promise<void> => writeFile(path.join(dir.path, name), text);

  /** Runs `--check` by a file. @param parts of it: `busdriver`, `kubernetes`, and its account */
  async function check(
    { busdriver = {}, kubernetes = {}, account = {} }: { readonly [part: string]: object },
    environment: NodeJS.ProcessEnv = {},
  ) {
    const own = { url: world.system.url, tokenFile: 'token', ...busdriver };
    const accounts = [{ name: 'edge', kubeConfigFile: 'kubeconfig', ...account }];
    const config = { busdriver: own, kubernetes: { ...kubernetes, accounts } };
    await write('busdriver-agent.yaml', JSON.stringify(config));
    const args = ['--config', path.join(dir.path, 'busdriver-agent.yaml'), '--check'];
    await using agent = await runAgentProgram(args, { environment });
    return { code: await agent.exited, text: agent.log };
  }

  test("takes the file of Armory's agent, unedited: it connects, and keeps to what the file narrows", async () => {
    await using namespace = await createNamespace('agent-file');
    await copyFile(fixture, path.join(dir.path, 'armory-agent.yaml'));
    const args = ['--config', 'armory-agent.yaml', '--url', world.system.url];
    await using agent = await runAgentProgram(args, { cwd: dir.path });

    expect(toEnd(await world.deploy('edge', namespace.name, 'one'))).toMatchObject({ failed: false });
    // The definition names no namespaces; the file leaves this one out.
    expect(toEnd(await world.deploy('edge', 'kube-system', 'two'))).toEqual({
      failed: true,
      message: expect.stringContaining('kube-system'),
    });
    const told = agent.log.split('\n').filter((line) => line.includes('of no effect'));
    expect(told.filter((line) => line.includes('"message":"pprof: of no effect'))).toHaveLength(1);
    expect(agent.log).not.toContain('did you mean');
  });

  test('looks by --check at its file, the cluster and Busdriver', async () => {
    const good = await check({});
    expect(good).toMatchObject({ code: 0 });
    for (const line of [
      /^ok {6}token +issuer https:\/\/kubernetes.default.svc, subject system:serviceaccount:busdriver:agent, for busdriver:local, ends in \d+ s$/m,
      /^ok {6}Busdriver at 127\.0\.0\.1:\d+ +a session was opened, and closed again$/m,
      /^ok {6}clock +0 s /m,
      /^ok {6}account edge +granted: operations/m,
      /^ok {6}cluster of edge +Kubernetes v1\./m,
      /^ok {6}caching of edge +all rights in all namespaces$/m,
      /^ok {6}operations of edge +all rights in all namespaces$/m,
    ]) {
      expect(good.text).toMatch(line);
    }

    const away = await check({ busdriver: { url: 'http://127.0.0.1:1' } });
    expect(away).toMatchObject({ code: 1 });
    expect(away.text).toMatch(/^FAILED {2}Busdriver at 127.0.0.1:1 +POST .* failed/m);

    await write('token', await world.signer.sign({ audience: 'somebody', lifeSeconds: -90 }));
    await write('kubeconfig', withoutUser(await readFile(cluster.kubeconfig, 'utf8')));
    const bad = await check({ busdriver: { tokenFlie: 'x' } });
    expect(bad).toMatchObject({ code: 1 });
    for (const line of [
      /^note {4}file +busdriver.tokenFlie: unknown, and of no effect: did you mean 'tokenFile'\?$/m,
      /^FAILED {2}token .* for somebody, ended \d+ s ago; expected an audience that begins with busdriver:$/m,
      /^FAILED {2}Busdriver at .* reached, but no session: Busdriver answered 401/m,
    ]) {
      expect(bad.text).toMatch(line);
    }
    expect(bad.text).toMatch(/^FAILED {2}(cluster|caching) of edge/m);
  });

  test('passes by proxies that it is told to, apart for Busdriver and for clusters', async () => {
    const authority = new CertificateAuthority();
    await using front = await startTlsFront(
      Number(new URL(world.system.url).port),
      authority.issue({ commonName: 'busdriver.test', hosts: ['busdriver.test'] }),
    );
    const { text, host, place } = await moveCluster(cluster.kubeconfig);
    await using proxy = await startConnectProxy(
      new Map([
        ['busdriver.test', front.place],
        [host, place],
      ]),
    );
    await write('ca.crt', authority.certificate);
    await write('kubeconfig', text);
    const environment = { HTTPS_PROXY: proxy.url, NO_PROXY: '', https_proxy: '', no_proxy: '' };
    const through = async (busdriver: object, kubernetes: object, account: object) => {
      const before = proxy.hosts.length;
      const own = { url: 'https://busdriver.test', caFile: 'ca.crt', ...busdriver };
      const { code } = await check({ busdriver: own, kubernetes, account }, environment);
      return { code, hosts: [...new Set(proxy.hosts.slice(before))].sort() };
    };

    expect(await through({}, {}, {})).toEqual({ code: 0, hosts: ['busdriver.test', host] });
    expect(await through({ noProxy: true }, {}, {})).toEqual({ code: 1, hosts: [host] });
    expect(await through({}, { noProxy: true }, {})).toEqual({ code: 1, hosts: ['busdriver.test'] });
    expect(await through({}, {}, { noProxy: true })).toEqual({ code: 1, hosts: ['busdriver.test'] });
  });

  test('tells the kubelet and Prometheus how it is', async () => {
    const { system } = world;
    await using agent = await world.start('edge', cluster.kubeconfig);
    const ask = async (what: 'health' | 'metrics', target: string) =>
      fetch(`http://127.0.0.1:${findStatusPort(agent.log, what)}${target}`);
    const readMetric = async (name: string) =>
      parsePrometheusText(await (await ask('metrics', '/metrics')).text()).get(name)?.samples[0]?.value;
    const readReadiness = async () => (await ask('health', '/health/readiness')).status;

    await expect.poll(() => findStatusPort(agent.log, 'metrics')).toBeDefined();
    expect((await ask('health', '/health')).status).toBe(200);
    await expect.poll(readReadiness).toBe(200);
    await expect.poll(() => readMetric('kubesvc_connection_count')).toBe(1);
    expect(await readMetric('kubesvc_disconnection_total')).toBe(0);
    expect(await readMetric('process_resident_memory_bytes')).toBeGreaterThan(10_000_000);

    await system.kill('SIGKILL');
    await expect.poll(() => readMetric('kubesvc_connection_count')).toBe(0);
    expect(await readMetric('kubesvc_disconnection_total')).toBe(1);
    expect((await ask('health', '/health')).status).toBe(200);
    await system.restart();
    await expect.poll(() => readMetric('kubesvc_connection_count')).toBe(1);
    expect(await agent.kill('SIGTERM')).toBe(0);
  });
});

function toEnd({ status, resultObjects }: SystemTask) {
  return { failed: status.failed, message: resultObjects[0]?.['message'] };
}

interface Kubeconfig {
  readonly clusters: { readonly cluster: { server: string; 'tls-server-name'?: string } }[];
  readonly users: { user: object }[];
}

/** A kubeconfig by which nobody is known to the cluster. */
function withoutUser(text: string): string {
  const kubeconfig = parseYaml(text) as Kubeconfig;
  for (const user of kubeconfig.users) user.user = { token: 'nobody' };
  return stringify(kubeconfig);
}

/** The kubeconfig with its server under a name that nobody but a proxy knows, and where it really is. */
async function moveCluster(file: string) {
  const kubeconfig = parseYaml(await readFile(file, 'utf8')) as Kubeconfig;
  const host = 'cluster.test';
  let place = '';
  for (const { cluster } of kubeconfig.clusters) {
    const url = new URL(cluster.server);
    place = url.host;
    cluster['tls-server-name'] = url.hostname;
    url.hostname = host;
    cluster.server = url.href;
  }
  return { text: stringify(kubeconfig), host, place };
}
