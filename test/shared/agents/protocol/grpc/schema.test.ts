import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { loadSync } from '@grpc/proto-loader';
import protobuf from 'protobufjs';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import * as caches from '#agents/protocol/cache-messages.ts';
import { agentServices, ProtobufSchema } from '#agents/protocol/grpc/codec.ts';
import { httpTwins } from '#agents/protocol/grpc/http-twins.ts';
import { refusalSchema } from '#agents/protocol/grpc/refusal.ts';
import * as messages from '#agents/protocol/messages.ts';
import { agentRoutes } from '#functions/agent-routes.ts';
import { operationResultSchema, operationSchema } from '#infra/kubernetes/agent-messages.ts';

const root = path.resolve(import.meta.dirname, '../../../../..');
const protoFile = path.join(root, 'docs/agent/busdriver-agent-v1.proto');
const generatedFile = path.join(root, 'shared/agents/protocol/grpc/descriptor.generated.json');
const loaded = loadSync(protoFile, { keepCase: true });

const session = z.object({ session: z.string() });
const task = z.object({ task: z.string() });
const read = z.object({ read: z.string() });
const account = z.object({ account: z.string() });

/** What is sent over HTTP, by the message of the file; a request has the parameters of its path as well. */
const counterparts: readonly (readonly [string, z.ZodType])[] = [
  ['Hello', messages.helloSchema],
  ['Renewal', session.extend(messages.renewalSchema.shape)],
  ['SessionRef', session],
  ['Welcome', messages.welcomeSchema],
  ['WorkList', messages.workSchema],
  ['TakeTask', task.extend(messages.takeSchema.shape)],
  ['TaskLease', task.extend(messages.leaseSchema.shape)],
  ['TaskCommit', task.extend(messages.commitSchema.shape)],
  ['LeaseRef', messages.leaseSchema],
  ['LeasedTask', messages.leasedTaskSchema],
  ['ClaimCache', account.extend(caches.claimSchema.shape)],
  ['CacheProgress', account.extend(caches.cacheProgressMessageSchema.shape)],
  ['ClaimedCache', caches.claimedSchema],
  ['KeptCache', caches.keptSchema],
  ['AccountRef', account],
  ['NewEpoch', account.extend(caches.epochSchema.shape)],
  ['EpochAnswer', caches.epochAnswerSchema],
  ['HeadsQuery', account.extend(caches.headsQuerySchema.shape)],
  ['HeadsPage', caches.headsSchema],
  ['Changes', account.extend(caches.changesSchema.shape)],
  ['ChangesOutcome', caches.changesOutcomeSchema],
  ['Prunes', account.extend(caches.prunesSchema.shape)],
  ['Applications', caches.prunesSchema],
  ['ReadRef', read],
  ['ReadRequest', messages.readRequestSchema],
  ['ReadAnswer', read.extend(messages.readAnswerSchema.shape)],
  ['Refusal', refusalSchema],
];

interface Field {
  readonly name: string;
  readonly label: string;
  readonly type: string;
  readonly typeName: string;
  readonly number: number;
}

interface MessageType {
  readonly field: readonly Field[];
  /** Of a field that may be left out: its name with a line before it. */
  readonly oneofDecl: readonly { readonly name: string }[];
  readonly nestedType: readonly (MessageType & { readonly name: string })[];
}

/** What JSON Schema says of a member. */
interface Member {
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly properties?: { readonly [name: string]: Member };
  readonly required?: readonly string[];
  readonly items?: Member;
  readonly additionalProperties?: Member;
}

function getMessage(name: string): MessageType {
  const definition = loaded[`busdriver.agent.v1.${name}`];
  if (definition === undefined || !('type' in definition)) throw new Error(`no message ${name}`);
  return definition.type as unknown as MessageType;
}

const camelCase = (name: string) => name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());

/** Types of fields that carry a member of JSON of a type. */
const carriers: { readonly [type: string]: readonly string[] } = {
  string: ['TYPE_STRING', 'TYPE_BYTES', 'TYPE_ENUM'],
  integer: ['TYPE_UINT32', 'TYPE_INT32', 'TYPE_INT64'],
  number: ['TYPE_INT64'],
  boolean: ['TYPE_BOOL'],
  object: ['TYPE_MESSAGE'],
};

