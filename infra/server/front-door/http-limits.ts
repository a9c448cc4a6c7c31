/** What the front door takes on at a time. Beyond it it answers 503 with `Retry-After`, at once. */
export interface FrontDoorLimits {
  /** Requests under way. */
  readonly requestsMax: number;
  /** Requests under way of one caller: `X-SPINNAKER-USER`, without it the address of its connection. */
  readonly callerRequestsMax: number;
  /** Requests under way for one account, as far as the path names it. */
  readonly accountRequestsMax: number;
  /** Of so many places each of these three one is set aside for `POST /ops` and `GET /task`: other requests get the rest. */
  readonly placesPerReserved: number;
  /** Milliseconds by which the event loop may be late, in the middle of the last second, before nothing more is taken on. */
  readonly loopDelayMaxMs: number;
  /** Requests under way of one function. Such as wait for a cluster or a host take no time of the processor. */
  readonly functionRequestsMax: number;
  /** The same of one that starts or changes tasks: each keeps the engines busy, which share the processor with all else. */
  readonly writingFunctionRequestsMax: number;
  /** The same of one that reads tasks. */
  readonly taskFunctionRequestsMax: number;
  /** Requests that wait for one of these to end. */
  readonly functionWaitingMax: number;
  /** Milliseconds after which one that still waits is refused. */
  readonly functionWaitMs: number;
  /** Requests a second of one caller, in the long run. */
  readonly callerRate: number;
  /** Requests of one caller at once, after a time without any. */
  readonly callerBurst: number;
  /** Requests a second for one account, in the long run. */
  readonly accountRate: number;
  /** Requests for one account at once, after a time without any. */
  readonly accountBurst: number;
  /** Bytes of all bodies of requests under way, but for the first {@link freeBodyBytes} of each. */
  readonly bodyBytesMax: number;
  /** The same of one caller: less, so that none takes all. */
  readonly callerBodyBytesMax: number;
  /** Bytes of each body that count nowhere: ordinary requests pass while large ones wait for room. */
  readonly freeBodyBytes: number;
  /** Bytes of a body from which on requests are handled one after the other: to parse some megabytes holds up all others. */
  readonly largeBodyBytes: number;
  /** Milliseconds between two of them, in which others are served. */
  readonly largeBodyPauseMs: number;
  /** Milliseconds after which one whose turn has not come is refused. */
  readonly largeBodyWaitMs: number;
  /** Milliseconds without a byte after which a body that has not ended is given up: 408. */
  readonly bodyIdleMs: number;
  /** Milliseconds after which a body that has not ended is given up: 408. */
  readonly bodyTimeoutMs: number;
  /** Bytes of a refused body that are read and dropped, so that its sender gets to read the answer. */
  readonly refusedBodyBytesMax: number;
  /** Milliseconds for which they are. */
  readonly refusedBodyMs: number;
  /** Callers, and accounts, whose requests a second are counted; those that are not heard of longest are forgotten. */
  readonly countedNamesMax: number;
}

/** Some times what Spinnaker asks of one machine: 200 Orca stages that poll each second, and deploys of 6 MB side by side. */
export const frontDoorLimits: FrontDoorLimits = {
  requestsMax: 1_024,
  callerRequestsMax: 512,
  accountRequestsMax: 256,
  placesPerReserved: 5,
  loopDelayMaxMs: 500,
  functionRequestsMax: 256,
  writingFunctionRequestsMax: 8,
  taskFunctionRequestsMax: 24,
  functionWaitingMax: 224,
  functionWaitMs: 1_000,
  callerRate: 5_000,
  callerBurst: 10_000,
  accountRate: 2_500,
  accountBurst: 5_000,
  bodyBytesMax: 48 << 20,
  callerBodyBytesMax: 24 << 20,
  freeBodyBytes: 64 << 10,
  largeBodyBytes: 512 << 10,
  largeBodyPauseMs: 50,
  largeBodyWaitMs: 1_000,
  bodyIdleMs: 10_000,
  bodyTimeoutMs: 30_000,
  refusedBodyBytesMax: 16 << 20,
  refusedBodyMs: 5_000,
  countedNamesMax: 10_000,
};
