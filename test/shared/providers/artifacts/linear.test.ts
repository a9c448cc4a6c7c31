import { Readable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { parseArtifact } from '#provider-kit/artifact.ts';
import { parseReference } from '#providers/artifacts/download/account-downloader.ts';
import { parsePathPart, pathPartLengthMax } from '#providers/artifacts/download/account-server.ts';
import { isShallowJson } from '#providers/artifacts/download/json-depth.ts';
import { assertAddressesAllowed, assertUrlAllowed } from '#providers/artifacts/download/url-guard.ts';
import { parseUrlRestrictions } from '#providers/artifacts/download/url-restrictions.ts';
import { openEmbeddedSources } from '#providers/artifacts/embedded.ts';
import { findNewestVersion } from '#providers/artifacts/helm/chart-versions.ts';
import { readChartVersions } from '#providers/artifacts/helm/helm-index.ts';
import { artifactsPlugin } from '#providers/artifacts/index.ts';
import { coordinateLengthMax } from '#providers/artifacts/maven/coordinates.ts';
import { parseIvyReference } from '#providers/artifacts/maven/ivy-files.ts';
import { assertIvyPattern, ivyPatternLengthMax } from '#providers/artifacts/maven/ivy-patterns.ts';
import { parseMavenReference } from '#providers/artifacts/maven/maven-files.ts';
import { parseVersion, parseVersionConstraint } from '#providers/artifacts/maven/maven-versions.ts';
import { readXml } from '#providers/artifacts/maven/xml.ts';
import { createTestOptions, neverAborted } from './options.ts';

const megabyte = 2 ** 20;
const restrictions = parseUrlRestrictions({}, 'a');
const { artifacts } = artifactsPlugin.open(
  createTestOptions({
    artifacts: { http: { enabled: true }, github: { enabled: true, accounts: [{ name: 'gh' }] } },
  }),
);

/** Texts on which patterns that are not linear take hours. */
const worst: readonly (readonly [what: string, text: string])[] = [
  ['dots before a letter', `${'.'.repeat(megabyte)}x`],
  ['a host of dots', `http://${'.'.repeat(megabyte)}x/`],
  ['a host of labels', `http://${'a.'.repeat(megabyte / 2)}x/`],
  ['excluded domains', `http://${'.spinnaker'.repeat(megabyte / 10)}x/`],
  ['brackets', `http://[${']'.repeat(megabyte)}/`],
  ['percent signs and a line break', `${'%'.repeat(megabyte)}\n`],
  ['user names', `http://${'a@'.repeat(megabyte / 2)}x/`],
  ['slashes', `http://a.example.com${'/'.repeat(megabyte)}x`],
  ['paths of repositories', `https://api.github.com${'/repos/'.repeat(megabyte / 7)}x`],
  ['steps up', `http://a.example.com/${'a/../'.repeat(megabyte / 5)}`],
  ['base 64 that ends in a blank', `${'A'.repeat(megabyte)} `],
  ['padding', `${'='.repeat(megabyte)}A`],
  ['quotes', `${'"'.repeat(megabyte)}x`],
  ['escapes', `"${'\\'.repeat(megabyte)}`],
  ['objects', '{"a":'.repeat(megabyte / 5)],
  ['colons', `${':'.repeat(megabyte)} `],
  ['ranges', '[('.repeat(megabyte / 2)],
  ['tags', '<a '.repeat(megabyte / 3)],
  ['blanks', `${' '.repeat(megabyte)}x${' '.repeat(megabyte)}x`],
];

/** Every function that is handed text from outside. What it answers or throws is another test's. */
const readers: readonly (readonly [name: string, read: (text: string) => unknown])[] = [
  ['parseArtifact', (text) => parseArtifact({ name: text, type: text, metadata: { [text]: text } })],
  ['parseReference', (reference) => parseReference({ reference })],
  ['parsePathPart', (text) => parsePathPart(text.slice(0, pathPartLengthMax), 'name')],
  ['findNewestVersion', (text) => findNewestVersion([text.slice(0, 256), text, '1.0.0'])],
  [
    'readChartVersions',
    (text) => readChartVersions(Readable.from([Buffer.from(`entries:\n  ${text}`)]), 'host', 'web'),
  ],
  [
    'readChartVersions of a version',
    (text) =>
      readChartVersions(Readable.from([Buffer.from(`entries:\n  web:\n  - urls: ${text}`)]), 'h', 'web'),
  ],
  ['parseMavenReference', (reference) => parseMavenReference({ reference: `a:b:${reference}` })],
  ['parseIvyReference', (reference) => parseIvyReference({ reference })],
  ['assertIvyPattern', (text) => assertIvyPattern(text.slice(0, ivyPatternLengthMax), 'a')],
  ['parseVersion', (text) => parseVersion(text.slice(0, coordinateLengthMax))],
  ['parseVersionConstraint', (text) => parseVersionConstraint(`[${text}`)],
  ['readXml', (text) => readXml(Readable.from([Buffer.from(`<a b="${text}">${text}`)]), 'host')],
  ['assertUrlAllowed', (text) => assertUrlAllowed(new URL(text), restrictions)],
  ['assertAddressesAllowed', (text) => assertAddressesAllowed(text, ['93.184.216.34'], restrictions)],
  ['isShallowJson', (text) => isShallowJson(Buffer.from(text), 64)],
  [
    'an embedded artifact',
    (reference) =>
      openEmbeddedSources().sources[0]?.fetch({ type: 'embedded/base64', reference }, neverAborted()),
  ],
  ...['http/file', 'github/file'].map(
    (type) =>
      [
        type,
        (reference: string) => {
          const artifactAccount = type === 'http/file' ? 'no-auth-http-account' : 'gh';
          return artifacts?.fetch({ type, artifactAccount, reference }, AbortSignal.abort());
        },
      ] as const,
  ),
  [
    'an account that there is not',
    (text) => artifacts?.fetch({ type: text, artifactAccount: text }, neverAborted()),
  ],
];

describe.each(readers)('%s reads a megabyte in time', (_, read) => {
  test.each(worst)('of %s', async (_what, text) => {
    const used = process.threadCpuUsage();
    await Promise.resolve()
      .then(() => read(text))
      .catch(() => {});
    // Seconds for what takes milliseconds: only what grows with the square is to be caught.
    expect(process.threadCpuUsage(used).user / 1_000).toBeLessThan(2_000);
  });
});
