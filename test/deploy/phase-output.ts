import { closeSync, openSync, writeSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { stripVTControlCharacters } from 'node:util';

/** Longest part of a line that a progress report quotes, in characters. */
const quoteMax = 90;

/**
 * What a phase writes. Phases run side by side: each writes into a file of its own, which is printed whole when the phase is over.
 */
export interface PhaseOutput extends Disposable {
  /** For the output of programs that the phase starts. */
  readonly descriptor: number;
  /** Adds a line. */
  write(line: string): void;
  /** Everything that was written so far. */
  readAll(): Promise<string>;
  /** The last line that says anything, without colours and shortened; empty when there is none. */
  readLastLine(): Promise<string>;
}

/** Opens it with a file that is not there yet. Disposing closes the file and leaves it there. */
export function openPhaseOutput(file: string): PhaseOutput {
  const descriptor = openSync(file, 'ax');
  const readAll = () => readFile(file, 'utf8');
  return {
    descriptor,
    readAll,
    write: (line) => void writeSync(descriptor, `${line}\n`),
    readLastLine: async () => findLastLine(await readAll()),
    [Symbol.dispose]: () => closeSync(descriptor),
  };
}

/** The last line of a text that has more than colours and white space, without colours and shortened; empty when there is none. */
function findLastLine(text: string): string {
  const lines = stripVTControlCharacters(text).split('\n');
  const last = lines.findLast((line) => line.trim() !== '') ?? '';
  return last.trim().slice(0, quoteMax);
}