/** What differs between a message and what JSON Schema says of its counterpart. */
function findDifferences(message: MessageType, schema: Member, at: string): string[] {
  const { properties = {}, required = [] } = schema;
  const fields = new Map(message.field.map((field) => [camelCase(field.name), field]));
  const missing = Object.keys(properties).filter((name) => !fields.has(name));
  const surplus = [...fields.keys()].filter((name) => !Object.hasOwn(properties, name));
  const inside = [...fields].flatMap(([name, field]) => {
    const member = properties[name];
    if (member === undefined) return [];
    return compareField(message, { field, member, isRequired: required.includes(name), at: `${at}.${name}` });
  });
  return [
    ...missing.map((name) => `${at}.${name} has no field`),
    ...surplus.map((name) => `${at}.${name} has no member`),
    ...inside,
  ];
}

interface Pair {
  readonly field: Field;
  readonly member: Member;
  readonly isRequired: boolean;
  readonly at: string;
}

function compareField(message: MessageType, { field, member, isRequired, at }: Pair): string[] {
  const name = field.typeName.split('.').at(-1) ?? '';
  const entry = message.nestedType.find((each) => each.name === name);
  if (entry !== undefined)
    return typeof member.additionalProperties === 'object' ? [] : [`${at} is a map, and ${member.type}`];
  const isRepeated = field.label === 'LABEL_REPEATED';
  if (isRepeated !== (member.type === 'array')) return [`${at} is repeated on one side alone`];
  const isOptional = message.oneofDecl.some((each) => each.name === `_${field.name}`);
  if (!isRepeated && isOptional === isRequired) return [`${at} is optional on one side alone`];
  const item = (isRepeated ? member.items : member) ?? {};
  if (!(carriers[item.type ?? ''] ?? []).includes(field.type))
    return [`${at}: ${field.type} and ${item.type}`];
  return field.type === 'TYPE_MESSAGE' ? findDifferences(getMessage(name), item, at) : [];
}

const toJsonSchema = (schema: z.ZodType) => z.toJSONSchema(schema, { unrepresentable: 'any' }) as Member;

describe('busdriver-agent-v1.proto', () => {
  test.each(counterparts)('has %s as HTTP has it', (name, schema) => {
    expect(findDifferences(getMessage(name), toJsonSchema(schema), name)).toEqual([]);
  });

  test('is compared by names, types, and by what may be left out', () => {
    const changed = z.object({
      id: z.int(),
      accountName: z.string(),
      method: z.string().optional(),
      args: z.array(z.string()),
      take: z.int(),
      waitMs: z.number(),
    });
    expect(findDifferences(getMessage('ReadRequest'), toJsonSchema(changed), 'x')).toEqual([
      ...['x.accountName has no field', 'x.account has no member', 'x.id: TYPE_STRING and integer'],
      ...['x.method is optional on one side alone', 'x.args is repeated on one side alone'],
    ]);
  });

  test.each([
    ['Operation', operationSchema],
    ['OperationResult', operationResultSchema],
  ])('has %s as replicas write it', (name, schema) => {
    const fields = getMessage(name).field.map(({ name: field, type, number }) => [field, type, number]);
    expect(fields).toEqual(
      Object.entries(schema).map(([field, type], index) => [field, `TYPE_${type.toUpperCase()}`, index + 1]),
    );
  });

  test('has a call for each route of agents, and each call but Watch a route', () => {
    const schema = new ProtobufSchema();
    const calls = agentServices.flatMap((name) => schema.getService(`busdriver.agent.v1.${name}`).methods);
    expect(calls.map(({ name }) => name).filter((name) => !httpTwins.has(name))).toEqual(['Sessions.Watch']);
    // Signatures are looked at by API Gateway, which has no gRPC.
    const unsigned = agentRoutes.filter(({ signed = false }) => !signed);
    const routes = unsigned.map(({ method, path: target }) => `${method} ${target}`);
    expect([...httpTwins.values()].map(({ method, path: target }) => `${method} ${target}`).sort()).toEqual(
      routes.sort(),
    );
  });

  test('is what the bundle has of it: npx vitest run test/shared/agents/protocol --update', async () => {
    const { root: parsed } = protobuf.parse(await readFile(protoFile, 'utf8'), { keepCase: true });
    parsed.resolveAll();
    await expect(`${JSON.stringify(parsed.toJSON())}\n`).toMatchFileSnapshot(generatedFile);
  });
});
