import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { InvalidInputError } from '#core/errors.ts';
import type { JsonObject, JsonValue } from '#core/json.ts';
import type { Artifact } from '#provider-kit/artifact.ts';
import type { Manifest } from '#providers/kubernetes/api/manifest.ts';
import { builtInKinds, createKindRegistry } from '#providers/kubernetes/kinds/index.ts';
import {
  type BindingInput,
  bindArtifacts,
  checkArtifactsBound,
  createDeployedArtifact,
  findArtifacts,
} from '#providers/kubernetes/manifest/artifacts.ts';
import { freeze } from '#test/support/engines/frozen.ts';

const { find } = createKindRegistry();
const directory = new URL('../../../../fixtures/kubernetes/', import.meta.url);

/** A pod spec with every kind of reference that pod templates have. */
const podSpec = {
  initContainers: [{ name: 'init', image: 'tools' }],
  containers: [
    {
      name: 'web',
      image: 'ghcr.io/acme/web:1',
      envFrom: [{ configMapRef: { name: 'settings' } }, { secretRef: { name: 'tokens' } }],
      env: [
        { name: 'A', value: 'settings' },
        { name: 'B', valueFrom: { configMapKeyRef: { name: 'settings', key: 'b' } } },
        { name: 'C', valueFrom: { secretKeyRef: { name: 'tokens', key: 'c' } } },
        { name: 'D', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
      ],
    },
    { name: 'side', image: 'tools' },
  ],
  volumes: [
    { name: 'one', configMap: { name: 'settings' } },
    { name: 'two', secret: { secretName: 'tokens' } },
    {
      name: 'three',
      projected: { sources: [{ configMap: { name: 'settings' } }, { secret: { name: 'tokens' } }] },
    },
    { name: 'four', emptyDir: {} },
  ],
};
const deployment: Manifest = freeze({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', namespace: 'shop', annotations: { image: 'tools' } },
  spec: { replicas: 2, template: { metadata: { labels: { image: 'tools' } }, spec: podSpec } },
});

const image: Artifact = { type: 'docker/image', name: 'ghcr.io/acme/web', reference: 'ghcr.io/acme/web:2' };
const tools: Artifact = { type: 'docker/image', name: 'tools', reference: 'tools@sha256:1f' };
const settings: Artifact = {
  type: 'kubernetes/configMap',
  name: 'settings',
  location: 'shop',
  reference: 'settings-v003',
  metadata: { account: 'prod' },
};
const tokens: Artifact = { ...settings, type: 'kubernetes/secret', name: 'tokens', reference: 'tokens-v001' };

/** Binds with everything not under test at its default. */
function bind(artifacts: readonly Artifact[], options: Partial<BindingInput> = {}) {
  return bindArtifacts({
    manifest: deployment,
    kind: find('deployment'),
    namespace: 'shop',
    account: 'prod',
    imageBinding: 'match-name-and-tag',
    ...options,
    artifacts,
  });
}

/** The value in which each string `from` is `to`. */
function substitute(value: JsonValue, from: string, to: string): JsonValue {
  return JSON.parse(JSON.stringify(value).replaceAll(`"${from}"`, `"${to}"`)) as JsonValue;
}

describe('binding in pod templates', () => {
  test('reaches every reference to images, config maps and secrets, and nothing else', () => {
    const { manifest, bound } = bind([image, tools, settings, tokens]);
    expect(manifest).toEqual({
      ...deployment,
      spec: {
        replicas: 2,
        template: {
          metadata: { labels: { image: 'tools' } },
          spec: {
            initContainers: [{ name: 'init', image: 'tools@sha256:1f' }],
            containers: [
              {
                name: 'web',
                image: 'ghcr.io/acme/web:2',
                envFrom: [
                  { configMapRef: { name: 'settings-v003' } },
                  { secretRef: { name: 'tokens-v001' } },
                ],
                env: [
                  { name: 'A', value: 'settings' },
                  { name: 'B', valueFrom: { configMapKeyRef: { name: 'settings-v003', key: 'b' } } },
                  { name: 'C', valueFrom: { secretKeyRef: { name: 'tokens-v001', key: 'c' } } },
                  { name: 'D', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
                ],
              },
              { name: 'side', image: 'tools@sha256:1f' },
            ],
            volumes: [
              { name: 'one', configMap: { name: 'settings-v003' } },
              { name: 'two', secret: { secretName: 'tokens-v001' } },
              {
                name: 'three',
                projected: {
                  sources: [{ configMap: { name: 'settings-v003' } }, { secret: { name: 'tokens-v001' } }],
                },
              },
              { name: 'four', emptyDir: {} },
            ],
          },
        },
      },
    });
    expect(new Set(bound)).toEqual(new Set([image, tools, settings, tokens]));
    expect(bound).toHaveLength(4);
  });

  test('confuses no types', () => {
    const swapped = [
      { ...settings, type: 'kubernetes/secret' },
      { ...tokens, type: 'kubernetes/configMap' },
      { ...image, type: 'docker' },
    ];
    expect(bind(swapped)).toEqual({ manifest: deployment, bound: [] });
  });

  test.each(builtInKinds.filter(({ replacers }) => replacers === 'podTemplate'))(
    'is done for $name',
    (kind) => {
      expect(bind([settings], { kind }).bound).toEqual([settings]);
    },
  );

  test('reaches into the job template of a cron job', () => {
    const manifest: Manifest = freeze({
      apiVersion: 'batch/v1',
      kind: 'CronJob',
      metadata: { name: 'sweep', namespace: 'shop' },
      spec: { jobTemplate: { spec: { template: { spec: podSpec } } } },
    });
    const result = bind([tools], { manifest, kind: find('cronJob') });
    expect(result.manifest).toEqual(substitute(manifest, 'tools', 'tools@sha256:1f'));
  });

  test.each(['service', 'configMap', 'Rollout.argoproj.io', 'Deployment.example.com', 'none'])(
    'is not done for %s',
    (kind) => {
      const result = bind([image, settings], { kind: find(kind) });
      expect(result).toEqual({ manifest: deployment, bound: [] });
    },
  );

  test('answers the very manifest when nothing matches', () => {
    expect(bind([{ ...image, name: 'other' }]).manifest).toBe(deployment);
  });
});

describe('eligibility', () => {
  const { metadata: _metadata, ...withoutAccount } = settings;
  const { location: _location, ...withoutLocation } = settings;

  test.each<readonly [string, Artifact, boolean]>([
    ['its namespace and account', settings, true],
    ['no account', withoutAccount, true],
    ['an empty account', { ...settings, metadata: { account: '' } }, true],
    ['another account', { ...settings, metadata: { account: 'test' } }, false],
    ['another namespace', { ...settings, location: 'other' }, false],
    ['no namespace', withoutLocation, false],
    ['no reference', { type: settings.type as string, name: 'settings', location: 'shop' }, false],
    ['no type', { ...settings, type: '' }, false],
    ['no name', { type: settings.type as string, location: 'shop', reference: 'x' }, false],
  ])('of an artifact in Kubernetes with %s', (_name, artifact, eligible) => {
    expect(bind([artifact]).bound).toEqual(eligible ? [artifact] : []);
  });

  test('of an image does not depend on where it is', () => {
    const elsewhere = { ...image, location: 'ghcr.io', metadata: { account: 'test' } };
    expect(bind([elsewhere]).bound).toEqual([elsewhere]);
  });

  test('counts an absent location as no namespace', () => {
    expect(bind([withoutLocation], { namespace: '' }).bound).toEqual([withoutLocation]);
  });
});

describe('precedence', () => {
  test('gives a reference to the first artifact that matches', () => {
    const second = { ...image, location: 'x', reference: 'ghcr.io/acme/web:3' };
    const { manifest, bound } = bind([image, second]);
    expect(bound).toEqual([image]);
    expect(JSON.stringify(manifest)).not.toContain('web:3');
  });

  test('counts as bound what was right already', () => {
    const current = { ...image, reference: 'ghcr.io/acme/web:1' };
    expect(bind([current])).toEqual({ manifest: deployment, bound: [current] });
  });
});

test('binding never touches other fields', () => {
  const fields = fc.dictionary(
    fc.constantFrom('a', 'spec', 'template', 'image', 'name', 'x'),
    fc.jsonValue(),
  );
  fc.assert(
    fc.property(fields, fields, fc.string(), (outer, inner, reference) => {
      const containers = [{ ...inner, image: 'tools' }];
      const manifest = freeze({
        ...outer,
        spec: { ...inner, template: { ...outer, spec: { volumes: [outer], containers } } },
      }) as Manifest;
      const { manifest: changed } = bind([{ ...tools, reference }], { manifest });
      const restored = bind([{ ...tools, name: reference, reference: 'tools' }], {
        manifest: changed,
        imageBinding: 'match-name-only',
      });
      expect(restored.manifest).toEqual(manifest);
    }),
  );
});

describe('checkArtifactsBound', () => {
  test('accepts what was bound', () => {
    const bound = [settings, { ...image, metadata: {} }];
    expect(() => checkArtifactsBound([image, settings], bound, () => [])).not.toThrow();
    expect(() => checkArtifactsBound([], [], () => [])).not.toThrow();
  });

  test('names what was not', () => {
    const check = () => checkArtifactsBound([image, settings], [{ ...image, reference: 'other' }], () => []);
    expect(check).toThrow(InvalidInputError);
    expect(check).toThrow(
      /docker\/image 'ghcr.io\/acme\/web' was not bound.*configMap 'settings' in shop was not bound/,
    );
  });
});

test('an image that is not bound is told beside the images that there are, of bounded length', () => {
  const others = (count: number) =>
    Array.from({ length: count }, (_, index) => ({ ...image, reference: `web${index}:1` }));
  const check = (found: readonly Artifact[]) => () => checkArtifactsBound([image], [], () => found);
  expect(check([...others(2), ...others(1), settings])).toThrow(/by that name, but to web0:1, web1:1$/);
  expect(check([settings])).toThrow(/by that name, nor to any docker\/image$/);
  const long = { ...image, reference: 'x'.repeat(1_000) };
  expect(check([long, ...others(21)])).toThrow(/but to x{200}, web0:1, .*web18:1 and 2 more$/);
});

describe('findArtifacts', () => {
  test('lists each reference once', () => {
    expect(findArtifacts(deployment, find('deployment'))).toEqual([
      { type: 'docker/image', name: 'ghcr.io/acme/web', reference: 'ghcr.io/acme/web:1' },
      { type: 'docker/image', name: 'tools', reference: 'tools' },
      { type: 'kubernetes/configMap', name: 'settings', reference: 'settings' },
      { type: 'kubernetes/secret', name: 'tokens', reference: 'tokens' },
    ]);
  });

  test.each([
    ['deployment-stable', 'deployment', ['ghcr.io/acme/cart:1.4']],
    ['cron-job-scheduled', 'cronJob', ['ghcr.io/acme/sweep:1']],
    ['pod-running', 'pod', ['ghcr.io/acme/cart:1.4']],
    ['horizontal-pod-autoscaler-stable', 'hpa', ['cart']],
    ['deployment-stable', 'service', []],
  ])('of %s as a %s', (fixture, kind, references) => {
    const manifest = parse(readFileSync(new URL(`${fixture}.yaml`, directory), 'utf8')) as Manifest;
    expect(findArtifacts(manifest, find(kind)).map(({ reference }) => reference)).toEqual(references);
  });

  test('bears any JSON', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom('spec', 'kind'), fc.jsonValue()), (manifest) => {
        for (const kind of builtInKinds) findArtifacts(manifest as JsonObject, kind);
      }),
    );
  });
});

