import { describe, expect, test } from 'vitest';
import { FailedOperationError, InvalidInputError, NotFoundError } from '#core/errors.ts';
import type { JsonObject } from '#core/json.ts';
import { openMavenSources } from '#providers/artifacts/maven/maven.ts';
import { getFailure } from '#test/support/run/failure.ts';
import { createLocalOptions, fetchText } from '../options.ts';
import { startOrigin } from '../origin.ts';

function fetchFile(account: JsonObject, reference: string): Promise<string> {
  const options = createLocalOptions('maven', { accounts: [{ name: 'releases', ...account }] });
  return fetchText(openMavenSources(options), { type: 'maven/file', reference });
}

/** What Nexus wrote of an artifact. */
const ofArtifact = `<?xml version="1.0" encoding="UTF-8"?>
<metadata modelVersion="1.1.0">
  <groupId>com.acme.web</groupId>
  <artifactId>shop</artifactId>
  <versioning>
    <latest>2.0-SNAPSHOT</latest>
    <release>1.10</release>
    <versions>
      <version>1.0</version>
      <version>1.9</version>
      <version>1.10</version>
      <version>2.0-SNAPSHOT</version>
      <version>9/../../planted</version>
    </versions>
    <lastUpdated>20261101120000</lastUpdated>
  </versioning>
</metadata>`;

/** And of a snapshot of it. */
const ofSnapshot = `<metadata modelVersion="1.1.0">
  <versioning>
    <snapshot><timestamp>20261101.120000</timestamp><buildNumber>7</buildNumber></snapshot>
    <snapshotVersions>
      <snapshotVersion>
        <extension>pom</extension><value>2.0-20261101.120000-6</value>
      </snapshotVersion>
      <snapshotVersion>
        <extension>jar</extension><value>2.0-20261101.120000-7</value>
      </snapshotVersion>
      <snapshotVersion>
        <classifier>sources</classifier><extension>jar</extension><value>2.0-20261030.080000-5</value>
      </snapshotVersion>
      <snapshotVersion>
        <classifier>evil</classifier><extension>jar</extension><value>../../planted</value>
      </snapshotVersion>
    </snapshotVersions>
  </versioning>
</metadata>`;

const folder = '/repository/com/acme/web/shop';

/** Answers each file with its path. */
function startRepository() {
  return startOrigin((request, response) => {
    const path = request.url ?? '';
    if (path === `${folder}/maven-metadata.xml`) response.end(ofArtifact);
    else if (path === `${folder}/2.0-SNAPSHOT/maven-metadata.xml`) response.end(ofSnapshot);
    else if (path.endsWith('.xml')) response.writeHead(404).end();
    else response.end(`file ${path}`);
  });
}

