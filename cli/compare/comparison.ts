import type { Command } from 'commander';
import { mapConcurrently } from '#core/concurrency.ts';
import { isJsonObject, isWithinDepth, type JsonValue } from '#core/json.ts';
import { ApiClient } from '../api-client.ts';
import { ApiError, CliError } from '../cli-error.ts';
import { type CliContext, isJsonWanted, openClient } from '../context.ts';
import { readSmallFile } from '../small-file.ts';
import { printTable } from '../table.ts';
import type { Style } from '../terminal.ts';
import { type Difference, findDifferences, pickAccount } from './differences.ts';
import {
  listAccountReads,
  listApplicationNames,
  listApplicationReads,
  listObjectReads,
  parseReads,
  type Read,
} from './reads.ts';

/** What to compare with, and how much. */
export interface ComparisonOptions {
  /** URL of the other Clouddriver. */
  readonly with: string;
  /** File of recorded reads. Default: what Spinnaker's services ask. */
  readonly requests?: string;
  /** Objects of each list that are read one by one, a number. */
  readonly objects: string;
}

/** What came of a read on both sides. */
interface ComparedRead extends Read {
  /** `known`: only differences that are meant to be. */
  readonly state: 'same' | 'known' | 'different' | 'failed';
  readonly differences: readonly Difference[];
  /** What each side answered, where it failed. */
  readonly found?: string;
}

/** A side's answer. */
type Side = { readonly value: JsonValue | undefined } | { readonly failure: string };

/** Reads at a time. */
const concurrency = 4;

/** Reads of one comparison. */
export const readsMax = 10_000;

/** Levels of an answer that are compared. */
const levelsMax = 100;

const styles: { readonly [state in ComparedRead['state']]: Style } = {
  same: 'green',
  known: 'yellow',
  different: 'red',
  failed: 'red',
};

/** Compares what both Clouddrivers say of an account, and prints it. @returns the exit code: 1 where something differs that should not */
export async function compareSides(
  context: CliContext,
  { account, ...options }: ComparisonOptions & { readonly account: string },
  command: Command,
): Promise<number> {
  const { terminal, environment } = context;
  const here = openClient(context, command, { 'X-Busdriver-Upstream': 'none' });
  const { user } = command.optsWithGlobals<{ readonly user?: string }>();
  const there = new ApiClient({
    ...{ url: options.with, user, token: environment['BUSDRIVER_IMPORT_TOKEN'] || undefined },
    nextIfSilent: 'name where the Clouddriver answers by --with',
  });
  const given = options.requests && parseReads((await readSmallFile(options.requests)).toString());
  const comparison = new Comparison([here, there], account);
  await terminal.wait(
    () => `${comparison.rows.length} reads are compared`,
    async () => void (await (given ? comparison.read(given) : comparison.readAll(Number(options.objects)))),
  );
  const rows = comparison.rows;
  if (isJsonWanted(command)) terminal.printJson(rows);
  else {
    printTable(terminal, {
      headings: ['CLIENT', 'READ', 'STATE', 'FOUND'],
      rows: rows.map((row) => [
        row.client,
        row.path,
        { text: row.state, style: styles[row.state] },
        describe(row),
      ]),
    });
  }
  const wrong = rows.filter(({ state }) => state === 'different' || state === 'failed').length;
  terminal.tell(`${rows.length} reads, ${wrong} of them with differences that are not known`);
  return wrong > 0 || rows.length === 0 ? 1 : 0;
}

/** Reads on both sides, and what came of them. */
class Comparison {
  readonly rows: ComparedRead[] = [];
  readonly #sides: readonly [ApiClient, ApiClient];
  readonly #account: string;

  constructor(sides: readonly [ApiClient, ApiClient], account: string) {
    this.#sides = sides;
    this.#account = account;
  }

  /** What Spinnaker's services ask. @param objects of each list at most */
  async readAll(objects: number): Promise<void> {
    const answers = await this.read(listAccountReads(this.#account));
    const isKnown = answers.some(({ client, values }) => client === 'Deck' && values.some(isJsonObject));
    if (!isKnown) throw new CliError(`no side has an account '${this.#account}' that you may read`);
    const applications = listApplicationNames(
      answers.filter(({ path }) => path.startsWith('/applications?')).flatMap(({ values }) => values),
    );
    const reads = applications.flatMap((name) => listApplicationReads(this.#account, name));
    const lists = await this.read(reads);
    const found = lists.flatMap((list) =>
      list.values.flatMap((value) => listObjectReads(list, value, objects)),
    );
    await this.read([...new Map(found.map((read) => [read.path, read])).values()]);
  }

  /** Asks both sides. @throws CliError for more reads than one comparison takes, and where a side answers nothing at all */
  async read(
    reads: readonly Read[],
  ): Promise<readonly (Read & { readonly values: readonly (JsonValue | undefined)[] })[]> {
    if (this.rows.length + reads.length > readsMax)
      throw new CliError(`there are more than ${readsMax} reads: give fewer by --requests`);
    return mapConcurrently(reads, concurrency, async (read) => {
      const [here, there] = await Promise.all(this.#sides.map((side) => this.#ask(side, read.path)));
      if (here === undefined || there === undefined) throw new CliError('there are two sides');
      this.rows.push({ ...read, ...this.#compare(read.path, here, there) });
      return { ...read, values: [here, there].map((side) => ('value' in side ? side.value : undefined)) };
    });
  }

  async #ask(client: ApiClient, path: string): Promise<Side> {
    try {
      const value = pickAccount(path, await client.get(path), this.#account);
      return value === undefined || isWithinDepth(value, levelsMax)
        ? { value }
        : { failure: `more than ${levelsMax} levels` };
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      return { failure: String(error.status) };
    }
  }

  #compare(path: string, here: Side, there: Side): Omit<ComparedRead, keyof Read> {
    const [one, other] = [here, there].map((side) => ('failure' in side ? side.failure : '200'));
    if (one !== '200' || other !== '200') {
      const state = one === other ? 'same' : 'failed';
      return { state, differences: [], found: `${one} here, ${other} there` };
    }
    const pair = {
      here: 'value' in here ? here.value : undefined,
      there: 'value' in there ? there.value : undefined,
    };
    const differences = findDifferences(path, pair);
    const isKnown = differences.every(({ reason }) => reason !== undefined);
    return { state: differences.length === 0 ? 'same' : isKnown ? 'known' : 'different', differences };
  }
}

/** Differences that are shown of a read in the table. */
const shownMax = 3;

/** Those that are not known come first. */
function describe({ differences, found }: ComparedRead): string {
  const sorted = differences.toSorted(
    (one, other) => Number(one.reason !== undefined) - Number(other.reason !== undefined),
  );
  const shown = sorted.slice(0, shownMax).map(({ at, found: what, reason }) => {
    const text = `${at || 'the answer'} ${what}`;
    return reason === undefined ? text : `${text} (${reason})`;
  });
  const more = differences.length - shown.length;
  return found ?? [...shown, ...(more > 0 ? [`${more} more`] : [])].join('; ');
}
