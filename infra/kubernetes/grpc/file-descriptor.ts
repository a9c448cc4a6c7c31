import { type ProtobufDescriptor, ProtobufSchema } from '#agents/protocol/grpc/codec.ts';

/** A file of a schema, as reflection tells of it. */
export interface DescribedFile {
  readonly name: string;
  /** Full names of its services, messages, enums, and of what is in them. */
  readonly symbols: ReadonlySet<string>;
  /** The `FileDescriptorProto`. */
  readonly bytes: Buffer;
}

interface Field {
  readonly type: string;
  readonly id: number;
  readonly rule?: string;
  readonly keyType?: string;
  readonly options?: { readonly proto3_optional?: boolean };
}

interface Method {
  readonly requestType: string;
  readonly responseType: string;
  readonly requestStream?: boolean;
  readonly responseStream?: boolean;
}

/** A member of a descriptor: which of these it has says what it is. */
interface Node {
  readonly fields?: { readonly [name: string]: Field };
  readonly oneofs?: { readonly [name: string]: { readonly oneof: readonly string[] } };
  readonly values?: { readonly [name: string]: number };
  readonly methods?: { readonly [name: string]: Method };
  readonly nested?: { readonly [name: string]: Node };
}

/** Numbers of protobuf's own types. */
const scalars: ReadonlyMap<string, number> = new Map([
  ['int64', 3],
  ['int32', 5],
  ['bool', 8],
  ['string', 9],
  ['bytes', 12],
  ['uint32', 13],
]);

const typeNumbers = { message: 11, enum: 14 };
const labels = { optional: 1, repeated: 3 };

/** Describes a schema that stands in one package. @param name of the file, as it tells */
export function describeFile(name: string, schema: ProtobufDescriptor): DescribedFile {
  const { packageName, types } = enter(schema as Node);
  const scope = new Map<string, 'message' | 'enum'>();
  const symbols = new Set<string>();
  collect(types, packageName, { scope, symbols });
  const write = (node: object): Buffer => codec.encode(node);
  const content = new Content(scope, packageName);
  const entries = Object.entries(types);
  const file = {
    ...{ name, package: packageName, syntax: 'proto3' },
    messageType: entries.flatMap(([each, node]) =>
      node.fields ? [content.describeMessage(each, node, `${packageName}.${each}`)] : [],
    ),
    enumType: entries.flatMap(([each, { values }]) => (values ? [describeEnum(each, values)] : [])),
    service: entries.flatMap(([each, { methods }]) =>
      methods ? [content.describeService(each, methods)] : [],
    ),
  };
  return { name, symbols, bytes: write(file) };
}

function enter(node: Node, packageName = ''): { packageName: string; types: { [name: string]: Node } } {
  const entries = Object.entries(node.nested ?? {});
  const [[name, only] = ['', {}]] = entries;
  const isPackage = entries.length === 1 && !only.fields && !only.values && !only.methods;
  if (isPackage) return enter(only, packageName === '' ? name : `${packageName}.${name}`);
  return { packageName, types: Object.fromEntries(entries) };
}

function collect(
  types: { readonly [name: string]: Node },
  at: string,
  found: { readonly scope: Map<string, 'message' | 'enum'>; readonly symbols: Set<string> },
): void {
  for (const [name, { fields, values, methods = {}, nested = {} }] of Object.entries(types)) {
    const full = `${at}.${name}`;
    found.symbols.add(full);
    for (const method of Object.keys(methods)) found.symbols.add(`${full}.${method}`);
    if (fields) found.scope.set(full, 'message');
    if (values) found.scope.set(full, 'enum');
    collect(nested, full, found);
  }
}

/** Describes what refers to types by names that are looked up from where they stand. */
class Content {
  readonly #scope: ReadonlyMap<string, 'message' | 'enum'>;
  readonly #package: string;

  constructor(scope: ReadonlyMap<string, 'message' | 'enum'>, packageName: string) {
    this.#scope = scope;
    this.#package = packageName;
  }