describe('fetching maven/file', () => {
  test.each([
    ['com.acme.web:shop:1.0', '/1.0/shop-1.0.jar'],
    ['com.acme.web:shop::1.0', '/1.0/shop-1.0.jar'],
    ['com.acme.web:shop:war:1.0', '/1.0/shop-1.0.war'],
    ['com.acme.web:shop:yml:manifest:1.0', '/1.0/shop-1.0-manifest.yml'],
    ['com.acme.web:shop::manifest:1.0', '/1.0/shop-1.0-manifest.jar'],
    ['com.acme.web:shop:[1.0,2.0-a1)', '/1.10/shop-1.10.jar'],
    ['com.acme.web:shop:[1.0,1.10)', '/1.9/shop-1.9.jar'],
    ['com.acme.web:shop:RELEASE', '/1.10/shop-1.10.jar'],
    ['com.acme.web:shop:latest.release', '/1.10/shop-1.10.jar'],
    ['com.acme.web:shop:LATEST', '/2.0-SNAPSHOT/shop-2.0-20261101.120000-7.jar'],
    ['com.acme.web:shop:SNAPSHOT', '/2.0-SNAPSHOT/shop-2.0-20261101.120000-7.jar'],
    ['com.acme.web:shop:latest.integration', '/2.0-SNAPSHOT/shop-2.0-20261101.120000-7.jar'],
    ['com.acme.web:shop:2.0-SNAPSHOT', '/2.0-SNAPSHOT/shop-2.0-20261101.120000-7.jar'],
    ['com.acme.web:shop:[1.0,)', '/2.0-SNAPSHOT/shop-2.0-20261101.120000-7.jar'],
    ['com.acme.web:shop:pom:2.0-SNAPSHOT', '/2.0-SNAPSHOT/shop-2.0-20261101.120000-6.pom'],
    ['com.acme.web:shop:jar:sources:2.0-SNAPSHOT', '/2.0-SNAPSHOT/shop-2.0-20261030.080000-5-sources.jar'],
    ['com.acme.web:shop:txt:sources:2.0-SNAPSHOT', '/2.0-SNAPSHOT/shop-2.0-20261030.080000-5-sources.txt'],
  ])('%s reads …%s', async (reference, path) => {
    await using origin = await startRepository();
    for (const repositoryUrl of [`${origin.url}/repository`, `${origin.url}/repository/`]) {
      const account = { repositoryUrl, username: 'ann', password: 'p' };
      expect(await fetchFile(account, reference)).toBe(`file ${folder}${path}`);
    }
    const sent = new Set(origin.requests.map(({ headers }) => headers.authorization));
    expect(sent).toEqual(new Set([`Basic ${btoa('ann:p')}`]));
  });

  test.each([
    ...['com.acme.web:shop:1.1', 'com.acme.web:shop:..', 'com.acme.web:shop:[3.0,)'],
    ...['com.acme.web:shop:jar:evil:2.0-SNAPSHOT', 'com.acme.web:shop:jar:tests:2.0-SNAPSHOT'],
    ...['com.acme.web:shop:3.0-SNAPSHOT', 'com.acme.web:other:1.0'],
  ])('%s is not found', async (reference) => {
    await using origin = await startRepository();
    const account = { repositoryUrl: `${origin.url}/repository` };
    const failure = await getFailure(fetchFile(account, reference));
    expect(failure).toBeInstanceOf(NotFoundError);
    expect(String(failure)).not.toContain('planted');
    expect(origin.requests.every(({ url }) => url?.endsWith('/maven-metadata.xml'))).toBe(true);
  });

  test.each([
    ...['shop', 'com.acme:shop', 'com.acme:shop:', 'com.acme::1.0', ':shop:1.0', 'com.acme:shop:jar::1.0'],
    ...['com.acme:shop:jar:x:y:1.0', 'com..acme:shop:1.0', 'com.acme:..:1.0', 'com/../planted:shop:1.0'],
    ...['com.acme:shop:jar:a/../../planted:1.0', 'com.acme:shop?planted:1.0', 'com.acme:shop:[1.0,2.0'],
    ...['com.acme:shop:[2.0,1.0]', 'com.acme:shop:1.0 planted', `com.acme:${'x'.repeat(257)}:1.0`],
  ])('refuses %s, and says what it expects', async (reference) => {
    await using origin = await startRepository();
    const failure = await getFailure(fetchFile({ repositoryUrl: origin.url }, reference));
    expect(failure).toBeInstanceOf(InvalidInputError);
    expect(String(failure)).toContain('expected group:artifact[:extension[:classifier]]:version');
    expect(String(failure)).not.toContain('planted');
    expect(origin.connections).toBe(0);
  });

  test.each(['<html>', '', '<metadata/>', '<metadata><versioning/></metadata>', '{}'])(
    'finds nothing where the metadata are %j',
    async (text) => {
      await using origin = await startOrigin((_, response) => response.end(text));
      for (const version of ['RELEASE', 'LATEST', '1.0', '[1,2]', '1.0-SNAPSHOT']) {
        const failure = await getFailure(fetchFile({ repositoryUrl: origin.url }, `a:b:${version}`));
        expect([NotFoundError, FailedOperationError]).toContain((failure as Error).constructor);
      }
      expect(origin.requests.every(({ url }) => url?.endsWith('/maven-metadata.xml'))).toBe(true);
    },
  );

  test('reads the metadata of a latest version that names itself no further', async () => {
    const text = '<metadata><versioning><latest>LATEST</latest></versioning></metadata>';
    await using origin = await startOrigin((request, response) => {
      response.end(request.url?.endsWith('.xml') ? text : 'file');
    });
    expect(await fetchFile({ repositoryUrl: origin.url }, 'a:b:LATEST')).toBe('file');
    expect(origin.requests.map(({ url }) => url)).toEqual([
      '/a/b/maven-metadata.xml',
      '/a/b/LATEST/b-LATEST.jar',
    ]);
  });
});
