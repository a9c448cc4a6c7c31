import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import packageJson from '#package.json' with { type: 'json' };

const root = path.join(import.meta.dirname, '../../..');
const version = packageJson.version.replaceAll('.', '\\.');

test.each([
  ['infra/kubernetes/manifests/kustomization.yaml', `newTag: ${version}$`],
  ['infra/kubernetes/one-replica/kustomization.yaml', `newTag: ${version}$`],
  ['package-lock.json', `^  "version": "${version}",$`],
  ['CHANGELOG.md', `^## ${version} `],
])('%s has the version of package.json', async (file, pattern) => {
  expect(await readFile(path.join(root, file), 'utf8')).toMatch(new RegExp(pattern, 'm'));
});
