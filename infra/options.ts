import { existsSync } from 'node:fs';
import path from 'node:path';
import { Command, CommanderError, Option } from 'commander';
import { getErrorMessage } from '#core/errors.ts';
import { findNearName } from '#core/near-name.ts';
import { type LogLevel, readEnvironment } from '#platform/config.ts';

/** The command line is wrong; the message names the option, and what is expected. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** Turns the text of an option into what it means. `flag` is such as `--port`. @throws UsageError */
export type Parse<T> = (text: string, flag: string) => T;

/** An option, and what it is where it is not given. */
export class TypedOption<T> extends Option {
  readonly usual: T;

  constructor(flags: string, help: string, usual: T) {
    super(flags, help);
    this.usual = usual;
    this.default(usual);
  }
}

/** A program's options, by the names of what they become. */
export interface OptionTable {
  readonly [name: string]: TypedOption<unknown>;
}

/** What a command line becomes. */
export type Values<Table extends OptionTable> = { readonly help: boolean } & {
  readonly [Name in keyof Table]: Table[Name]['usual'];
};

/** A program and its options, to which `--help` is added. */
export interface Program<Table extends OptionTable = OptionTable> {
  /** What calls it, such as `npm start --`. */
  readonly name: string;
  /** Above its options in the help, wrapped there. */
  readonly about: string;
  readonly options: Table;
  /** Below its options, line by line. */
  readonly notes?: readonly string[];
}

/** An option with a value. Behind its flags is what it is where it is not given: `--port <PORT>=7002`. */
export function one<T>(flags: string, help: string, parse: Parse<T>): TypedOption<T> {
  const [, shown = '', usual = ''] = /^(.+>)=(.*)$/.exec(flags) ?? [];
  const flag = getFlag(flags);
  const option = new TypedOption(shown, `${help} (default ${usual})`, parse(usual, flag));
  return option.argParser((text) => parse(text, flag));
}

/** An option with a value, which is undefined where it is not given. */
export function optional<T>(flags: string, help: string, parse: Parse<T>): TypedOption<T | undefined> {
  const flag = getFlag(flags);
  return new TypedOption<T | undefined>(flags, help, undefined).argParser((text) => parse(text, flag));
}

/** An option with a value that may be given again and again. */
export function many<T>(flags: string, help: string, parse: Parse<T>): TypedOption<readonly T[]> {
  const flag = getFlag(flags);
  const option = new TypedOption<readonly T[]>(flags, `${help} (repeatable)`, []);
  return option.argParser((text, earlier: readonly T[]) => [...earlier, parse(text, flag)]);
}

/** An option without a value: whether it is given, or with `--no-` in its name whether it is not. */
export function toggle(flag: string, help: string): TypedOption<boolean> {
  return new TypedOption(flag, help, flag.startsWith('--no-'));
}

/** What options take. */
export const read = {
  /** Any text. */
  text: (text: string) => text,
  /** A whole number within bounds. `expected` is how the message goes on behind the option. */
  number:
    (least: number, most: number, expected = ': expected a whole number'): Parse<number> =>
    (text, flag) => {
      const value = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
      if (value >= least && value <= most) return value;
      throw new UsageError(`${flag}${expected} from ${least} to ${most}, not '${text}'`);
    },
  /** A port to listen on; 0 is any free one. */
  port: (text: string, flag: string) => read.number(0, 65_535, ' must be a number')(text, flag),
  /** One of some words. */
  oneOf:
    <T extends string>(...known: readonly T[]): Parse<T> =>
    (text, flag) => {
      const word = known.find((each) => each === text);
      if (word !== undefined) return word;
      const words = known.join(', ').replace(/, (\w+)$/, ' or $1');
      throw new UsageError(`${flag} must be ${words}, not '${text}'`);
    },
  /** Some of some words, with commas between, in the order of `known`. */
  someOf:
    <T extends string>(known: readonly T[]): Parse<readonly T[]> =>
    (text, flag) => {
      const words = text.split(',');
      const unknown = words.find((word) => !known.some((each) => each === word));
      if (unknown === undefined) return known.filter((each) => words.includes(each));
      throw new UsageError(`${flag}: expected some of ${known.join(', ')}, not '${unknown}'`);
    },
  /** A level of the log. */
  logLevel(text: string, flag: string): LogLevel {
    const levels = { debug: 'DEBUG', info: 'INFO', warn: 'WARN', error: 'ERROR', silent: 'SILENT' } as const;
    return levels[read.oneOf('debug', 'info', 'warn', 'error', 'silent')(text.toLowerCase(), flag)];
  },
  /** An address or a name of a host. */
  host(text: string, flag: string): string {
    if (/^[\w.:[\]-]+$/.test(text)) return text;
    throw new UsageError(`${flag} must be an address or a name, such as 127.0.0.1, not '${text}'`);
  },
  /** A file or folder that there is, as an absolute path. */
  file(text: string, flag: string): string {
    if (existsSync(text)) return path.resolve(text);
    throw new UsageError(`${flag}: there is no file '${text}'`);
  },
};

