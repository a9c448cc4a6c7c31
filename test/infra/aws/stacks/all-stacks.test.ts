import { describe, expect, it } from 'vitest';
import { getOptions } from '../assembly/option-sets.ts';
import { getResources } from './policies.ts';
import { synthesize } from './synthesize.ts';

/** CloudFormation allows 500 in a stack: there shall be room for what comes. */
const resourcesMax = 400;

const templates = synthesize(getOptions('private, with a name'));
const longest = synthesize(getOptions('the longest names'));

describe('the stacks', () => {
  it('are these, with these resources', () => {
    // What nested stacks hold follows from the routes.
    const topmost = [...templates].filter(([name]) => !name.includes('/'));
    const inventory = topmost.map(([name, template]) => {
      const types = [...getResources(template).values()].map(({ Type }) => Type.replace('AWS::', ''));
      const counts = [...Map.groupBy(types.sort(), (type) => type)].map(
        ([type, all]) => `${all.length} ${type}`,
      );
      return `${name}: ${counts.join(', ')}`;
    });

    expect(inventory.sort().join('\n')).toMatchSnapshot();
  });

  it(`have at most ${resourcesMax} resources each`, () => {
    const sizes = [...templates.values()].map((template) => getResources(template).size);
    expect(Math.max(...sizes)).toBeLessThan(resourcesMax);
  });

  it('bound every role', () => {
    const set = 'private, endpoint of the operator: all that the operator may name';
    const { permissionsBoundaryArn: boundary } = getOptions(set);
    const roles = [...synthesize(getOptions(set)).values()]
      .flatMap((template) => [...getResources(template).values()])
      .filter(({ Type }) => Type === 'AWS::IAM::Role');
    expect(roles.length).toBeGreaterThan(25);
    expect(roles.filter(({ Properties }) => Properties['PermissionsBoundary'] !== boundary)).toEqual([]);
  });

  it('bear the names that the operator gives them', () => {
    const names = [...longest.keys()].filter((name) => !name.includes('/'));
    const text = JSON.stringify([...longest.values()].map((template) => template.toJSON()));
    expect(names.filter((name) => !/^p{16}-s{12}-\w+$/.test(name))).toEqual([]);
    expect(text).not.toContain('busdriver-');
    expect(text).not.toContain('-dev-');
  });

  it('have names that AWS takes, each for one thing, however long those of the operator are', () => {
    const names = [...longest.values()].flatMap((template) =>
      [...getResources(template).values()]
        .filter(({ Type }) => Type === 'AWS::Lambda::Function')
        .map(({ Properties }) => String(Properties['FunctionName'])),
    );
    expect(new Set(names).size).toBe(names.length);
    expect(names.filter((name) => name.length > 64)).toEqual([]);
  });

  it('let nothing in from everywhere', () => {
    const text = JSON.stringify([...templates.values()].map((template) => template.toJSON()));
    expect(text.match(/"SecurityGroupIngress"|FunctionUrl|"AuthType":"NONE"/)).toBeNull();
  });
});
