import { expect, test } from 'vitest';
import { asString } from '#core/json.ts';
import {
  bindOperations,
  type CloudOperations,
  defineOperation,
  type OperationSubject,
} from '#provider-kit/operation-definition.ts';
import { Violations } from '#provider-kit/violations.ts';
import { objectField, stringField, withDefault } from '#settings/coerce.ts';

interface Account {
  readonly name: string;
  readonly regions: readonly string[];
}

type Session = readonly Account[];

class Rules extends Violations {
  readonly regions: readonly string[];

  constructor(regions: readonly string[]) {
    super();
    this.regions = regions;
  }

  reject(attribute: string, code: string): void {
    this.add(`${attribute} is ${code}`);
  }
}

const cloud: CloudOperations<Session, Account, Rules, OperationSubject<Session, Account>> = {
  findAccount: (session, name) => session.find((account) => account.name === name),
  formatViolation: (context, attribute, code) => `${context}: ${attribute} is ${code}`,
  openViolations: (_, { regions }) => new Rules(regions),
  listApplications: (input) => [asString(input['application']) ?? ''],
  perform: (subject, act) => act(subject),
};

const createMachine = defineOperation(cloud, {
  name: 'createMachine',
  purpose: 'creates a machine',
  operationClass: 'CreateMachineOperation',
  phase: 'CREATE',
  schema: objectField({ region: withDefault(stringField(), ''), image: stringField(), from: stringField() }),
  findSourceAccount: ({ from }) => from,
  validate({ region, image }, rules) {
    if (!rules.regions.includes(region)) rules.reject('region', 'unknown');
    if (image === undefined) rules.reject('image', 'empty');
  },
  run: async ({ region }, { account, source }) => ({ machine: `${account.name}/${region}`, of: source.name }),
});

const session = [
  { name: 'prod', regions: ['north'] },
  { name: 'images', regions: [] },
];
const [operation] = bindOperations([createMachine], session);
const prepare = (description: object) => operation?.prepare({ region: 'north', image: 'i', ...description });

test('an operation runs for the account that its description names, with the tools of its cloud', async () => {
  const prepared = prepare({ credentials: 'prod', from: 'images', application: 'shop' });
  expect(prepared).toMatchObject({ account: 'prod', sourceAccount: 'images', applications: ['shop'] });
  expect(await prepared?.run(Object.create(null))).toEqual({ machine: 'prod/north', of: 'images' });
  expect(prepare({ account: 'prod', from: 'prod' })).not.toHaveProperty('sourceAccount');
});

test('everything that is wrong is reported at once, in the words of its cloud', () => {
  expect(() => prepare({})).toThrow('createMachineOperationDescription: account is empty');
  expect(() => prepare({ account: 'dev' })).toThrow('createMachineOperationDescription: account is notFound');
  expect(() => prepare({ account: 'prod', from: 'dev', region: 'south', image: null })).toThrow(
    'source.account is notFound; region is unknown; image is empty',
  );
});
