import { describe, expect, it } from 'vitest';
import { Screen } from '#infra/tools/demo/demo-screen.ts';
import type { Environment } from '#platform/config.ts';

describe('Screen on a terminal', () => {
  it('draws rows in work again below the lines that stay', () => {
    const terminal = new Terminal();
    using screen = new Screen(terminal, {});
    const task = screen.addRow('task', 'waiting');
    const rollout = screen.addRow('deployment web', '0 of 3');

    screen.print('a line of history');
    rollout.wait('2 of 3');
    task.succeed('completed');
    screen.print('another line');

    expect(terminal.show()).toEqual([
      'a line of history',
      expect.stringMatching(/^✔ task +completed$/),
      'another line',
      expect.stringMatching(/^. deployment web +2 of 3$/),
    ]);
  });

  it('never lets a row wrap, whatever its note', () => {
    const terminal = new Terminal();
    using screen = new Screen(terminal, {});

    screen.addRow('deployment web', `${'a long reason '.repeat(20)}\u001b[31mwith colours`);

    const rows = terminal.show();
    expect(rows).toHaveLength(1);
    expect(rows[0]?.length).toBeLessThan(terminal.columns);
  });

  it('shows the cursor again at its end', () => {
    const terminal = new Terminal();
    const screen = new Screen(terminal, {});
    screen.addRow('task', 'waiting');
    expect(terminal.written).toContain('\u001b[?25l');

    screen[Symbol.dispose]();

    expect(terminal.written.endsWith('\u001b[?25h')).toBe(true);
  });

  it('colours what went well and what did not', () => {
    const terminal = new Terminal();
    using screen = new Screen(terminal, {});

    screen.addRow('one').succeed('fine');
    screen.addRow('other').fail('broken');

    expect(terminal.written).toContain('\u001b[32m✔');
    expect(terminal.written).toContain('\u001b[31m✖');
  });
});

describe.each<{ where: string; environment: Environment; isTTY: boolean }>([
  { where: 'into a file', environment: {}, isTTY: false },
  { where: 'with NO_COLOR', environment: { NO_COLOR: '1' }, isTTY: true },
  { where: 'on a dumb terminal', environment: { TERM: 'dumb' }, isTTY: true },
])('Screen $where', ({ environment, isTTY }) => {
  it('writes a plain line for each change, and none for what is told again', () => {
    const terminal = new Terminal(isTTY);
    using screen = new Screen(terminal, environment);
    const row = screen.addRow('deployment web', '0 of 3');

    row.wait('1 of 3');
    row.wait('1 of 3');
    screen.print(screen.dim('history'));
    row.succeed('stable');
    screen.addRow('service web').fail('gone');

    expect(terminal.written).toBe(
      '.. deployment web: 0 of 3\n' +
        '.. deployment web: 1 of 3\n' +
        'history\n' +
        'ok deployment web: stable\n' +
        'FAILED service web: gone\n',
    );
  });
});

/** What a terminal would show of what is written to it. */
class Terminal {
  written = '';
  readonly columns = 60;
  readonly isTTY: boolean;

  constructor(isTTY = true) {
    this.isTTY = isTTY;
  }

  write(text: string): void {
    this.written += text;
  }

  /** Its lines, without colours and empty lines. */
  show(): string[] {
    const [first = '', ...sequences] = this.written.split('\u001b[');
    let shown = first;
    for (const sequence of sequences) {
      const [, count, command, text = ''] = /^([\d;?]*)([A-Za-z])(.*)$/s.exec(sequence) ?? [];
      if (command === 'A')
        shown = `${shown
          .split('\n')
          .slice(0, -1 - Number(count))
          .join('\n')}\n`;
      shown += text;
    }
    return shown.split('\n').filter((line) => line !== '');
  }
}
