import { App } from 'aws-cdk-lib';
import type { Template } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { readContext } from '#infra/aws/context/context-options.ts';
import { loadSourceFiles } from '#test/architecture/source-files.ts';
import { getOptions } from './assembly/option-sets.ts';
import { findRows, readPage } from './page-tables.ts';
import { type Options, synthesize } from './stacks/synthesize.ts';

const deployPage = readPage('deploy.md');
const operatePage = readPage('operate.md');
const nightPage = readPage('first-night.md');

const templates = synthesize();
const withNetwork = synthesize(getOptions('private, endpoint made'));

/** How names of what the tests synthesize begin; in the pages it is `busdriver-prod`. */
const madePrefix = 'busdriver-dev';

/** Names that operators are told to make by hand. */
const handmade = ['tasks-before'];

describe('docs/operate.md', () => {
  it('explains every alarm, and no other', () => {
    const alarms = findAll(templates, 'AWS::CloudWatch::Alarm').map(({ AlarmName }) => String(AlarmName));
    const section = cut(operatePage, '## Alarms', '## Trouble without an alarm');
    const explained = [...section.matchAll(/^### (.+)$/gm)].map(([, name]) => `${madePrefix}-${name}`);
    expect(alarms.length).toBeGreaterThan(5);
    expect(explained.sort()).toEqual(alarms.sort());
  });

  it('says of each alarm what it means and what to do', () => {
    const section = cut(operatePage, '## Alarms', '## Trouble without an alarm');
    const [, ...parts] = section.split(/^### /m);
    const silent = parts.filter((part) => !/\*\*Means/.test(part) || !/(\*\*Do:|and do:)/.test(part));
    expect(silent).toEqual([]);
  });

  it('says of each alarm what is normal', () => {
    const section = cut(operatePage, '## Alarms', '## Trouble without an alarm');
    const cells = findRows(cut(section, 'What is normal:', '### operations-queue-age')).map(
      ([cell = '']) => cell,
    );
    const named = cells.flatMap((cell) => [...cell.matchAll(/`(…?)([^`]+)`/g)]);
    const isTold = (alarm: string): boolean =>
      named.some(([, any, name = '']) => (any === '…' ? alarm.endsWith(name) : alarm === name));
    const alarms = [...section.matchAll(/^### (.+)$/gm)].map(([, name = '']) => name);
    expect(alarms.filter((alarm) => !isTold(alarm))).toEqual([]);
  });

  it('has every field of the access log', () => {
    const [stage] = findAll(templates, 'AWS::ApiGateway::Stage');
    const setting = stage?.['AccessLogSetting'] as { Format: string } | undefined;
    const fields = Object.keys(JSON.parse(setting?.Format ?? '{}') as object);
    expect(fields).toContain('status');
    expect(fields.filter((field) => !operatePage.includes(`\`${field}\``))).toEqual([]);
  });

  it('quotes only messages that functions log', () => {
    const section = cut(operatePage, '### Log lines that matter', '## Alarms');
    const cells = findRows(section).map(([cell = '']) => cell);
    const messages = cells.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, text = '']) => text));
    const sources = loadSourceFiles()
      .filter(({ path }) => /^(shared|functions)\//.test(path))
      .map(({ text }) => text)
      .join('\n');
    // The end of this one follows from what is in force.
    const toTexts = (message: string): string[] => message.split(/(?<=the settings cannot be used: )/);
    const unknown = messages.filter((message) => !toTexts(message).every((text) => sources.includes(text)));
    expect(messages.length).toBeGreaterThan(10);
    expect(unknown).toEqual([]);
  });
});

describe('docs/deploy.md', () => {
  it('shows options that are accepted', () => {
    const [, block = ''] = /^```json\n(\{\n {2}"stage".*?)^```$/ms.exec(deployPage) ?? [];
    const context = JSON.parse(block) as Options;
    expect(readContext(new App({ context }))).toMatchObject({ stage: 'prod', publicApi: false });
  });
});

describe('pages for operators', () => {
  it.each([
    { page: 'deploy.md', text: deployPage },
    { page: 'operate.md', text: operatePage },
    { page: 'first-night.md', text: nightPage },
  ])('$page names only stacks, functions and resources that there are', ({ text }) => {
    const named = [...text.matchAll(/busdriver-prod-([a-z]+(?:-[a-z]+)*)/g)].map(([, name = '']) => name);
    const known = [...findNames(withNetwork), ...findNames(templates), ...handmade];
    expect(named.length).toBeGreaterThan(5);
    expect([...new Set(named)].filter((name) => !known.includes(name))).toEqual([]);
  });
});

/** The part of a page between two headings. */
function cut(page: string, from: string, to: string | undefined): string {
  const start = page.indexOf(`\n${from}\n`);
  const end = to === undefined ? page.length : page.indexOf(`\n${to}\n`);
  if (start < 0 || end < start) throw new Error(`no ${from} before ${to}`);
  return page.slice(start, end);
}

/** The properties of all resources of a type. */
function findAll(
  templates: ReadonlyMap<string, Template>,
  type: string,
): { readonly [name: string]: unknown }[] {
  return [...templates.values()].flatMap((template) =>
    Object.values(template.findResources(type)).map(({ Properties }) => Properties),
  );
}

/** Stacks, and whatever in them has a name of ours, without its prefix. */
function findNames(templates: ReadonlyMap<string, Template>): string[] {
  const texts = [...templates.values()].map((template) => JSON.stringify(template.toJSON()));
  const named = texts.flatMap((text) => [...text.matchAll(/busdriver-dev-([a-z]+(?:-[a-z]+)*)/g)]);
  return [...templates.keys(), ...named.map(([, name = '']) => name)];
}
