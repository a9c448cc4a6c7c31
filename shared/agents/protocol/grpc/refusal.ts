import * as z from 'zod';
import { ProtobufSchema, protobufPackage } from './codec.ts';

/** Name of the metadata that has the details of a status. */
export const detailsMetadata = 'grpc-status-details-bin';

/** Codes of gRPC. */
export const grpcCodes = {
  cancelled: 1,
  unknown: 2,
  invalidArgument: 3,
  deadlineExceeded: 4,
  notFound: 5,
  permissionDenied: 7,
  resourceExhausted: 8,
  failedPrecondition: 9,
  aborted: 10,
  unimplemented: 12,
  internal: 13,
  unavailable: 14,
  unauthenticated: 16,
} as const;

/** Why a call was refused: the body of the HTTP answer, as far as it counts. */
export const refusalSchema = z.object({
  status: z.int(),
  message: z.string(),
  reason: z.string().optional(),
  errors: z.array(z.string()).optional(),
  nextRunMs: z.number().optional(),
});

/** As `refusalSchema` has it, and what HTTP has in a header. */
export interface Refusal extends z.infer<typeof refusalSchema> {
  /** Seconds after which to come again, if given: a whole number. */
  readonly retryAfterSeconds?: number | undefined;
}

const codesByStatus: ReadonlyMap<number, number> = new Map([
  [400, grpcCodes.invalidArgument],
  [401, grpcCodes.unauthenticated],
  [403, grpcCodes.permissionDenied],
  [404, grpcCodes.notFound],
  [409, grpcCodes.aborted],
  [412, grpcCodes.failedPrecondition],
  [413, grpcCodes.resourceExhausted],
  [429, grpcCodes.resourceExhausted],
  [503, grpcCodes.unavailable],
  [504, grpcCodes.deadlineExceeded],
]);

const statusesByCode: ReadonlyMap<number, number> = new Map([
  [grpcCodes.invalidArgument, 400],
  [grpcCodes.unauthenticated, 401],
  [grpcCodes.permissionDenied, 403],
  [grpcCodes.notFound, 404],
  [grpcCodes.unimplemented, 404],
  [grpcCodes.aborted, 409],
  [grpcCodes.failedPrecondition, 412],
  [grpcCodes.resourceExhausted, 413],
  [grpcCodes.internal, 500],
  [grpcCodes.deadlineExceeded, 504],
]);

/** The code of gRPC for a status of HTTP from 400. */
export function toGrpcCode(status: number): number {
  const otherwise = status >= 500 ? grpcCodes.internal : grpcCodes.failedPrecondition;
  return codesByStatus.get(status) ?? otherwise;
}

/** The status of HTTP for a code of gRPC that came without details: 503 where the call may succeed later. */
export function toHttpStatus(code: number): number {
  return statusesByCode.get(code) ?? 503;
}

/** The messages of gRPC's rich errors, as far as they are needed: google.rpc.Status, RetryInfo, and what is in them. */
const rpcDescriptor = {
  nested: {
    Any: { fields: { type_url: { type: 'string', id: 1 }, value: { type: 'bytes', id: 2 } } },
    Status: {
      fields: {
        code: { type: 'int32', id: 1 },
        message: { type: 'string', id: 2 },
        details: { rule: 'repeated', type: 'Any', id: 3 },
      },
    },
    Duration: { fields: { seconds: { type: 'int64', id: 1 }, nanos: { type: 'int32', id: 2 } } },
    RetryInfo: { fields: { retry_delay: { type: 'Duration', id: 1 } } },
  },
};

const typeUrl = `type.googleapis.com/${protobufPackage}.Refusal`;
const retryUrl = 'type.googleapis.com/google.rpc.RetryInfo';
const retrySchema = z.object({ retryDelay: z.object({ seconds: z.int(), nanos: z.int() }) });
const detailsSchema = z.object({
  code: z.int(),
  message: z.string(),
  details: z.array(z.object({ typeUrl: z.string(), value: z.string() })),
});

/** Writes and reads the details of a status. */
export class RefusalCodec {
  readonly #rpc = new ProtobufSchema(rpcDescriptor);
  readonly #status = this.#rpc.getMessage('Status');
  readonly #retry = this.#rpc.getMessage('RetryInfo');
  readonly #refusal = new ProtobufSchema().getMessage(`${protobufPackage}.Refusal`);

  /** The details of a status. */
  encode(code: number, { retryAfterSeconds: seconds, ...refusal }: Refusal): Buffer {
    const details = [{ typeUrl, value: this.#refusal.encode(refusal).toString('base64') }];
    if (seconds !== undefined) {
      const value = this.#retry.encode({ retryDelay: { seconds } }).toString('base64');
      details.push({ typeUrl: retryUrl, value });
    }
    return this.#status.encode({ code, message: refusal.message, details });
  }

  /** The refusal in such details, also of an intermediary that says no more than gRPC has; undefined where they cannot be read. */
  decode(details: Uint8Array): Refusal | undefined {
    try {
      const { code, message, details: parts } = detailsSchema.parse(this.#status.decode(details));
      const find = (url: string): Buffer | undefined => {
        const part = parts.find((each) => each.typeUrl === url);
        return part && Buffer.from(part.value, 'base64');
      };
      const [own, retry] = [find(typeUrl), find(retryUrl)];
      const refusal = own && refusalSchema.parse(this.#refusal.decode(own));
      return {
        ...(refusal ?? { status: toHttpStatus(code), message }),
        ...(retry && { retryAfterSeconds: this.#readRetry(retry) }),
      };
    } catch {
      return undefined;
    }
  }

  /** @returns whole seconds, as `Retry-After` has them */
  #readRetry(bytes: Buffer): number {
    const { seconds, nanos } = retrySchema.parse(this.#retry.decode(bytes)).retryDelay;
    return seconds + Math.ceil(nanos / 1e9);
  }
}
