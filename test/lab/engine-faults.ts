import { createHash } from 'node:crypto';
import { cacheTable } from '#platform/aws/tables.ts';
import {
  type EngineCall,
  type EngineService,
  findBatch,
  findPartition,
  toPartition,
  writes,
} from './engine-call.ts';

/** What goes wrong with one call of an engine. */
export type EngineFault =
  /** It takes longer. */
  | { readonly type: 'delay'; readonly ms: number }
  /** The connection breaks before the engine learns of the call. */
  | { readonly type: 'lost call' }
  /** The engine has done it, and the connection breaks in place of the answer. */
  | { readonly type: 'lost answer' }
  /** The connection breaks at once, and the engine does it later all the same. */
  | { readonly type: 'late execution'; readonly ms: number }
  /** It is refused, since there are too many. */
  | { readonly type: 'throttle' }
  /** The engine answers that it failed. */
  | { readonly type: 'error' }
  /** Of a batch every second part is done, and the others are refused. */
  | { readonly type: 'part of a batch' };

/** A time in which a service answers nobody, in milliseconds since the faults began. */
export interface Silence {
  readonly service: EngineService;
  /** Calls hang, or are refused. */
  readonly mode: 'hangs' | 'refuses';
  readonly fromMs: number;
  readonly toMs: number;
}

export interface EngineFaultsOptions {
  readonly seed: number;
  /** Of the calls, from 0 to 1. */
  readonly share: number;
  readonly silences: readonly Silence[];
}

const singleFaults: readonly EngineFault[] = [
  { type: 'lost call' },
  { type: 'lost answer' },
  { type: 'lost answer' },
  { type: 'late execution', ms: 1_500 },
  { type: 'throttle' },
  { type: 'error' },
  { type: 'delay', ms: 100 },
  { type: 'delay', ms: 1_000 },
];

const batchFaults: readonly EngineFault[] = [
  ...singleFaults,
  { type: 'throttle' },
  { type: 'throttle' },
  { type: 'part of a batch' },
  { type: 'part of a batch' },
];

/** How the names of accounts begin half of whose writes are refused as long as there are any: their first fills must end all the same. */
export const fillPrefix = 'filled-';

/** What such refusals are counted as. */
export const refusedFills = 'dynamodb: write of a first fill refused';

/**
 * Decides what goes wrong with the calls of the engines. What happens to the n-th call of an action follows from the seed, in
 * whatever order calls come.
 */
export class EngineFaults {
  readonly #options: EngineFaultsOptions;
  readonly #turns = new Map<string, number>();
  readonly #counts = new Map<string, number>();
  /** By `performance.now()`; undefined while nothing goes wrong. */
  #beganAtMs: number | undefined;
  constructor(options: EngineFaultsOptions) {
    this.#options = options;
  }

  begin(): void {
    this.#beganAtMs = performance.now();
  }

  end(): void {
    this.#beganAtMs = undefined;
  }

  draw(call: EngineCall): EngineFault | undefined {
    if (this.#refusesFill(call)) return { type: 'throttle' };
    if (this.#beganAtMs === undefined) return undefined;
    const position = this.#drawPosition(`${call.service} ${call.action}`) / this.#options.share;
    if (position >= 1) return undefined;
    const faults = findBatch(call) === undefined ? singleFaults : batchFaults;
    const fault = faults[Math.floor(position * faults.length)];
    if (fault !== undefined) this.count(`${call.service}: ${fault.type}`);
    return fault;
  }

  #refusesFill(call: EngineCall): boolean {
    const partition = writes.has(call.action) ? findPartition(call) : undefined;
    if (partition === undefined) return false;
    const isFill =
      partition.startsWith(toPartition(cacheTable.name, '')) && partition.includes(`#${fillPrefix}`);
    if (!isFill || this.#drawPosition('fill') >= 0.5) return false;
    this.count(refusedFills);
    return true;
  }

  /** From 0 to 1, by the seed and how often it was asked about this. */
  #drawPosition(about: string): number {
    const turn = (this.#turns.get(about) ?? 0) + 1;
    this.#turns.set(about, turn);
    const hash = createHash('sha256').update(`${this.#options.seed} ${about} ${turn}`).digest();
    return hash.readUInt32BE() / 2 ** 32;
  }

  /** How a service is silent at the moment, and for how many milliseconds more; undefined while it answers. */
  findSilence(
    service: EngineService,
  ): { readonly mode: Silence['mode']; readonly leftMs: number } | undefined {
    if (this.#beganAtMs === undefined) return undefined;
    const nowMs = performance.now() - this.#beganAtMs;
    const silence = this.#options.silences.find(
      (one) => one.service === service && one.fromMs <= nowMs && nowMs < one.toMs,
    );
    return silence && { mode: silence.mode, leftMs: silence.toMs - nowMs };
  }

  count(what: string): void {
    this.#counts.set(what, (this.#counts.get(what) ?? 0) + 1);
  }

  get counts(): ReadonlyMap<string, number> {
    return this.#counts;
  }
}
