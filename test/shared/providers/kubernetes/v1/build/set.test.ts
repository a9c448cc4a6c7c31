import { expect, test } from 'vitest';
import { getPath, type JsonObject } from '#core/json.ts';
import type { Manifest } from '#providers/kubernetes/api/manifest.ts';
import { buildSet, changeSet } from '#providers/kubernetes/v1/build/set.ts';
import { deployField } from '#providers/kubernetes/v1/descriptions/server-group.ts';
import type { SetKind } from '#providers/kubernetes/v1/descriptions/set.ts';
import { parseWith, requireField } from '#settings/coerce.ts';

const web = { name: 'web', imageDescription: { repository: 'library/nginx', tag: '1' } };

/** What is made of `kub-test`, of one container, with these fields besides. */
function build(kind: SetKind, fields: JsonObject = {}): Manifest {
  const given = { application: 'kub', containers: [web], ...fields };
  return buildSet(kind, {
    ...{ name: 'kub-test', namespace: 'shop', replicas: 3, annotations: { token: 't' } },
    ...{ pullSecrets: ['hub'], defaultRegistry: 'gcr.io' },
    description: parseWith(requireField(deployField), given, 'createServerGroup'),
  });
}

const labels = { app: 'kub', cluster: 'kub-test', namespace: 'shop' };
const container = {
  ...{ name: 'web', image: 'gcr.io/library/nginx:1', imagePullPolicy: 'IfNotPresent', resources: {} },
};
const pods = { imagePullSecrets: [{ name: 'hub' }], containers: [container] };

test('a StatefulSet has the labels, volumes and annotations of its description', () => {
  const selector = { matchExpressions: [{ key: 'disk', operator: 'Exists' }], matchLabels: { zone: 'a' } };
  const claim = {
    ...{ claimName: 'data', accessModes: ['ReadWriteOnce'], storageClassName: 'fast', selector },
    requirements: { requests: { storage: '1Gi' }, limits: {} },
  };
  const fields = { controllerAnnotations: { a: '1' }, podAnnotations: { b: '2' }, loadBalancers: ['front'] };
  expect(build('StatefulSet', { ...fields, volumeClaims: [claim], volumeAnnotations: { c: '3' } })).toEqual({
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name: 'kub-test', namespace: 'shop', annotations: { a: '1', token: 't' }, labels },
    spec: {
      ...{ serviceName: 'kub-test', replicas: 3, selector: { matchLabels: labels } },
      template: {
        metadata: { labels: { ...labels, 'load-balancer-front': 'true' }, annotations: { b: '2' } },
        spec: pods,
      },
      volumeClaimTemplates: [
        {
          metadata: { name: 'data', annotations: { c: '3' } },
          spec: {
            ...{ accessModes: ['ReadWriteOnce'], storageClassName: 'fast', selector },
            resources: { requests: { storage: '1Gi' } },
          },
        },
      ],
    },
  });
});

test('a DaemonSet has neither size nor claims', () => {
  const claims = { volumeClaims: [{ claimName: 'data' }], podManagementPolicy: 'Parallel' };
  expect(getPath(build('DaemonSet', claims), 'spec')).toEqual({
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: pods },
  });
});

test('what stands beside a podSpec counts first', () => {
  const podSpec = {
    ...{ containers: [{ ...web, name: 'other' }], dnsPolicy: 'Default', restartPolicy: 'Never' },
    ...{ nodeSelector: { disk: 'fast', zone: 'a' }, hostNetwork: true, serviceAccountName: 'other' },
    ...{ terminationGracePeriodSeconds: 5, activeDeadlineSeconds: '60', hostPID: 'true', hostIPC: false },
    ...{ hostname: 'h', nodeName: 'n', subdomain: 's' },
    securityContext: { runAsUser: '1000', runAsNonRoot: true, privileged: true },
    volumeSources: [{ name: 'v', type: 'EMPTYDIR', emptyDir: {} }],
  };
  const beside = { restartPolicy: 'Always', nodeSelector: { disk: 'slow' }, hostNetwork: false };
  expect(getPath(build('DaemonSet', { ...beside, podSpec }), 'spec', 'template', 'spec')).toEqual({
    ...pods,
    ...{ restartPolicy: 'Always', hostNetwork: false, nodeSelector: { disk: 'slow', zone: 'a' } },
    ...{ dnsPolicy: 'Default', serviceAccountName: 'other', terminationGracePeriodSeconds: 5 },
    ...{ volumes: [{ name: 'v', emptyDir: {} }], activeDeadlineSeconds: 60, hostPID: true, hostIPC: false },
    ...{ hostname: 'h', nodeName: 'n', subdomain: 's' },
    securityContext: { runAsUser: 1000, runAsNonRoot: true },
  });
});

test.each([
  [{ type: 'Recreate', rollingUpdate: { partition: 1 } }, { type: 'OnDelete' }],
  [{ type: 'RollingUpdate' }, { type: 'RollingUpdate' }],
  [{}, undefined],
])('the strategy %j becomes %j', (updateStrategy, made) => {
  const { updateStrategy: built } = getPath(
    build('StatefulSet', { updateController: { updateStrategy } }),
    'spec',
  ) as JsonObject;
  expect(built).toEqual(made);
});

test('a set that is there keeps what cannot change', () => {
  const old = { of: 'old' };
  const identity = { name: 'kub-test', uid: 'u', resourceVersion: '7', labels: old };
  const kept = { serviceName: 'old', selector: { matchLabels: old }, minReadySeconds: 9 };
  const live = {
    metadata: { ...identity, annotations: { a: '0', b: '1' } },
    spec: { ...kept, replicas: 1, template: {} },
    status: { replicas: 1 },
  };
  const manifest = build('StatefulSet', { controllerAnnotations: { a: '1' } });
  expect(changeSet(live, manifest)).toEqual({
    ...live,
    metadata: { ...live.metadata, annotations: { a: '1', b: '1', token: 't' } },
    spec: { ...live.spec, replicas: 3, template: getPath(manifest, 'spec', 'template') },
  });
});
