import protobuf from 'protobufjs/light.js';
import { isJsonObject, type JsonObject, type JsonValue } from '#core/json.ts';
import descriptor from './descriptor.generated.json' with { type: 'json' };

/** Package of the schema. */
export const protobufPackage = 'busdriver.agent.v1';

/** A message of the schema, as JSON over HTTP has it: names in camelCase, bytes in base64, enums by name. */
export interface MessageCodec {
  /** Members that the schema does not have are left out. @throws Error for a member of another type */
  encode(value: object): Buffer;
  /** With the default of each member that has one. @throws Error for bytes that are no such message */
  decode(bytes: Uint8Array): JsonObject;
}

/** A method of a service. */
export interface ServiceMethod {
  /** Service and method: `Tasks.Take`. */
  readonly name: string;
  /** As gRPC names it: `/busdriver.agent.v1.Tasks/Take`. */
  readonly path: string;
  readonly requestStream: boolean;
  readonly responseStream: boolean;
  readonly request: MessageCodec;
  readonly response: MessageCodec;
}

/** A service. */
export interface Service {
  /** With its package. */
  readonly name: string;
  readonly methods: readonly ServiceMethod[];
}

/** Reads and writes the messages of a schema. */
export class ProtobufSchema {
  readonly #root: protobuf.Root;

  /** @param schema default that of agents */
  constructor(schema: { readonly nested: object } = descriptor) {
    this.#root = protobuf.Root.fromJSON(toCamelCase(schema) as protobuf.INamespace);
    this.#root.resolveAll();
  }

  /** The message of a full name. @throws Error where there is none */
  getMessage(name: string): MessageCodec {
    const type = this.#root.lookupType(name);
    return {
      encode: (value) => Buffer.from(type.encode(type.fromObject(value)).finish()),
      decode: (bytes) => dropNulls(type.toObject(type.decode(bytes), conversion)),
    };
  }

  /** The service of a full name. @throws Error where there is none */
  getService(name: string): Service {
    const service = this.#root.lookupService(name);
    const methods = service.methodsArray.map((method): ServiceMethod => {
      const { resolvedRequestType: request, resolvedResponseType: response } = method;
      if (request === null || response === null) throw new Error(`${name}.${method.name} is unresolved`);
      return {
        name: `${service.name}.${method.name}`,
        path: `/${name}/${method.name}`,
        requestStream: method.requestStream === true,
        responseStream: method.responseStream === true,
        request: this.getMessage(request.fullName),
        response: this.getMessage(response.fullName),
      };
    });
    return { name, methods };
  }
}

/** Services of agents, without the package. */
export const agentServices = ['Sessions', 'Tasks', 'Caching', 'Reads'] as const;

/** Members that are absent get their default; JSON has no 64 bits, and no time here needs them. */
const conversion: protobuf.IConversionOptions = {
  ...{ longs: Number, enums: String, bytes: String },
  ...{ defaults: true, arrays: true, objects: true },
};

/** A message that is absent inside of another one is null by default: in JSON it is not there. */
function dropNulls(value: JsonValue): JsonObject {
  return Object.fromEntries(
    Object.entries(value as JsonObject)
      .filter(([, member]) => member !== null)
      .map(([name, member]) => [name, clean(member as JsonValue)]),
  );
}

function clean(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(clean);
  return isJsonObject(value) ? dropNulls(value) : value;
}

/** The same descriptor with names of fields in camelCase, those of members of a `oneof` among them. */
function toCamelCase(value: unknown, at = ''): unknown {
  if (Array.isArray(value)) return value.map((each) => (at === 'oneof' ? camelCase(String(each)) : each));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      at === 'fields' ? camelCase(name) : name,
      toCamelCase(member, at === 'fields' ? '' : name),
    ]),
  );
}

function camelCase(name: string): string {
  return name.replace(/(?<=[a-z0-9])_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}
