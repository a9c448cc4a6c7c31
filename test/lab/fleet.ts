import { setTimeout as sleep } from 'node:timers/promises';
import type { FunctionsMessage } from './functions-main.ts';
import { drawClockOffset, processCount } from './plan.ts';
import { type LabProcess, startLabProcess } from './processes.ts';

export interface FleetOptions {
  readonly seed: number;
  /** Seconds between two runs of a scheduled function in one process. */
  readonly scheduleSeconds: number;
  /** The functions' environment, by process. */
  readonly environments: readonly { readonly [name: string]: string }[];
  readonly logDir: string;
}

/** Processes that run every function each, with clocks of their own. Disposing kills them. */
export class Fleet implements AsyncDisposable {
  readonly #options: FleetOptions;
  readonly #members: Member[];
  /** Processes change one after the other, so that on a slow machine, too, others are there meanwhile. */
  #changing: Promise<void> = Promise.resolve();

  private constructor(options: FleetOptions, members: Member[]) {
    this.#options = options;
    this.#members = members;
  }

  static async start(options: FleetOptions): Promise<Fleet> {
    const places = Array.from({ length: processCount }, (_, process) => process);
    const members = places.map(async (process) => ({
      starts: 1,
      running: await startMember(options, { process, start: 0 }),
    }));
    return new Fleet(options, await Promise.all(members));
  }

  get urls(): readonly string[] {
    return this.#members.map(({ running }) => running.first.url);
  }

  async kill(process: number): Promise<void> {
    const member = this.#members[process];
    if (member === undefined) return;
    this.#changing = this.#changing.then(async () => {
      await member.running.kill();
      member.running = await startMember(this.#options, { process, start: member.starts });
      member.starts += 1;
    });
    await this.#changing;
  }

  async freeze(process: number, ms: number): Promise<void> {
    const running = this.#members[process]?.running;
    running?.freeze();
    await sleep(ms);
    running?.thaw();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#changing;
    await Promise.all(this.#members.map(({ running }) => running.kill()));
  }
}

interface Member {
  running: LabProcess<FunctionsMessage>;
  starts: number;
}

function startMember(
  { seed, scheduleSeconds, environments, logDir }: FleetOptions,
  place: { readonly process: number; readonly start: number },
): Promise<LabProcess<FunctionsMessage>> {
  return startLabProcess<FunctionsMessage>({
    module: 'functions-main.ts',
    args: [String(scheduleSeconds)],
    env: environments[place.process] ?? {},
    logFile: `${logDir}/functions-${place.process}.log`,
    clockOffsetMs: drawClockOffset(seed, place),
  });
}
