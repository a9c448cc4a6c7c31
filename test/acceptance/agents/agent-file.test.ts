import { copyFile, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { parse as parseYaml, stringify } from 'yaml';
import { CertificateAuthority } from '../../shared/providers/kubernetes/credentials/certificates.ts';
import { createTokenSigner, runAgentProgram, toAgentAccount } from '../../support/agents/agent-process.ts';
import { startWorld, toDeploy } from '../../support/agents/agent-world.ts';
import { createNamespace, describeWithCluster } from '../../support/cluster/cluster.ts';
import { startConnectProxy, startTlsFront } from '../../support/network/connect-proxy.ts';
import { makeTempDir } from '../../support/run/temp-dir.ts';
import type { System } from '../../support/system/system.ts';

const fixture = path.resolve(import.meta.dirname, '../../fixtures/agent/armory-agent.yaml');
const testMs = 120_000;

describeWithCluster("an agent's file", (cluster) => {
  test(
    "may be that of Armory's agent, unedited: it connects, and keeps to what the file narrows",
    async () => {
      await using namespace = await createNamespace('agent-file');
      const signer = await createTokenSigner();
      await using world = await startWorld([toAgentAccount('edge', signer)]);
      const { system } = world;
      await using dir = await makeTempDir();
      await copyFile(fixture, path.join(dir.path, 'armory-agent.yaml'));
      await copyFile(cluster.kubeconfig, path.join(dir.path, 'kubeconfig'));
      await writeFile(path.join(dir.path, 'token'), await signer.sign());
      await using agent = await runAgentProgram(['--config', 'armory-agent.yaml', '--url', system.url], {
        cwd: dir.path,
      });

      const granted = await deploy(system, toDeploy('edge', namespace.name, ['one']));
      expect(granted.failed).toBe(false);
      // The definition names no namespaces; the file leaves this one out.
      expect(await deploy(system, toDeploy('edge', 'kube-system', ['two']))).toEqual({
        failed: true,
        message: expect.stringContaining('kube-system'),
      });
      const told = agent.log.split('\n').filter((line) => line.includes('of no effect'));
      expect(told.filter((line) => line.includes('"message":"pprof: of no effect'))).toHaveLength(1);
      expect(agent.log).not.toContain('did you mean');
    },
    testMs,
  );

  test(
    'is looked at by --check, with the cluster and Busdriver that it names',
    async () => {
      const signer = await createTokenSigner();
      await using world = await startWorld([toAgentAccount('edge', signer)]);
      await using dir = await makeTempDir();
      const limited = await readFile(cluster.kubeconfig, 'utf8');
      const token = path.join(dir.path, 'token');
      const check = async (busdriver: object, kubeconfig: string) => {
        const kubeConfigFile = path.join(dir.path, 'kubeconfig');
        await writeFile(kubeConfigFile, kubeconfig);
        const accounts = [{ name: 'edge', kubeConfigFile }];
        const file = path.join(dir.path, 'busdriver-agent.yaml');
        const own = { url: world.system.url, tokenFile: token, ...busdriver };
        await writeFile(file, JSON.stringify({ busdriver: own, kubernetes: { accounts } }));
        await using agent = await runAgentProgram(['--config', file, '--check']);
        return { code: await agent.exited, text: agent.log };
      };

      await writeFile(token, await signer.sign());
      const good = await check({}, limited);
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

      await writeFile(token, await signer.sign({ audience: 'somebody', lifeSeconds: -90 }));
      const bad = await check({ tokenFlie: 'x' }, withoutUser(limited));
      expect(bad).toMatchObject({ code: 1 });
      for (const line of [
        /^note {4}file +busdriver.tokenFlie: unknown, and of no effect: did you mean 'tokenFile'\?$/m,
        /^FAILED {2}token .* for somebody, ended \d+ s ago; expected an audience that begins with busdriver:$/m,
        /^FAILED {2}Busdriver at .* reached, but no session: Busdriver answered 401/m,
      ]) {
        expect(bad.text).toMatch(line);
      }
      expect(bad.text).toMatch(/^FAILED {2}(cluster|caching) of edge/m);

      const away = await check({ url: 'http://127.0.0.1:1' }, limited);
      expect(away).toMatchObject({ code: 1 });
      expect(away.text).toMatch(/^FAILED {2}Busdriver at 127.0.0.1:1 +POST .* failed/m);
    },
    testMs,
  );

  test(
    'says which proxies are passed by, apart for Busdriver and for clusters',
    async () => {
      const signer = await createTokenSigner();
      await using world = await startWorld(
        [toAgentAccount('edge', signer)],
        ['--allow-host', 'busdriver.test'],
      );
      await using dir = await makeTempDir();
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
      await writeFile(path.join(dir.path, 'ca.crt'), authority.certificate);
      await writeFile(path.join(dir.path, 'token'), await signer.sign());
      await writeFile(path.join(dir.path, 'kubeconfig'), text);
      const check = async (busdriver: object, kubernetes: object, account: object) => {
        const file = path.join(dir.path, 'busdriver-agent.yaml');
        const own = { url: 'https://busdriver.test', tokenFile: 'token', caFile: 'ca.crt', ...busdriver };
        const accounts = [{ name: 'edge', kubeConfigFile: 'kubeconfig', ...account }];
        await writeFile(file, JSON.stringify({ busdriver: own, kubernetes: { ...kubernetes, accounts } }));
        const before = proxy.hosts.length;
        const environment = { HTTPS_PROXY: proxy.url, NO_PROXY: '', https_proxy: '', no_proxy: '' };
        await using agent = await runAgentProgram(['--config', file, '--check'], { environment });
        const code = await agent.exited;
        return { code, hosts: [...new Set(proxy.hosts.slice(before))].sort() };
      };

      expect(await check({}, {}, {})).toEqual({ code: 0, hosts: ['busdriver.test', host] });
      expect(await check({ noProxy: true }, {}, {})).toEqual({ code: 1, hosts: [host] });
      expect(await check({}, { noProxy: true }, {})).toEqual({ code: 1, hosts: ['busdriver.test'] });
      expect(await check({}, {}, { noProxy: true })).toEqual({ code: 1, hosts: ['busdriver.test'] });
    },
    testMs,
  );
});

async function deploy(system: System, operation: object) {
  const id = await system.postOperations([operation]);
  const { status, resultObjects } = await system.waitForTask(id, { timeoutMs: 60_000 });
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
