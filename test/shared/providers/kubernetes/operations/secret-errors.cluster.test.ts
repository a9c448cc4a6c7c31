import { afterAll, expect, test } from 'vitest';
import { FailedOperationError } from '#core/errors.ts';
import type { JsonObject } from '#core/json.ts';
import { createNamespace, describeWithCluster, requestApi } from '#test/support/cluster/cluster.ts';
import { getFailure } from '#test/support/run/failure.ts';
import { createLive, findLive, getPathOf } from '../live.ts';
import { createSecret } from '../manifests.ts';
import { getOperation, openProvider } from '../provider-setup.ts';
import { emptyRecord, runOperation } from './task-run.ts';

const live = 'planted-live-0815';
const sent = 'planted-sent-4711';
const numeric = 47_114_711;
/** Each planted text, plain and encoded: none may be seen. */
const planted = [live, sent]
  .flatMap((text) => [text, Buffer.from(text).toString('base64')])
  .concat(String(numeric));

const rest = 'what the API server says is left out, since it may quote values of the Secret';

describeWithCluster('what the API server says about a Secret', (cluster) => {
  const provider = openProvider([{ name: 'test', kubeconfigFile: cluster.kubeconfig }]);
  afterAll(() => provider[Symbol.asyncDispose]());

  /** Runs an operation that must fail, and answers its words. */
  async function fail(name: string, description: JsonObject): Promise<string> {
    const record = emptyRecord();
    const running = runOperation(
      getOperation(provider, name),
      { account: 'test', ...description },
      { record },
    );
    const error = await getFailure(running);
    expect(error).toBeInstanceOf(FailedOperationError);
    const { message, cause } = error as Error;
    const seen = JSON.stringify([message, String(cause), cause, record]);
    expect(planted.filter((text) => seen.includes(text))).toEqual([]);
    return message;
  }

  test.each<[string, 'strategic' | 'merge' | 'json', JsonObject | JsonObject[], string]>([
    [
      'bad base64',
      'strategic',
      { data: { text: `${sent}!` } },
      'is invalid: illegal base64 data at input byte 7',
    ],
    ['a text for a map', 'strategic', { data: sent }, 'is invalid: cannot restore map from string'],
    ['a number', 'strategic', { data: { text: numeric } }, 'is invalid: cannot restore slice from int64'],
    [
      'a number as text',
      'strategic',
      { stringData: { text: numeric } },
      'is invalid: cannot convert int64 to string',
    ],
    ['a directive', 'strategic', { data: { $patch: sent } }, 'was refused (HTTP 500): unknown patch type'],
    ['no base64', 'merge', { data: { text: `${sent}!` } }, 'is invalid: illegal base64 data at input byte 7'],
    [
      'a text for a map',
      'merge',
      { data: sent },
      'is invalid: cannot unmarshal string into Go struct field Secret.data of type map[string][]uint8',
    ],
    [
      'a label',
      'merge',
      { metadata: { labels: { a: `${sent} x` } } },
      'is invalid: metadata.labels: Invalid value',
    ],
    ['another type', 'merge', { type: sent }, 'is invalid: type: Invalid value: field is immutable'],
    [
      'bad base64',
      'json',
      [{ op: 'replace', path: '/data/text', value: `${sent}!` }],
      'Secret "keys" is invalid: illegal base64 data at input byte 7',
    ],
    ['a text for a map', 'json', [{ op: 'replace', path: '/data', value: sent }], 'cannot unmarshal string'],
    [
      'a text beside the values',
      'json',
      [{ op: 'add', path: '/immutable', value: sent }],
      'Secret.immutable of type bool',
    ],
    ['a key that is away', 'json', [{ op: 'replace', path: '/data/x/y', value: sent }], 'does not fit it'],
  ])('a patch with %s (%s)', async (...patched) => {
    const [, mergeStrategy, patchBody, words] = patched;
    await using ns = await createNamespace();
    await createLive(ns.name, 'secrets', createSecret('keys', live));
    const message = await fail('patchManifest', {
      manifestName: 'secret keys',
      location: ns.name,
      patchBody,
      options: { mergeStrategy },
    });
    expect(message).toMatch(`Patching secret keys in namespace ${ns.name} failed: `);
    expect(message).toContain(words);
    expect(await findLive(ns.name, 'secrets/keys')).toHaveProperty('data', createSecret('', live)['data']);
  });

  const strategies = {
    apply: {},
    'server-side': { 'strategy.spinnaker.io/server-side-apply': 'force-conflicts' },
    replace: { 'strategy.spinnaker.io/replace': 'true' },
    recreate: { 'strategy.spinnaker.io/recreate': 'true' },
  };

  test.each(
    Object.keys(strategies).flatMap((strategy) => [
      [strategy, 'new', { data: { text: `${sent}!` } }],
      [strategy, 'new', { data: sent }],
      [strategy, 'new', { stringData: { text: numeric } }],
      [strategy, 'live', { data: { text: `${sent}!` } }],
      [strategy, 'live', { data: { text: numeric } }],
      [strategy, 'live', { data: sent }],
      [strategy, 'live', { type: 'kubernetes.io/tls', stringData: { 'tls.key': sent } }],
    ]) as [keyof typeof strategies, string, JsonObject][],
  )('a deploy by %s of a Secret that is %s: %j', async (strategy, state, change) => {
    await using ns = await createNamespace();
    if (state === 'live') await createLive(ns.name, 'secrets', createSecret('keys', live));
    const secret = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'keys', namespace: ns.name, annotations: strategies[strategy] },
      ...change,
    };
    const message = await fail('deployManifest', {
      moniker: { app: 'shop' },
      versioned: false,
      manifests: [secret],
    });
    expect(message).toMatch(
      new RegExp(`^Deploying secret keys in namespace ${ns.name} failed: Secret "keys" (is|was)`),
    );
    expect(message).not.toContain(rest);
  });

  test('who owns what a server-side apply wants', async () => {
    await using ns = await createNamespace();
    await requestApi(
      'POST',
      `${getPathOf(ns.name, 'secrets')}?fieldManager=vault-agent`,
      createSecret('keys', live),
    );
    const message = await fail('deployManifest', {
      moniker: { app: 'shop' },
      versioned: false,
      manifests: [
        createSecret('keys', sent, {
          namespace: ns.name,
          annotations: { 'strategy.spinnaker.io/server-side-apply': 'true' },
        }),
      ],
    });
    expect(message).toContain(
      'Apply failed with 1 conflict: conflict with "vault-agent" using v1: .data.text',
    );
  });

  test('the key that is bad, what is missing, and what must not change', async () => {
    await using ns = await createNamespace();
    const deploy = (more: JsonObject) =>
      fail('deployManifest', {
        moniker: { app: 'shop' },
        versioned: false,
        manifests: [
          { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'keys', namespace: ns.name }, ...more },
        ],
      });
    expect(await deploy({ stringData: { 'bad key': sent } })).toContain(
      "data[bad key]: Invalid value: a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
    );
    expect(await deploy({ type: 'kubernetes.io/tls', stringData: { 'tls.crt': sent } })).toContain(
      'data[tls.key]: Required value',
    );
    const immutable = { ...createSecret('keys', live), immutable: true };
    await createLive(ns.name, 'secrets', immutable);
    expect(await deploy({ stringData: { text: sent } })).toContain(
      'data: Forbidden: field is immutable when `immutable` is set',
    );
  });
});