/** Reads a command line. @param args without the program's own name @throws UsageError naming the option and what it takes */
export function parseOptions<Table extends OptionTable>(
  program: Program<Table>,
  args: readonly string[],
): Values<Table> {
  const command = buildCommand(program);
  for (const [index, arg] of args.entries()) {
    if (!command.options.some(({ short, long, required }) => required && [short, long].includes(arg)))
      continue;
    // commander would take the next option for the value of one that was forgotten.
    const next = args[index + 1];
    if (next === undefined) throw new UsageError(`${arg}: expected a value`);
    if (/^-./.test(next)) throw new UsageError(`${arg}: expected a value; ${arg}=${next} if that is one`);
  }
  try {
    return command.parse(args, { from: 'user' }).opts<Values<Table>>();
  } catch (error) {
    if (error instanceof CommanderError) throw new UsageError(describe(error, command));
    throw error;
  }
}

/** The help of a program, without a line end. */
export function formatHelp(program: Program): string {
  return toCalled([buildCommand(program).helpInformation().trimEnd(), ...(program.notes ?? [])].join('\n'));
}

/** Names programs as they were called: `busdriver start` of the launcher in the place of npm's script. */
function toCalled(text: string): string {
  const { LAUNCHER, npm_lifecycle_event: script = '' } = readEnvironment();
  if (!LAUNCHER || ['start', 'demo'].includes(script)) return text;
  return text.replaceAll(/npm (?:run (demo)|start)(?: --)?/g, (_, demo = 'start') => `busdriver ${demo}`);
}

/**
 * Runs a program: prints its help where that is asked for. Where it fails it prints why, and sets the exit code.
 *
 * @param parse reads the command line. @throws UsageError
 */
export async function runProgram<Given extends { readonly help: boolean }>(
  program: Program,
  parse: (args: readonly string[]) => Given,
  run: (given: Given) => Promise<void> | void,
): Promise<void> {
  try {
    const given = parse(process.argv.slice(2));
    if (given.help) console.log(formatHelp(program));
    else await run(given);
  } catch (error) {
    process.exitCode = explainFailure(error, program);
  }
}

/** Prints why a program did not run. @returns its exit code: 2 for a wrong command line, else 1 */
export function explainFailure(error: unknown, { name }: Program): number {
  console.error(getMessage(error));
  if (!(error instanceof UsageError)) return 1;
  console.error(toCalled(`Try '${name} --help'.`));
  return 2;
}

/** Cleaning up after a failure may fail, too: then both are told. */
function getMessage(error: unknown): string {
  if (!(error instanceof SuppressedError)) return getErrorMessage(error);
  return `${getMessage(error.suppressed)}\n${getMessage(error.error)}`;
}

/** `--context` of `-c, --context <NAME=VALUE>`. */
function getFlag(flags: string): string {
  return /--[\w-]+/.exec(flags)?.[0] ?? flags;
}

function buildCommand({ name, about, options }: Program): Command {
  const command = new Command(name)
    .usage('[options]')
    .description(about)
    .helpOption(false)
    .configureHelp({ helpWidth: 120, optionDescription: ({ description }) => description })
    .configureOutput({ writeErr: () => undefined })
    .exitOverride();
  const all = { ...options, help: toggle('--help', 'print this help') };
  for (const [key, option] of Object.entries(all)) {
    option.attributeName = () => key;
    command.addOption(option);
  }
  return command;
}

/** What is no option. Its value may be a secret, so it is left out. */
function describe({ message }: CommanderError, { args, options }: Command): string {
  const [, flag = ''] = /^error: unknown option '([^'=]*)/.exec(message) ?? [];
  if (flag === '') return `'${args[0]}' is no option`;
  if (options.some(({ long }) => long === flag)) return `${flag} takes no value`;
  const names = options.map(({ long = '' }) => long.slice(2));
  const near = findNearName(flag.replace(/^-+/, ''), names);
  return `Unknown option '${flag}'${near === undefined ? '' : `: did you mean --${near}?`}`;
}
