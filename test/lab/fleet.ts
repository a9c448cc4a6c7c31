import { writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FunctionsMessage } from './functions-main.ts';
import { type ClockStep, drawClockOffset, processCount } from './plan.ts';
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
      ...{ starts: 1, stepMs: 0 },
      running: await startMember(options, { process, start: 0, stepMs: 0 }),
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
      const { starts: start, stepMs } = member;
      member.running = await startMember(this.#options, { process, start, stepMs });
      member.starts += 1;
    });
    await this.#changing;
  }

  /** Sets the clock of a process, and of those that take its place, and sets it back after a while. */
  async stepClock({ process, byMs, ms }: ClockStep): Promise<void> {
    await this.#setClock(process, byMs);
    await sleep(ms);
    await this.#setClock(process, 0);
  }

  async #setClock(process: number, stepMs: number): Promise<void> {
    const member = this.#members[process];
    if (member === undefined) return;
    this.#changing = this.#changing.then(async () => {
      const { starts, running } = member;
      member.stepMs = stepMs;
      await writeClock(this.#options, { process, start: starts - 1, stepMs });
      running.rereadClock();
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
  /** By how much its clock was set, milliseconds. */
  stepMs: number;
}

/** The n-th process in a place whose clock was set by so many milliseconds. */
interface MemberPlace {
  readonly process: number;
  readonly start: number;
  readonly stepMs: number;
}

async function startMember(options: FleetOptions, place: MemberPlace): Promise<LabProcess<FunctionsMessage>> {
  const { scheduleSeconds, environments, logDir } = options;
  const clockFile = await writeClock(options, place);
  return startLabProcess<FunctionsMessage>({
    module: 'functions-main.ts',
    args: [String(scheduleSeconds)],
    env: environments[place.process] ?? {},
    logFile: `${logDir}/functions-${place.process}.log`,
    clockFile,
  });
}

/** @returns the file that says by how much the clock is off */
async function writeClock({ seed, logDir }: FleetOptions, place: MemberPlace): Promise<string> {
  const file = `${logDir}/clock-${place.process}`;
  await writeFile(file, String(drawClockOffset(seed, place) + place.stepMs));
  return file;
}
