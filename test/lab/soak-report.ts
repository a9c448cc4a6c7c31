import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { LaboratoryReport } from './laboratory.ts';

/** What a report is about, beside what the laboratory found. */
export interface SoakSubject {
  /** As `readCommit` answers it. */
  readonly commit: string;
  readonly minutes: number;
}

const shownMax = 10;

const run = promisify(execFile);

/** The commit that is checked out, and whether the files differ from it; `unknown` where there is no repository. */
export async function readCommit(root: string): Promise<string> {
  try {
    const { stdout: commit } = await run('git', ['rev-parse', '--short=12', 'HEAD'], { cwd: root });
    const { stdout: changes } = await run('git', ['status', '--porcelain'], { cwd: root });
    return changes.trim() === '' ? commit.trim() : `${commit.trim()}, with changes that are not committed`;
  } catch {
    return 'unknown';
  }
}

export function formatSoakReport(report: LaboratoryReport, { commit, minutes }: SoakSubject): string {
  const { seed, operations, findings, injected, answers, ranMs } = report;
  const broken = findings.filter(({ violations }) => violations.length > 0);
  const result =
    broken.length === 0
      ? 'Every promise was kept.'
      : `**${broken.length} of ${findings.length} promises were broken.**`;
  const kills = injected.get('functions: killed') ?? 0;
  return `${[
    '# Soak',
    '',
    `\`npm run soak\` wrote this page. For ${minutes} minutes it posted ${operations} operations as Orca does, while answers of`,
    'DynamoDB, SQS and EventBridge were lost after they were acted upon, calls came late, were throttled and refused, services were',
    `silent, and three processes that run every function, with clocks up to a minute off, were killed ${kills} times and stood still.`,
    'Their clocks were set by an hour, and back; credentials ended, and the next ones came a quarter of a minute later; operations waited for',
    'deletions; and half of the writes of each first fill of an account were refused.',
    'DynamoDB took 400 KB an item, and a partition 1,000 write units and 3,000 read units a second. The API server was a real one.',
    '',
    `${result} Commit ${commit}; seed ${seed}; ${Math.round(ranMs / 60_000)} minutes with the audit.`,
    '',
    '## What was looked at when it was over',
    '',
    '| Promise | Looked at | Broken |',
    '|---|---|---|',
    ...findings.map(
      ({ promise, checked, violations }) => `| ${promise} | ${checked} | ${violations.length} |`,
    ),
    '',
    ...broken.flatMap(({ promise, violations }) => [
      `${promise}:`,
      '',
      ...violations.slice(0, shownMax).map((violation) => `- ${toPlainText(violation)}`),
      '',
    ]),
    '## What was injected',
    '',
    '| Where, and what | Times |',
    '|---|---|',
    ...formatCounts(injected),
    '',
    '## What callers were answered',
    '',
    'A call without an answer was on its way to a process that was killed or stood still. Orca sends it again.',
    '',
    '| Answer | Times |',
    '|---|---|',
    ...formatCounts(answers),
  ].join('\n')}\n`;
}

function formatCounts(counts: ReadonlyMap<string, number>): string[] {
  return [...counts].map(([what, count]) => `| ${what} | ${count} |`);
}

/** Text that no Markdown is made of. */
function toPlainText(text: string): string {
  return text
    .replaceAll(/[\\`*_[\]<>|#]/g, '\\$&')
    .replaceAll(/\s+/g, ' ')
    .slice(0, 500);
}
