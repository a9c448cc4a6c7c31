import { payloadBytesMax } from '#tasks/payload-limit.ts';

/**
 * What the front door takes on at a time. Beyond it it answers 503 with `Retry-After`, at once. It is some times what Spinnaker asks of
 * one machine: 200 Orca stages that poll each second, and deploys of 6 MB side by side.
 */
export const frontDoorLimits = {
  /** Requests under way. */
  requestsMax: 1_024,
  /** Requests under way of one caller: `X-SPINNAKER-USER`, without it the address of its connection. */
  callerRequestsMax: 512,
  /** Requests under way for one account, as far as the path names it. */
  accountRequestsMax: 256,
  /** Of so many places each of these three one is set aside for `POST /ops` and `GET /task`: other requests get the rest. */
  placesPerReserved: 5,
  /** Milliseconds by which the event loop may be late, in the middle of the last second, before nothing more is taken on. */
  loopDelayMaxMs: 500,
  /** Requests under way of one function. Such as wait for a cluster or a host take no time of the processor. */
  functionRequestsMax: 256,
  /** The same of one that starts or changes tasks: each keeps the engines busy, which share the processor with all else. */
  writingFunctionRequestsMax: 8,
  /** The same of one that reads tasks. */
  taskFunctionRequestsMax: 24,
  /** Requests that wait for one of these to end. */
  functionWaitingMax: 224,
  /** Milliseconds after which one that still waits is refused. */
  functionWaitMs: 1_000,
  /** Requests a second of one caller, in the long run. */
  callerRate: 5_000,
  /** Requests of one caller at once, after a time without any. */
  callerBurst: 10_000,
  /** Requests a second for one account, in the long run. */
  accountRate: 2_500,
  /** Requests for one account at once, after a time without any. */
  accountBurst: 5_000,
  /** Bytes of a request as an event's JSON: as in Lambda, unless the home has none before or behind it. */
  requestBytesMax: payloadBytesMax,
  /** Bytes of all bodies of requests under way, but for the first `freeBodyBytes` of each. */
  bodyBytesMax: 48 << 20,
  /** The same of one caller: less, so that none takes all. */
  callerBodyBytesMax: 24 << 20,
  /** Bytes of each body that count nowhere: ordinary requests pass while large ones wait for room. */
  freeBodyBytes: 64 << 10,
  /** Bytes of a body from which on requests are handled one after the other: to parse some megabytes holds up all others. */
  largeBodyBytes: 512 << 10,
  /** Milliseconds between two of them, in which others are served. */
  largeBodyPauseMs: 50,
  /** Milliseconds after which one whose turn has not come is refused. */
  largeBodyWaitMs: 1_000,
  /** Milliseconds without a byte after which a body that has not ended is given up: 408. */
  bodyIdleMs: 10_000,
  /** Milliseconds after which a body that has not ended is given up: 408. */
  bodyTimeoutMs: 30_000,
  /** Bytes of a refused body that are read and dropped, so that its sender gets to read the answer. */
  refusedBodyBytesMax: 16 << 20,
  /** Milliseconds for which they are. */
  refusedBodyMs: 5_000,
  /** Callers, and accounts, whose requests a second are counted; those that are not heard of longest are forgotten. */
  countedNamesMax: 10_000,
};

/** Limits of the same names. */
export type FrontDoorLimits = Readonly<typeof frontDoorLimits>;
