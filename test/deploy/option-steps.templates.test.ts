import { RootConstruct } from 'constructs';
import { describe, expect, it } from 'vitest';
import type { Context } from '#infra/aws/context/context.ts';
import { contextOptions, readContext } from '#infra/aws/context/context-options.ts';
import { listStackNames, type Options } from '#test/infra/aws/stacks/synthesize.ts';
import { firstOptions, optionSteps, planSteps } from './option-steps.ts';

const toSecret = (name: string) => `arn:aws:secretsmanager:us-east-1:000000000000:secret:${name}-AbCdEf`;
const steps = planSteps({
  authorizer: toSecret('authorizer'),
  otherAuthorizer: toSecret('other-authorizer'),
  config: toSecret('config'),
  artifacts: toSecret('artifacts'),
});

// What the update in npm run test:deploy goes through, looked at without deploying it.
describe('the steps of the update', () => {
  it('have a place for every option', () => {
    expect(Object.keys(optionSteps).sort()).toEqual([...contextOptions].sort());
  });

  it.each(steps.map(({ option }, index) => ({ option, index })))('change $option', ({ option, index }) => {
    const before = read(steps[index - 1]?.options ?? firstOptions);
    const after = read(steps[index]?.options ?? {});

    expect(after).not.toHaveProperty(option, Object.entries(before).find(([name]) => name === option)?.[1]);
  });

  it('end without protection, so that all can be deleted', () => {
    expect(steps.at(-1)?.option).toBe('protectData');
  });

  it.each(['stage', 'namePrefix'])('leave out %s: with another one, all stacks are others', (option) => {
    expect(optionSteps).toHaveProperty([option, 'reason']);
    const before = listStackNames(firstOptions);
    const after = listStackNames({ ...firstOptions, [option]: 'other' });

    expect(after).toHaveLength(before.length);
    expect(after.filter((name) => before.includes(name))).toEqual([]);
  });
});

function read(options: Options): Context {
  const construct = new RootConstruct();
  for (const [name, value] of Object.entries(options)) construct.node.setContext(name, value);
  return readContext(construct);
}
