import { describe, expect, test } from 'vitest';
import { FailedOperationError, InvalidInputError, NotFoundError } from '#core/errors.ts';
import type { JsonObject } from '#core/json.ts';
import { openIvySources } from '#providers/artifacts/maven/ivy.ts';
import { ivyPatternLengthMax } from '#providers/artifacts/maven/ivy-patterns.ts';
import { ivyPatternsMax } from '#providers/artifacts/maven/ivy-settings.ts';
import { getFailure } from '#test/support/run/failure.ts';
import { createLocalOptions, fetchText } from '../options.ts';
import { startOrigin } from '../origin.ts';

function open(account: JsonObject) {
  return openIvySources(createLocalOptions('ivy', { accounts: [{ name: 'modules', ...account }] }));
}

function fetchFile(account: JsonObject, reference = 'com.test:app:1.0'): Promise<string> {
  const opened = open(account);
  expect(opened.rejectedAccounts).toEqual([]);
  return fetchText(opened, { type: 'ivy/file', reference });
}

/** Serves files by their paths; anything else is missing. */
function startRepository(files: Readonly<Record<string, string>>) {
  const known = new Map(Object.entries(files));
  return startOrigin((request, response) => {
    const text = known.get(request.url ?? '');
    response.writeHead(text === undefined ? 404 : 200).end(text);
  });
}

/** A resolver of kind `url` at an origin, as Artifactory generates it. */
function urlResolver(origin: string, members: JsonObject = {}): JsonObject {
  const folder = `${origin}/[orgPath]/[module]/[revision]`;
  return {
    name: 'main',
    ivy: [{ pattern: `${folder}/[module]-[revision].xml` }],
    artifact: [{ pattern: `${folder}/[artifact]-[revision](-[classifier]).[ext]` }],
    ...members,
  };
}

function describeModule(publications: string): string {
  return `<?xml version="1.0" encoding="UTF-8"?>
    <ivy-module version="2.0"><info organisation="com.test" module="app" revision="1.0"/>
    <configurations><conf name="master"/></configurations>${publications}</ivy-module>`;
}

const folder = '/com/test/app/1.0';

describe('a file of the resolver url', () => {
  test.each([
    ['<publications><artifact/></publications>', 'app-1.0.jar'],
    ['', 'app-1.0.jar'],
    ['<publications><artifact type="war"/></publications>', 'app-1.0.war'],
    ['<publications><artifact name="api" type="manifest" ext="yml"/></publications>', 'api-1.0.yml'],
    [
      '<publications><artifact name="docs" conf="javadoc"/><artifact ext="zip" conf="test, master"/></publications>',
      'app-1.0.zip',
    ],
    [
      '<publications defaultconf="test"><artifact/><artifact ext="tgz"><conf name="master"/></artifact></publications>',
      'app-1.0.tgz',
    ],
    ['<publications><artifact ext="a" conf="*"/><artifact ext="b"/></publications>', 'app-1.0.a'],
  ])('is the first that the descriptor publishes: %s', async (publications, name) => {
    const descriptor = { [`${folder}/app-1.0.xml`]: describeModule(publications) };
    await using origin = await startRepository({ ...descriptor, [`${folder}/${name}`]: 'content' });
    const settings = { resolvers: { url: [urlResolver(origin.url)] } };
    expect(await fetchFile({ settings })).toBe('content');
    expect(origin.requests.map(({ url }) => url)).toEqual([`${folder}/app-1.0.xml`, `${folder}/${name}`]);
  });

  test.each([
    '<publications/>',
    '<publications><artifact conf="test"/></publications>',
    '<publications><artifact ext="../../planted"/></publications>',
    '<publications><artifact name=".."/></publications>',
  ])('is not there where the descriptor publishes %s', async (publications) => {
    await using origin = await startRepository({ [`${folder}/app-1.0.xml`]: describeModule(publications) });
    const settings = { resolvers: { url: [urlResolver(origin.url)] } };
    await expect(fetchFile({ settings })).rejects.toThrow(NotFoundError);
    expect(origin.requests).toHaveLength(1);
  });

  test('is that of the configurations that the account names', async () => {
    const text = describeModule(
      '<publications><artifact conf="master"/><artifact ext="yml" conf="k8s"/></publications>',
    );
    const files = { [`${folder}/app-1.0.xml`]: text, [`${folder}/app-1.0.yml`]: 'kind: Pod' };
    await using origin = await startRepository(files);
    const settings = { resolvers: { url: [urlResolver(origin.url)] } };
    expect(await fetchFile({ settings, resolveConfigurations: ['k8s'] })).toBe('kind: Pod');
  });

  test('is the jar where there is no descriptor, at the first pattern that has it', async () => {
    await using origin = await startRepository({ '/b/com.test/app-1.0.jar': 'content' });
    const artifact = ['a', 'b', 'c'].map((place) => ({
      pattern: `${origin.url}/${place}/[organisation]/[artifact]-[revision](-[branch]).[type]`,
    }));
    const settings = { resolvers: { url: [urlResolver(origin.url, { ivy: null, artifact })] } };
    expect(await fetchFile({ settings })).toBe('content');
    expect(origin.requests).toHaveLength(2);
  });

  test('has folders for its organisation where the resolver is as those of Maven', async () => {
    await using origin = await startRepository({ '/com/test/app.jar': 'content' });
    const artifact = [{ pattern: `${origin.url}/[organisation]/[module].[ext]` }];
    const url = [{ m2compatible: 'true', artifact }];
    expect(await fetchFile({ settings: { resolvers: { url } } })).toBe('content');
  });

  test('fails at once where a descriptor cannot be read, or a server fails', async () => {
    await using origin = await startRepository({ [`${folder}/app-1.0.xml`]: '<planted' });
    const settings = { resolvers: { chain: [{ url: [urlResolver(origin.url), urlResolver(origin.url)] }] } };
    await expect(fetchFile({ settings })).rejects.toThrow(FailedOperationError);
    expect(origin.requests).toHaveLength(1);
  });
});

