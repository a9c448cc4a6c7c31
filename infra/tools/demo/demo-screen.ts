import { stripVTControlCharacters, styleText } from 'node:util';
import type { Environment } from '#platform/config.ts';

/** Where the screen writes: `process.stdout`, in tests a stream of theirs. */
export interface ScreenStream {
  write(text: string): unknown;
  readonly isTTY?: boolean;
  /** Width of the terminal in characters. */
  readonly columns?: number;
}

/** One line that tells how something goes. */
export interface ScreenRow {
  /** Tells what is waited for. */
  wait(note: string): void;
  /** It went well. */
  succeed(note: string): void;
  /** It went wrong. */
  fail(note: string): void;
}

interface RowState {
  readonly title: string;
  note: string;
  mark: keyof typeof marks;
}

const marks = {
  busy: { plain: '..', live: '', color: 'cyan' },
  done: { plain: 'ok', live: '✔', color: 'green' },
  failed: { plain: 'FAILED', live: '✖', color: 'red' },
} as const;

const spinner = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const frameMs = 80;

/** Width of the column of titles, in characters. */
const titleWidth = 36;

const hideCursor = '\u001b[?25l';
const showCursor = '\u001b[?25h';

/**
 * The view of the demo. On a terminal, rows that are not at their end are drawn again and again below the lines that
 * are; elsewhere, and with `NO_COLOR`, each change is a plain line.
 */
export class Screen implements Disposable {
  readonly #stream: ScreenStream;
  readonly #isLive: boolean;
  #rows: RowState[] = [];
  /** Lines of the terminal that the next drawing replaces. */
  #drawnLines = 0;
  #frame = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(stream: ScreenStream, environment: Environment) {
    this.#stream = stream;
    this.#isLive = stream.isTTY === true && !environment['NO_COLOR'] && environment['TERM'] !== 'dumb';
  }

  /** Writes a line that stays. */
  print(line = ''): void {
    this.#erase();
    this.#write(`${line}\n`);
    this.#draw();
  }

  /** Text that stands out less. */
  dim(text: string): string {
    return this.#style('dim', text);
  }

  /** Adds a row below the others. */
  addRow(title: string, note = ''): ScreenRow {
    const row: RowState = { title, note: '', mark: 'busy' };
    this.#rows.push(row);
    this.#startTimer();
    const change = (mark: RowState['mark'], text: string): void => this.#change(row, { mark, note: text });
    if (note !== '') change('busy', note);
    return {
      wait: (text) => change('busy', text),
      succeed: (text) => change('done', text),
      fail: (text) => change('failed', text),
    };
  }

  /** Ends the drawing; rows that are not at their end stay as they are. */
  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    if (this.#timer !== undefined) this.#write(showCursor);
    this.#timer = undefined;
  }

  #change(row: RowState, { mark, note }: Pick<RowState, 'mark' | 'note'>): void {
    if (row.mark === mark && row.note === note) return;
    row.mark = mark;
    row.note = note;
    if (this.#isLive) this.#redraw();
    else this.#write(`${formatPlainRow(row)}\n`);
  }

  #startTimer(): void {
    if (!this.#isLive || this.#timer !== undefined) return;
    this.#write(hideCursor);
    this.#timer = setInterval(() => {
      this.#frame += 1;
      this.#redraw();
    }, frameMs);
    this.#timer.unref();
  }

  #redraw(): void {
    this.#erase();
    this.#draw();
  }

  #erase(): void {
    if (this.#drawnLines > 0) this.#write(`\u001b[${this.#drawnLines}A\u001b[J`);
    this.#drawnLines = 0;
  }

  /** Rows at their end that have none before them in work become lines that stay. */
  #draw(): void {
    if (!this.#isLive) return;
    const firstBusy = this.#rows.findIndex(({ mark }) => mark === 'busy');
    const ended = this.#rows.splice(0, firstBusy === -1 ? this.#rows.length : firstBusy);
    for (const row of [...ended, ...this.#rows]) this.#write(`${this.#formatRow(row)}\n`);
    this.#drawnLines = this.#rows.length;
  }

  /** A line that never wraps: it would take two lines of the terminal, and only one would be erased. */
  #formatRow({ title, note, mark }: RowState): string {
    const { live, color } = marks[mark];
    const sign = live || (spinner[this.#frame % spinner.length] ?? '');
    const width = (this.#stream.columns || 80) - 1;
    const text = `${title.padEnd(titleWidth)} ${stripVTControlCharacters(note)}`.slice(0, width - 2);
    const shownTitle = text.slice(0, titleWidth);
    return `${this.#style(color, sign)} ${shownTitle}${this.dim(text.slice(titleWidth))}`;
  }

  #style(format: Parameters<typeof styleText>[0], text: string): string {
    return this.#isLive ? styleText(format, text, { validateStream: false }) : text;
  }

  #write(text: string): void {
    this.#stream.write(text);
  }
}

function formatPlainRow({ title, note, mark }: RowState): string {
  return `${marks[mark].plain} ${title}${note === '' ? '' : `: ${note}`}`;
}
