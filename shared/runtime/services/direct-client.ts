import type { Endpoints } from '../config.ts';

/** A request of the AWS SDK, as far as a service in this process looks at it. */
export interface DirectRequest {
  /** By names in lower case. */
  readonly headers: { readonly [name: string]: string };
  /** Text or bytes. */
  readonly body?: unknown;
}

/** An answer as the SDK takes it. */
export interface DirectResponse {
  readonly statusCode: number;
  readonly headers: { [name: string]: string };
  readonly body: Uint8Array;
}

/** What the SDK says of one try. */
export interface DirectTry {
  readonly abortSignal?: AbortSignal;
  /** Milliseconds it may take. */
  readonly requestTimeout?: number;
}

/** What the SDK has requests sent by. */
export type DirectHandler = {
  readonly metadata: { readonly handlerProtocol: string };
  handle(request: DirectRequest, options?: DirectTry): Promise<{ response: DirectResponse }>;
  destroy(): void;
};

/** How a client of an AWS service sends where the service stands in this process: without a network, and so without signatures. */
export interface DirectClientOptions {
  readonly requestHandler: DirectHandler;
  readonly httpAuthSchemes: {
    readonly schemeId: 'aws.auth#sigv4';
    identityProvider(): () => Promise<object>;
    readonly signer: { sign<R>(request: R): Promise<R> };
  }[];
}

/**
 * The AWS services that stand in the process of an installation. Those that are missing are reached over the network.
 *
 * Each makes a client's options, given how many milliseconds a try may take.
 */
export type DirectServices = {
  readonly [service in keyof Endpoints]?: (tryMs: number) => DirectClientOptions;
};