describe('a file of the resolver ibiblio', () => {
  test.each([
    ['', ['app-1.0.jar']],
    ['<packaging>jar</packaging>', ['app-1.0.jar']],
    ['<packaging>pom</packaging>', ['app-1.0.jar']],
    ['<packaging>bundle</packaging>', ['app-1.0.bundle', 'app-1.0.jar']],
    ['<packaging>../planted</packaging>', ['app-1.0.jar']],
  ])('is the jar where the POM has %s', async (packaging, asked) => {
    const pom = `<project xmlns="http://maven.apache.org/POM/4.0.0"><version>1.0</version>${packaging}</project>`;
    const files = { [`/repo${folder}/app-1.0.pom`]: pom, [`/repo${folder}/app-1.0.jar`]: 'content' };
    await using origin = await startRepository(files);
    const ibiblio = [{ name: 'public', m2compatible: true, root: `${origin.url}/repo` }];
    const resolvers = { chain: [{ name: 'main', returnFirst: true, ibiblio }] };
    expect(await fetchFile({ settings: { settings: { defaultResolver: 'main' }, resolvers } })).toBe(
      'content',
    );
    const paths = ['app-1.0.pom', ...asked].map((name) => `/repo${folder}/${name}`);
    expect(origin.requests.map(({ url }) => url)).toEqual(paths);
  });

  test.each([
    [{ m2compatible: true, usepoms: false }, `${folder}/app-1.0.jar`],
    [{}, '/app/jars/app-1.0.jar'],
    [{ pattern: '[module]/[artifact]_[revision].[ext]' }, '/app/app_1.0.jar'],
  ])('needs no descriptor with %j', async (members, path) => {
    await using origin = await startRepository({ [path]: 'content' });
    const ibiblio = [{ root: `${origin.url}/`, ...members }];
    expect(await fetchFile({ settings: { resolvers: { ibiblio } } })).toBe('content');
    expect(origin.requests).toHaveLength(1);
  });

  test('is of the first resolver that has it, in the order of Clouddriver', async () => {
    await using first = await startRepository({});
    await using second = await startRepository({ [`${folder}/app-1.0.jar`]: 'second' });
    const ibiblio = [{ m2compatible: true, root: second.url }];
    const chain = [{ name: 'main', ibiblio, url: [urlResolver(first.url)] }];
    expect(await fetchFile({ settings: { resolvers: { chain } } })).toBe('second');
    expect(first.requests.length).toBeGreaterThan(0);
  });

  test('is of the default resolver alone', async () => {
    await using other = await startRepository({});
    await using origin = await startRepository({ [`${folder}/app-1.0.jar`]: 'content' });
    const resolvers = {
      url: [urlResolver(other.url)],
      ibiblio: [{ name: 'b', m2compatible: true, root: origin.url }],
    };
    expect(await fetchFile({ settings: { settings: { 'default-resolver': 'b' }, resolvers } })).toBe(
      'content',
    );
    expect(other.connections).toBe(0);
  });
});

test.each([
  ['127.0.0.1', `Basic ${btoa('ann:p')}`],
  ['Repo.example.com', undefined],
])('credentials of the settings go to their host alone: %s', async (host, sent) => {
  await using origin = await startRepository({ [`${folder}/app-1.0.jar`]: 'content' });
  const url = [urlResolver(origin.url), urlResolver('https://repo.example.com')];
  const credentials = { host, realm: 'x', username: 'ann', password: 'p' };
  expect(await fetchFile({ settings: { resolvers: { chain: [{ url }] }, credentials } })).toBe('content');
  expect(new Set(origin.requests.map(({ headers }) => headers.authorization))).toEqual(new Set([sent]));
});

