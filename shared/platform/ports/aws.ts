import type { JsonObject } from '#core/json.ts';

/** Whose credentials, and where they are for. */
export interface AwsIdentity {
  /** Left out, that of this process or of the profile. */
  readonly region?: string | undefined;
  /** A profile of this machine's AWS configuration, in place of the identity of this process. */
  readonly profile?: string | undefined;
  /** A role to assume first. Left out, the identity of this process is used. */
  readonly roleArn?: string | undefined;
  /** Name of the role's session, which CloudTrail and EKS' access entries show. Default `busdriver`. */
  readonly sessionName?: string | undefined;
  /** An external id that the role's trust policy may require. */
  readonly externalId?: string | undefined;
}

/** Credentials, as AWS' SDK has them. */
export interface AwsCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
  readonly expiration?: Date;
}

/**
 * A credential provider for clients of AWS' SDK. `forceRefresh` says that the last credentials were refused: remembered ones are not used.
 * It throws an Error that says what AWS refused, to whom, and what to do.
 */
export type AwsCredentialProvider = (options?: {
  readonly forceRefresh?: boolean;
}) => Promise<AwsCredentials>;

/** Who signs a request, and for which region. */
export interface AwsAccess {
  readonly region: string;
  readonly credentials: AwsCredentials;
}

/** A request to be signed by AWS' Signature Version 4. Nothing is sent. */
export interface AwsRequest {
  /** The service's name in signatures: `sts`. */
  readonly service: string;
  readonly method: string;
  /** Its path and query must be percent-encoded as the service requires. */
  readonly url: URL;
  /** They are signed, too. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** A call of a service with AWS' JSON protocol 1.1. */
export interface JsonCall {
  readonly service: string;
  /** `AmazonSSM.GetParameter` */
  readonly target: string;
  readonly input: JsonObject;
  /** Maximum bytes of the answer. */
  readonly bytesMax: number;
  /** Whether an error may include AWS' message besides its code; the message may quote the input. Default false. */
  readonly repeatsReason?: boolean;
  /** Aborts the call. */
  readonly signal?: AbortSignal;
}

/** AWS, as a plug-in reaches it: what clients of the SDK are made with, and signed requests where a client would be too large. */
export interface Aws {
  /** Options of a client for single calls: AWS answers at once, or something is wrong. */
  readonly clientOptions: {
    readonly maxAttempts: number;
    readonly requestHandler: Readonly<Record<string, unknown>>;
  };
  /** The identity's credentials, shared by all that name the same one. Default: those of this process. */
  credentials(identity?: AwsIdentity): AwsCredentialProvider;
  /** The region of an identity: its own, or that of this process or profile. @throws Error when none is known. */
  getRegion(identity?: Pick<AwsIdentity, 'region' | 'profile'>): Promise<string>;
  /** URL of a service: from the environment, as the SDK reads it, else AWS' own, to which `isPublic` keeps. */
  getEndpoint(service: string, region: string, options?: { readonly isPublic?: boolean }): string;
  /** The headers with which to send a request. */
  sign(request: AwsRequest, access: AwsAccess): Promise<Readonly<Record<string, string>>>;
  /** The query with which anybody may send a request, who must add the same headers. @param seconds its stated validity */
  presign(request: AwsRequest, access: AwsAccess, seconds: number): Promise<Readonly<Record<string, string>>>;
  /** Makes a call, once. @throws CallError for a refusal; what `fetch` throws without an answer */
  call(call: JsonCall, access: AwsAccess): Promise<JsonObject>;
}

/** A refusal by AWS; its name is AWS' code. */
export class CallError extends Error {
  /** Whether the same call may be answered a moment later. */
  readonly isPassing: boolean;

  constructor(code: string, message: string, status: number) {
    super(message);
    this.name = code;
    this.isPassing = status === 429 || status >= 500 || /throttl|slowdown|too ?many/i.test(code);
  }
}
