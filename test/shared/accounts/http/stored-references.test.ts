import { describe, expect, test } from 'vitest';
import { createRights } from '#access/authorization.ts';
import { expandStored } from '#accounts/http/stored-references.ts';
import type { ArtifactStore } from '#artifact-store/artifact-store.ts';
import { formatStoredReference, storedReferencesMax } from '#artifact-store/artifact-store.ts';
import { findStoredPlaces } from '#artifact-store/stored-places.ts';
import { InvalidInputError, NotFoundError, TooLargeError } from '#core/errors.ts';
import type { JsonObject, JsonValue } from '#core/json.ts';

/** What of the store was opened, and what stands there. */
function createStore(contents: { readonly [reference: string]: string }) {
  const opened: string[] = [];
  const store: ArtifactStore = {
    async open(reference) {
      const text = formatStoredReference(reference);
      opened.push(text);
      const content = contents[text];
      if (content === undefined) throw new NotFoundError(`There is no ${text}`);
      return toPieces(content);
    },
  };
  return { store, opened };
}

async function* toPieces(content: string) {
  const bytes = Buffer.from(content);
  yield bytes.subarray(0, 1);
  yield bytes.subarray(1);
}

/** The rights of somebody who may read the application `shop`, and none else. */
const rights = createRights({
  ...{ findAccount: () => undefined, allowedAccounts: undefined, areReadsChecked: true },
  permission: {
    ...{ user: 'ada', isAdmin: false, isAccountManager: false, roles: new Set() },
    ...{ accounts: new Map(), applications: new Map([['shop', new Set(['READ'] as const)]]) },
    allowAccessToUnknownApplications: false,
  },
});

async function expand(body: JsonValue, contents: { readonly [reference: string]: string } = {}) {
  const { store, opened } = createStore(contents);
  await expandStored([...findStoredPlaces(body)], {
    ...{ openStore: () => store, rights, signal: new AbortController().signal },
    bodyBytes: Buffer.byteLength(JSON.stringify(body)),
  });
  return { body, opened };
}

const manifest = (reference: string): JsonObject => ({ type: 'remote/map/base64', reference });
const artifact = (reference: string): JsonObject => ({ type: 'remote/base64', name: 'file', reference });
const deploy = (description: JsonObject): JsonValue => [{ deployManifest: description }];

describe('references to the artifact store', () => {
  test('become manifests and contents of artifacts, and each is read once', async () => {
    const manifests = [manifest('ref://shop/a'), manifest('ref://shop/a'), { kind: 'Pod' }];
    const body = [
      { deployManifest: { manifests } },
      { runJob: { manifest: manifest('ref://shop/b'), requiredArtifacts: [artifact('ref://shop/c')] } },
    ];
    const large = '{"n":9007199254740993}';
    const contents = { 'ref://shop/a': large, 'ref://shop/b': '{}', 'ref://shop/c': 'text' };

    const expanded = await expand(body, contents);

    const read = [{ n: 9007199254740993n }, { n: 9007199254740993n }, { kind: 'Pod' }];
    expect(expanded.body).toEqual([
      { deployManifest: { manifests: read } },
      { runJob: { manifest: {}, requiredArtifacts: [artifact('dGV4dA==')] } },
    ]);
    expect(expanded.opened.toSorted()).toEqual(['ref://shop/a', 'ref://shop/b', 'ref://shop/c']);
  });

  test('within a manifest, and of another type, are left alone', async () => {
    const body = deploy({
      manifests: [
        { kind: 'Pipeline', spec: { manifests: [manifest('ref://shop/a')] } },
        artifact('ref://shop/a'),
      ],
      requiredArtifacts: [{ type: 'embedded/base64', reference: 'ref://shop/a' }, artifact('dGV4dA==')],
    });

    const expanded = await expand(structuredClone(body));

    expect(expanded.body).toEqual(body);
    expect(expanded.opened).toEqual([]);
  });

  test('of an application that the caller may not read are refused before any is read', async () => {
    const body = deploy({ manifests: [manifest('ref://shop/a'), manifest('ref://bank/a')] });
    const { store, opened } = createStore({});
    const expanding = expandStored([...findStoredPlaces(body)], {
      ...{ openStore: () => store, rights, signal: new AbortController().signal, bodyBytes: 0 },
    });

    const denied = 'Access denied to application bank - required authorization: READ';
    await expect(expanding).rejects.toThrow(denied);
    expect(opened).toEqual([]);
  });

  test.each([
    ...['ref://shop', 'ref://shop/a/b', 'ref://shop/', 'ref:///a', 'ref://../a', 'ref://shop/a%2f'],
    ...['ref://s p/a'],
  ])('of the form %s are refused by place', async (reference) => {
    const expanding = expand(deploy({ manifests: [{}, manifest(reference)] }));
    await expect(expanding).rejects.toThrow(/^\[0\]\.deployManifest\.manifests\[1\]: /);
  });

  test('to what is not there are mistakes of the request', async () => {
    await expect(expand(deploy({ manifest: manifest('ref://shop/a') }))).rejects.toThrow(InvalidInputError);
  });

  test.each([
    ['no JSON', '{"password": "planted"'],
    ['a list', '["planted"]'],
    ['nested too deep', `{"a":${'['.repeat(600)}${']'.repeat(600)}}`],
  ])('to a manifest that is %s are refused, and it is not quoted', async (_what, content) => {
    const expanding = expand(deploy({ manifest: manifest('ref://shop/a') }), { 'ref://shop/a': content });
    const refusal = /^\[0\]\.deployManifest\.manifest: what stands .* is no manifest/;
    await expect(expanding).rejects.toThrow(refusal);
    await expect(expanding).rejects.not.toThrow('planted');
  });

  test('may stand for as much as a request may hold, each place counted', async () => {
    const content = JSON.stringify({ text: 'x'.repeat(2_000_000) });
    const contents = { 'ref://shop/a': content, 'ref://shop/b': content };
    const three = [manifest('ref://shop/a'), manifest('ref://shop/a'), manifest('ref://shop/b')];
    const four = [...three, manifest('ref://shop/b')];

    await expand(deploy({ manifests: three }), contents);
    await expect(expand(deploy({ manifests: four }), contents)).rejects.toThrow(TooLargeError);
    const large = { 'ref://shop/a': 'x'.repeat(7_000_000) };
    const one = deploy({ manifest: manifest('ref://shop/a') });
    await expect(expand(one, large)).rejects.toThrow(TooLargeError);
  });

  test('are not read to their end when they are too large', async () => {
    async function* repeat() {
      for (;;) yield Buffer.alloc(2 ** 20);
    }
    const store: ArtifactStore = { open: async () => repeat() };
    const body = deploy({ manifest: manifest('ref://shop/a') });
    const expanding = expandStored([...findStoredPlaces(body)], {
      ...{ openStore: () => store, rights, signal: new AbortController().signal, bodyBytes: 0 },
    });
    await expect(expanding).rejects.toThrow(TooLargeError);
  });

  test('are so many at most', async () => {
    const manifests = Array.from({ length: storedReferencesMax + 1 }, (_, index) =>
      manifest(`ref://shop/a${index}`),
    );
    await expect(expand(deploy({ manifests }))).rejects.toThrow(`at most ${storedReferencesMax}`);
  });
});
