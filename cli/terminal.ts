import { stripVTControlCharacters, styleText } from 'node:util';

/** Styles that commands use. */
export type Style = 'bold' | 'dim' | 'green' | 'yellow' | 'red';

/** Milliseconds after which a waiting user sees what for. */
const quietMs = 1_000;
/** Milliseconds between two looks of a line that moves. */
const frameMs = 120;
const frames = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const clearLine = '\r\u001b[K';

/** Output of commands: results to standard output, all else to standard error. */
export class Terminal {
  readonly #stdout: NodeJS.WriteStream;
  readonly #stderr: NodeJS.WriteStream;

  constructor(stdout: NodeJS.WriteStream = process.stdout, stderr: NodeJS.WriteStream = process.stderr) {
    this.#stdout = stdout;
    this.#stderr = stderr;
  }

  /** Characters of a line of standard output; undefined where it is no terminal. */
  get columns(): number | undefined {
    return this.#stdout.isTTY ? this.#stdout.columns : undefined;
  }

  /** Writes a line to standard output. */
  print(line: string): void {
    this.#stdout.write(`${line}\n`);
  }

  /** Writes a value to standard output as JSON. */
  printJson(value: unknown): void {
    const text = JSON.stringify(value, undefined, 2);
    // JSON keeps what some terminals take for the beginning of a command.
    const toEscape = (char: string) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;
    this.print(text.replaceAll(/[\u007f-\u009f]/g, toEscape));
  }

  /** Writes a line to standard error. */
  tell(line: string): void {
    this.#stderr.write(`${line}\n`);
  }

  /** Text for standard output in a style, which it has on terminals alone, and not with `NO_COLOR`. */
  style(style: Style, text: string): string {
    return styleText(style, text, { stream: this.#stdout });
  }

  /** As `style`, for standard error. */
  styleTold(style: Style, text: string): string {
    return styleText(style, text, { stream: this.#stderr });
  }

  /**
   * Does something, and says on standard error what it waits for once that takes longer than a second: by a line that moves on a
   * terminal, by a plain one elsewhere.
   *
   * @param describe what is waited for, called whenever it is shown
   */
  async wait<T>(describe: () => string, work: () => Promise<T>): Promise<T> {
    let frame = 0;
    let timer: NodeJS.Timeout | undefined;
    const draw = () => {
      this.#stderr.write(`${clearLine}${frames[frame % frames.length]} ${toLine(describe())}`);
      frame += 1;
    };
    const start = () => {
      if (!this.#stderr.isTTY) return this.tell(`${toLine(describe())} …`);
      draw();
      timer = setInterval(draw, frameMs);
    };
    timer = setTimeout(start, quietMs);
    try {
      return await work();
    } finally {
      clearTimeout(timer);
      if (frame > 0) this.#stderr.write(clearLine);
    }
  }
}

/** A text from outside as one line without meaning for a terminal: without escape sequences and control characters. */
export function toLine(text: string): string {
  return stripVTControlCharacters(text)
    .replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, ' ')
    .trim();
}