describe('createDeployedArtifact', () => {
  const manifest = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'flags', namespace: 'shop' } };

  test('of a version refers to its name in the cluster', () => {
    expect(createDeployedArtifact(manifest, 'prod-eu', 3)).toEqual({
      type: 'kubernetes/configMap',
      name: 'flags',
      version: 'v003',
      location: 'shop',
      reference: 'flags-v003',
      metadata: { account: 'prod-eu' },
    });
  });

  test('without a version refers to the name itself', () => {
    const role = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata: { name: 'r' } };
    expect(createDeployedArtifact(role, 'a', undefined)).toEqual({
      type: 'kubernetes/clusterRole',
      name: 'r',
      version: '',
      location: '',
      reference: 'r',
      metadata: { account: 'a' },
    });
  });

  test('without a name refers to nothing', () => {
    const metadata = { generateName: 'smoke-', namespace: 'shop' };
    const manifest = { apiVersion: 'batch/v1', kind: 'Job', metadata };
    const named = { type: 'kubernetes/job', version: '', location: 'shop', metadata: { account: 'a' } };
    expect(createDeployedArtifact(manifest, 'a', undefined)).toEqual(named);
  });

  test('binds in what is deployed after it', () => {
    const flags = createDeployedArtifact(manifest, 'prod', 3);
    const user = freeze({ spec: { template: { spec: { volumes: [{ configMap: { name: 'flags' } }] } } } });
    expect(bind([flags], { manifest: user }).manifest).toEqual(substitute(user, 'flags', 'flags-v003'));
  });
});
