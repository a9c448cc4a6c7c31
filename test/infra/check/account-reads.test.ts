import { describe, expect, it } from 'vitest';
import { accountReads, secretValueRead } from '../../../infra/check/account-reads.ts';
import { toReaderPolicy } from '../../../infra/check/reader-policy.ts';
import { loadSourceFiles, walk } from '../../architecture/source-files.ts';

/** What a name of an operation that reads begins with. */
const reading = /^(Get|List|Describe|Simulate)/;

const files = loadSourceFiles().filter(({ path }) => path.startsWith('infra/check/'));

describe('the check', () => {
  it('knows no operation of AWS that writes', () => {
    const commands = files
      .flatMap(({ parsed }) => listNames(parsed.program))
      .filter((name) => /^[A-Z]\w+Command$/.test(name));
    expect(commands.length).toBeGreaterThan(35);
    expect([...new Set(commands)].filter((name) => !reading.test(name))).toEqual([]);
  });

  it('calls AWS in one place', () => {
    const senders = files
      .filter(({ text }) => /\.send\(new |\bnew \w+Command\(/.test(text))
      .map(({ path }) => path);
    expect(senders).toEqual(['infra/check/account-reads.ts']);
  });

  it('needs permissions to read alone', () => {
    const actions = [...Object.values(accountReads), secretValueRead].map(({ action }) => action);
    const verbs = actions.map((action) => action.split(':')[1] ?? '');
    // API Gateway's actions are methods of HTTP.
    expect(verbs.filter((verb) => verb !== 'GET' && !reading.test(verb))).toEqual([]);
  });
});

describe('the policy of who runs the check', () => {
  it('has every action that is called, once', () => {
    const [{ Action } = { Action: [] }] = toReaderPolicy(false).Statement;
    const actions = Object.values(accountReads).map(({ action }) => action);
    expect(Action).toEqual([...new Set(actions)].sort());
    expect(Action).not.toContain('secretsmanager:GetSecretValue');
  });

  it('has the values of secrets only for who wants them read', () => {
    const [{ Action } = { Action: [] }] = toReaderPolicy(true).Statement;
    expect(Action).toEqual(expect.arrayContaining(['secretsmanager:GetSecretValue', 'kms:Decrypt']));
  });
});

/** Every identifier. */
function listNames(program: unknown): string[] {
  const names: string[] = [];
  walk(program, (node) => {
    if (node.type === 'Identifier' && typeof node['name'] === 'string') names.push(node['name']);
  });
  return names;
}
