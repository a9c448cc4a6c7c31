import { appendFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import {
  type BenchReport,
  type BenchSubject,
  formatReport,
  formatRow,
  insertReport,
} from './bench-report.ts';
import type { CallTable } from './own-rows.ts';
import type { RowResult } from './rows.ts';

export interface BenchRecordOptions {
  readonly subject: BenchSubject;
  /** Gets each row as a line of JSON, below those of runs before. */
  readonly linesFile: string;
  readonly page?: string;
  tell(line: string): void;
}

/** Keeps what a run has measured: each row is in its files before the next one is measured. */
export class BenchRecord {
  readonly #options: BenchRecordOptions;
  readonly #rows: RowResult[] = [];
  #calls: CallTable = {};
  /** The page as it was before the run. */
  #before: string | undefined;

  constructor(options: BenchRecordOptions) {
    this.#options = options;
  }

  get report(): BenchReport {
    return { ...this.#options.subject, rows: this.#rows, calls: this.#calls };
  }

  /** Adds a row. @throws Error when a file cannot be written */
  async addRow(row: RowResult): Promise<void> {
    this.#rows.push(row);
    this.#options.tell(formatRow(row));
    const { commit, startedAtMs } = this.#options.subject;
    await this.#write({ commit, startedAtMs, ...row });
  }

  /** Adds numbers of calls. @throws Error when a file cannot be written */
  async addCalls(calls: CallTable): Promise<void> {
    this.#calls = { ...this.#calls, ...calls };
    const { commit, startedAtMs } = this.#options.subject;
    await this.#write({ commit, startedAtMs, calls });
  }

  async #write(line: object): Promise<void> {
    const { linesFile, page } = this.#options;
    await mkdir(path.dirname(linesFile), { recursive: true });
    await appendFile(linesFile, `${JSON.stringify(line)}\n`);
    if (page === undefined) return;
    this.#before ??= await readFile(page, 'utf8');
    await writeFile(page, insertReport(this.#before, formatReport(this.report)));
  }
}
