import type { ServerDuplexStream, UntypedServiceImplementation } from '@grpc/grpc-js';
import { grpcCodes } from '#agents/protocol/grpc/refusal.ts';
import { asString, type JsonObject } from '#core/json.ts';

/** A file of a schema, as reflection describes it. */
export interface DescribedFile {
  readonly name: string;
  /** Full names of its services, methods, messages and enums. */
  readonly symbols: readonly string[];
  /** The `FileDescriptorProto`, in base64. */
  readonly bytes: string;
}

/** Full names of the service by which callers learn what there is, newest first: tools ask for either. */
export const reflectionServices = [
  'grpc.reflection.v1.ServerReflection',
  'grpc.reflection.v1alpha.ServerReflection',
] as const;

/** Questions of one stream at most. */
const questionsMax = 1_000;

type ReflectionStream = ServerDuplexStream<JsonObject, JsonObject>;

/** Answers what there is to tools that do not have the schema. @param services full names of those that are told */
export function createReflection(
  services: readonly string[],
  files: readonly DescribedFile[],
): UntypedServiceImplementation {
  return {
    ServerReflectionInfo(stream: ReflectionStream) {
      let questions = 0;
      stream.on('data', (request: JsonObject) => {
        questions += 1;
        if (questions > questionsMax) stream.destroy(new Error(`more than ${questionsMax} questions`));
        else stream.write({ originalRequest: request, ...answer(request, services, files) });
      });
      stream.on('end', () => stream.end());
      stream.on('error', () => undefined);
    },
  };
}

function answer(
  request: JsonObject,
  services: readonly string[],
  files: readonly DescribedFile[],
): JsonObject {
  const [name, symbol] = [asString(request['fileByFilename']), asString(request['fileContainingSymbol'])];
  if (request['listServices'] !== undefined)
    return { listServicesResponse: { service: services.map((each) => ({ name: each })) } };
  if (name !== undefined || symbol !== undefined) {
    const file = files.find((each) => each.name === name || each.symbols.includes(symbol ?? ''));
    if (file === undefined) return refuse(grpcCodes.notFound, `there is no ${name ?? symbol}`);
    return { fileDescriptorResponse: { fileDescriptorProto: [file.bytes] } };
  }
  const extended = asString(request['allExtensionNumbersOfType']);
  if (extended !== undefined && files.some(({ symbols }) => symbols.includes(extended)))
    return { allExtensionNumbersResponse: { baseTypeName: extended } };
  return refuse(grpcCodes.notFound, 'there are no extensions');
}

function refuse(errorCode: number, errorMessage: string): JsonObject {
  return { errorResponse: { errorCode, errorMessage: errorMessage.slice(0, 500) } };
}
