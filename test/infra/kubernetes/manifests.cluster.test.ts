import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { asJsonArray, getPath, type JsonObject } from '#core/json.ts';
import { hostProgram, parseHostOptions } from '#infra/kubernetes/cli-options.ts';
import { parseGrpcSettings } from '#infra/kubernetes/grpc/grpc-settings.ts';
import { parsePeerSettings } from '#infra/kubernetes/peers/peer-settings.ts';
import { peerAudience } from '#infra/kubernetes/peers/peer-tokens.ts';
import { formatHelp } from '#infra/options.ts';
import { createNamespace, describeWithCluster, kubectl } from '#test/support/cluster/cluster.ts';

const folder = path.join(import.meta.dirname, '../../../infra/kubernetes/manifests');

describeWithCluster('the manifests of the Kubernetes home', () => {
  let objects: readonly JsonObject[];
  beforeAll(async () => {
    const text = await kubectl(['kustomize', folder]);
    objects = parseAllDocuments(text).map((document) => document.toJS() as JsonObject);
  });

  const find = (kind: string): JsonObject => objects.find((each) => each['kind'] === kind) ?? {};
  const container = () =>
    asJsonArray(getPath(find('Deployment'), 'spec', 'template', 'spec', 'containers'))[0];

  test('are taken by a real API server, each field of them', async () => {
    await using namespace = await createNamespace('kustomize');
    // Validation needs the namespace, and a dry run makes none.
    const own = `"namespace":"${namespace.name}"`;
    const moved = JSON.stringify(objects).replaceAll('"namespace":"spinnaker"', own);
    const list = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: JSON.parse(moved) });
    const apply = ['apply', '--dry-run=server', '--validate=strict', '--output=name', '--filename=-'];
    const said = (await kubectl(apply, { stdin: list })).trim().split('\n');
    expect(said.map((line) => line.split('/')[0]).sort()).toEqual([
      ...['clusterrole.rbac.authorization.k8s.io', 'clusterrolebinding.rbac.authorization.k8s.io'],
      ...['configmap', 'configmap', 'deployment.apps', 'networkpolicy.networking.k8s.io'],
      ...['poddisruptionbudget.policy', 'role.rbac.authorization.k8s.io'],
      ...['rolebinding.rbac.authorization.k8s.io', 'service', 'service', 'serviceaccount'],
    ]);
  });

  test('start three replicas with options that there are', () => {
    expect(getPath(find('Deployment'), 'spec', 'replicas')).toBe(3);
    const args = asJsonArray(getPath(container(), 'args')).map(String);
    for (const argument of args) expect(formatHelp(hostProgram)).toContain(`${argument.split('=')[0]} `);
    const here = args.map((argument) => argument.replace('/etc/busdriver', folder));
    expect(parseHostOptions(here)).toMatchObject({ port: 7002, namePrefix: 'busdriver-' });
  });

  test('have a Service whose name and port are those that replicas look for', async () => {
    const [config] = parseAllDocuments(await readFile(path.join(folder, 'clouddriver.yml'), 'utf8'));
    const settings = parsePeerSettings(config?.toJS());
    const name = String(getPath(find('Service'), 'metadata', 'name'));
    expect(name).toMatch(new RegExp(`^${settings?.namePrefix}`));
    const port = { name: settings?.portName, port: 7002, targetPort: 'http' };
    expect(asJsonArray(getPath(find('Service'), 'spec', 'ports'))).toEqual([port]);
  });

  test('have a Service of gRPC at its port, which peers do not take for one of HTTP', () => {
    const [, service] = objects.filter((each) => each['kind'] === 'Service');
    expect(getPath(service, 'metadata', 'name')).toBe('spin-clouddriver-grpc');
    const [port] = asJsonArray(getPath(service, 'spec', 'ports'));
    expect(port).toMatchObject({ port: parseGrpcSettings({})?.port, targetPort: 'grpc' });
    expect(getPath(port, 'name')).not.toBe(parsePeerSettings({})?.portName);
    expect(asJsonArray(getPath(container(), 'ports'))).toContainEqual({ name: 'grpc', containerPort: 9091 });
  });

  test('give each pod a token for its peers where it looks for it', () => {
    const volumes = asJsonArray(getPath(find('Deployment'), 'spec', 'template', 'spec', 'volumes'));
    const volume = volumes.find((each) => getPath(each, 'name') === 'peer-token');
    const [source] = asJsonArray(getPath(volume, 'projected', 'sources'));
    expect(getPath(source, 'serviceAccountToken', 'audience')).toBe(peerAudience);
    const mounts = asJsonArray(getPath(container(), 'volumeMounts'));
    const mount = mounts.find((each) => getPath(each, 'name') === 'peer-token');
    const file = `${getPath(mount, 'mountPath')}/${getPath(source, 'serviceAccountToken', 'path')}`;
    expect(file).toBe(parseHostOptions([]).peerTokenFile);
  });

  test('mount the key of sessions where replicas look for it, which others may not read', () => {
    const args = asJsonArray(getPath(container(), 'args')).map(String);
    const given = args.filter((argument) => argument.startsWith('--session-key-file'));
    const file = parseHostOptions(given).sessionKeyFile;
    const mounts = asJsonArray(getPath(container(), 'volumeMounts'));
    const mount = mounts.find((each) => getPath(each, 'name') === 'agent-sessions');
    expect(file).toBe(`${getPath(mount, 'mountPath')}/agent-sessions.jwk`);
    const pod = getPath(find('Deployment'), 'spec', 'template', 'spec');
    const volumes = asJsonArray(getPath(pod, 'volumes'));
    const volume = volumes.find((each) => getPath(each, 'name') === 'agent-sessions');
    const secret = { secretName: 'busdriver-agent-sessions', defaultMode: 0o440, optional: true };
    expect(getPath(volume, 'secret')).toEqual(secret);
    // Files of Secrets are root's: the group is how the process reads them.
    expect(getPath(pod, 'securityContext', 'fsGroup')).toBe(getPath(pod, 'securityContext', 'runAsGroup'));
  });

  test('grant what peers need, and nothing else', () => {
    expect(find('Role')['rules']).toEqual([
      { apiGroups: [''], resources: ['endpoints'], verbs: ['list', 'watch'] },
      { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs: ['list', 'watch'] },
    ]);
    expect(find('ClusterRole')['rules']).toEqual([
      { apiGroups: ['authentication.k8s.io'], resources: ['tokenreviews'], verbs: ['create'] },
    ]);
    const subject = { kind: 'ServiceAccount', name: 'spin-clouddriver', namespace: 'spinnaker' };
    for (const kind of ['RoleBinding', 'ClusterRoleBinding'])
      expect(find(kind)['subjects']).toEqual([subject]);
  });
});
