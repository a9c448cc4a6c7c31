import { generateKeyPairSync } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { parseArtifact } from '#provider-kit/artifact.ts';
import { artifactsPlugin } from '#providers/artifacts/index.ts';
import { createTestHost } from '#test/support/services/test-host.ts';
import { createTestOptions } from './options.ts';

const page = await readFile(join(import.meta.dirname, '../../../../docs/artifacts.md'), 'utf8');

/** The sections that show an account, and artifacts of it. */
const examples = page.split(/^## /m).flatMap((section) => {
  const [settings] = findBlocks(section, 'yaml');
  if (settings === undefined || !settings.startsWith('artifacts:')) return [];
  return [{ title: section.split('\n', 1)[0], settings, artifacts: findBlocks(section, 'json') }];
});

function findBlocks(text: string, language: string): readonly string[] {
  return [...text.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, 'gm'))].map(
    ([, block = '']) => block,
  );
}

const privateKey = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
const privateKeyPem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
const encryptedPem = privateKey
  .export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'word' })
  .toString();

/** Values of the variables that hold more than a word. */
const variables = new Map([
  ['OCI_KEY', encryptedPem.replaceAll('\n', '\\n')],
  ['OCI_KEY_PASSPHRASE', 'word'],
  ['GCS_KEY', JSON.stringify({ client_email: 'reader@example.com', private_key: privateKeyPem })],
]);

/** The spelling of a kind in `knownSettings`: `helmOci` for `helm-oci`. */
function toKnownKind(kind: string): string {
  return kind.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/** Opens the settings of an example, with values for its variables. */
function openExample(settings: string) {
  const parsed = parse(settings.replaceAll(/\$\{(\w+)\}/g, (_, name) => variables.get(name) ?? 'value'));
  return artifactsPlugin.open(createTestOptions(parsed, { services: createTestHost() }));
}

describe.each(examples)("the page's example of $title", ({ settings, artifacts }) => {
  test('opens, and its artifacts find their account', async () => {
    await using provider = openExample(settings);
    expect(provider.rejectedAccounts).toEqual([]);
    expect(artifacts).not.toEqual([]);
    for (const text of artifacts) {
      const artifact = parseArtifact(JSON.parse(text));
      // Its account, its reference and its origin are looked at, and nothing is sent.
      await expect(provider.artifacts?.fetch(artifact, AbortSignal.abort())).rejects.toThrow(
        'This operation was aborted',
      );
    }
  });

  test('has no key that nobody knows', () => {
    const known = artifactsPlugin.knownSettings?.join('\n') ?? '';
    for (const [kind, { accounts }] of Object.entries<{ accounts: object[] }>(parse(settings).artifacts)) {
      const keys = accounts.flatMap((account) => Object.keys(account));
      for (const key of keys) {
        expect(known).toContain(`artifacts.${toKnownKind(kind)}.accounts.*.${key}`);
      }
    }
  });
});

test('each kind of account has an example', () => {
  const kinds = (artifactsPlugin.knownSettings ?? []).flatMap(
    (path) => /^artifacts\.(\w+)\.enabled$/.exec(path)?.[1] ?? [],
  );
  const shown = examples.flatMap(({ settings }) => Object.keys(parse(settings).artifacts).map(toKnownKind));
  expect(new Set(shown)).toEqual(new Set(kinds));
});