type LeftOut = readonly [what: string, account: JsonObject, complaint: string];

describe('an account is left out', () => {
  const pattern = 'https://repo.example.com/[module].[ext]';
  const url = [{ name: 'a', artifact: [{ pattern }] }];
  const twoServers = [...url, { artifact: [{ pattern: 'https://other.example.com/[module]' }] }];
  const by = (resolvers: JsonObject, more: JsonObject = {}) => ({ settings: { resolvers, ...more } });
  const cases: readonly LeftOut[] = [
    ['without settings', {}, 'settings: resolvers: expected one'],
    [
      'with a resolver by SSH',
      by({ url, ssh: [{ name: 'b' }] }),
      'resolvers: ssh: expected url, ibiblio, chain',
    ],
    ['with one in a chain', by({ chain: [{ ssh: [] }] }), 'chain[0]: ssh: expected url, ibiblio'],
    ['with bintray', by({ bintray: [{ name: 'b' }] }), 'resolvers: bintray: expected'],
    ['with a dual chain', by({ chain: [{ dual: true, url }] }), 'dual: expected false'],
    ['whose default is not there', by({ url }, { settings: { defaultResolver: 'b' } }), 'defaultResolver'],
    ['without a root', by({ ibiblio: [{ name: 'b' }] }), 'ibiblio[0]: root: expected'],
    [
      'without a root, of the form of Maven',
      by({ ibiblio: [{ name: 'b', m2compatible: true }] }),
      'ibiblio[0]: root: expected',
    ],
    ['without a pattern', by({ url: [{ name: 'b' }] }), 'url[0]: artifact: expected a pattern'],
    ...[
      'planted',
      'ftp://repo.example.com/[module]',
      'https://planted:planted@repo.example.com/[module]',
      'https://[module].example.com/x',
      'https://repo.example.com',
      'https://repo.example.com/[planted]',
      'https://repo.example.com/[module',
      'https://repo.example.com/([module]',
      'https://repo.example.com/(([module]))',
      'https://repo.example.com/{planted}/[module]',
      'https://repo.example.com/[module]?planted',
      'https://repo.example.com/[module]#planted',
      `https://repo.example.com/${'x'.repeat(ivyPatternLengthMax)}`,
    ].map(
      (artifact): LeftOut => [
        `with the pattern ${artifact.slice(0, 60)}`,
        by({ url: [{ artifact: [{ pattern: artifact }] }] }),
        'url[0]: pattern: expected',
      ],
    ),
    [
      'with too many patterns',
      by({ url: [{ artifact: Array(ivyPatternsMax + 1).fill({ pattern }) }] }),
      `at most ${ivyPatternsMax} patterns`,
    ],
    [
      'with credentials for another host',
      by({ url }, { credentials: { host: 'planted', username: 'a', password: 'planted' } }),
      'credentials: host: expected that of a resolver',
    ],
    [
      'with credentials for none',
      by({ url }, { credentials: { username: 'a', password: 'planted' } }),
      'credentials: host: expected that of a resolver',
    ],
    [
      'with credentials twice',
      {
        username: 'a',
        password: 'planted',
        settings: { resolvers: { url }, credentials: { host: 'repo.example.com' } },
      },
      'not beside those of the account itself',
    ],
    [
      'with credentials of its own for two servers',
      { username: 'a', password: 'planted', settings: { resolvers: { chain: [{ url: twoServers }] } } },
      'username: expected resolvers of one server',
    ],
    ['with a list for its settings', { settings: ['planted'] }, 'settings: expected an object'],
  ];

  test.each(cases)('%s', (_, account, complaint) => {
    const { sources, rejectedAccounts } = open(account);
    expect(sources).toEqual([]);
    expect(rejectedAccounts).toMatchObject([{ name: 'modules', reason: expect.stringContaining(complaint) }]);
    expect(JSON.stringify(rejectedAccounts)).not.toContain('planted');
  });
});

test.each([
  ...['app', 'com.test:app', 'com.test:app:', 'com.test::1.0', 'com.test:app:1.0:planted'],
  ...['com.test:../planted:1.0', 'com.test:..:1.0', 'com.test:app:latest.integration', 'com.test:app:1.+'],
  ...['com.test:app:[1.0,2.0)', 'com.test:app:1.0 planted'],
])('refuses the reference %s, and says what it expects', async (reference) => {
  await using origin = await startRepository({});
  const settings = { resolvers: { url: [urlResolver(origin.url)] } };
  const failure = await getFailure(fetchFile({ settings }, reference));
  expect(failure).toBeInstanceOf(InvalidInputError);
  expect(String(failure)).toContain('expected organisation:module:revision');
  expect(String(failure)).not.toContain('planted');
  expect(origin.connections).toBe(0);
});