  describeMessage(name: string, { fields = {}, oneofs = {}, nested = {} }: Node, full: string): object {
    const inside = Object.entries(nested);
    const groups = Object.entries(oneofs);
    return {
      name,
      field: Object.entries(fields).map(([field, each]) => {
        const group = groups.findIndex(([, { oneof }]) => oneof.includes(field));
        return { ...this.#describeField(field, each, full), ...(group >= 0 && { oneofIndex: group }) };
      }),
      nestedType: [
        ...inside.flatMap(([each, node]) =>
          node.fields ? [this.describeMessage(each, node, `${full}.${each}`)] : [],
        ),
        ...Object.entries(fields).flatMap(([field, each]) =>
          each.keyType ? [this.#describeEntry(field, each, full)] : [],
        ),
      ],
      enumType: inside.flatMap(([each, { values }]) => (values ? [describeEnum(each, values)] : [])),
      oneofDecl: groups.map(([each]) => ({ name: each })),
    };
  }

  describeService(name: string, methods: { readonly [name: string]: Method }): object {
    return {
      name,
      method: Object.entries(methods).map(([method, { requestType, responseType, ...streams }]) => ({
        name: method,
        inputType: this.#resolve(requestType, this.#package).typeName,
        outputType: this.#resolve(responseType, this.#package).typeName,
        ...(streams.requestStream && { clientStreaming: true }),
        ...(streams.responseStream && { serverStreaming: true }),
      })),
    };
  }

  #describeField(name: string, { type, id, rule, keyType, options }: Field, at: string): object {
    const isRepeated = rule === 'repeated' || keyType !== undefined;
    const own = keyType === undefined ? this.#resolve(type, at) : this.#toEntryType(name, at);
    return {
      ...{ name, number: id, jsonName: toCamelCase(name), ...own },
      label: isRepeated ? labels.repeated : labels.optional,
      ...(options?.proto3_optional && { proto3Optional: true }),
    };
  }

  /** A map is a list of messages of a type of its own, each with a key and a value. */
  #describeEntry(field: string, { type, keyType = '' }: Field, at: string): object {
    const [key, value] = [
      { type: keyType, id: 1 },
      { type, id: 2 },
    ];
    return {
      name: toEntryName(field),
      field: [this.#describeField('key', key, at), this.#describeField('value', value, at)],
      options: { mapEntry: true },
    };
  }

  #toEntryType(field: string, at: string): { readonly type: number; readonly typeName: string } {
    return { type: typeNumbers.message, typeName: `.${at}.${toEntryName(field)}` };
  }

  #resolve(type: string, at: string): { readonly type: number; readonly typeName?: string } {
    const scalar = scalars.get(type);
    if (scalar !== undefined) return { type: scalar };
    const scopes = at.split('.').map((_, index, parts) => parts.slice(0, parts.length - index).join('.'));
    const found = scopes.map((scope) => `${scope}.${type}`).find((full) => this.#scope.has(full));
    const kind = this.#scope.get(found ?? '');
    if (kind === undefined) throw new Error(`${at} refers to ${type}, which is not there`);
    return { type: typeNumbers[kind], typeName: `.${found}` };
  }
}

function describeEnum(name: string, values: { readonly [name: string]: number }): object {
  return { name, value: Object.entries(values).map(([each, number]) => ({ name: each, number })) };
}

function toCamelCase(name: string): string {
  return name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

function toEntryName(field: string): string {
  const camel = toCamelCase(field);
  return `${camel.charAt(0).toUpperCase()}${camel.slice(1)}Entry`;
}

/** Of protobuf's own description of files, what is needed. */
const codec = new ProtobufSchema({
  nested: {
    FileDescriptorProto: {
      fields: {
        name: { type: 'string', id: 1 },
        package: { type: 'string', id: 2 },
        message_type: { rule: 'repeated', type: 'DescriptorProto', id: 4 },
        enum_type: { rule: 'repeated', type: 'EnumDescriptorProto', id: 5 },
        service: { rule: 'repeated', type: 'ServiceDescriptorProto', id: 6 },
        syntax: { type: 'string', id: 12 },
      },
    },
    DescriptorProto: {
      fields: {
        name: { type: 'string', id: 1 },
        field: { rule: 'repeated', type: 'FieldDescriptorProto', id: 2 },
        nested_type: { rule: 'repeated', type: 'DescriptorProto', id: 3 },
        enum_type: { rule: 'repeated', type: 'EnumDescriptorProto', id: 4 },
        options: { type: 'MessageOptions', id: 7 },
        oneof_decl: { rule: 'repeated', type: 'OneofDescriptorProto', id: 8 },
      },
    },
    MessageOptions: { fields: { map_entry: { type: 'bool', id: 7 } } },
    OneofDescriptorProto: { fields: { name: { type: 'string', id: 1 } } },
    FieldDescriptorProto: {
      oneofs: { _oneof_index: { oneof: ['oneof_index'] } },
      fields: {
        name: { type: 'string', id: 1 },
        number: { type: 'int32', id: 3 },
        label: { type: 'int32', id: 4 },
        type: { type: 'int32', id: 5 },
        type_name: { type: 'string', id: 6 },
        // The first one is 0: it must be written, too.
        oneof_index: { type: 'int32', id: 9, options: { proto3_optional: true } },
        json_name: { type: 'string', id: 10 },
        proto3_optional: { type: 'bool', id: 17 },
      },
    },
    EnumDescriptorProto: {
      fields: {
        name: { type: 'string', id: 1 },
        value: { rule: 'repeated', type: 'EnumValueDescriptorProto', id: 2 },
      },
    },
    EnumValueDescriptorProto: {
      fields: { name: { type: 'string', id: 1 }, number: { type: 'int32', id: 2 } },
    },
    ServiceDescriptorProto: {
      fields: {
        name: { type: 'string', id: 1 },
        method: { rule: 'repeated', type: 'MethodDescriptorProto', id: 2 },
      },
    },
    MethodDescriptorProto: {
      fields: {
        name: { type: 'string', id: 1 },
        input_type: { type: 'string', id: 2 },
        output_type: { type: 'string', id: 3 },
        client_streaming: { type: 'bool', id: 5 },
        server_streaming: { type: 'bool', id: 6 },
      },
    },
  },
}).getMessage('FileDescriptorProto');
