import { createHash } from 'node:crypto';
import { afterAll, expect, it } from 'vitest';
import type { AgentView } from '#contract/answers/cache.ts';
import type { ApiResponse } from '#http/api-response.ts';
import { toStatusPage, toTaskPage } from '#tasks/http/status-page.ts';
import { runTaskOnce, toNewTask } from '#test/support/system/task-runs.ts';
import { startTaskSystem } from '#test/support/system/task-system.ts';

const system = await startTaskSystem();
afterAll(() => system[Symbol.asyncDispose]());

const hostile = `"><script>alert('x')</script>&`;

async function createHostileTask() {
  const { task } = await system.store.accept({
    ...toNewTask(system, ['first']),
    ...{ account: hostile, accounts: [hostile], caller: { user: hostile } },
    entry: {
      key: 'accept',
      lines: [{ phase: hostile, status: hostile }],
      value: { operations: [hostile], objects: [hostile] },
    },
  });
  await runTaskOnce(system, task, {
    works: {
      async first(run) {
        run.output({ manifest: hostile, phase: hostile, stdOut: `${hostile} diff`, stdError: '' });
        throw new Error('no');
      },
    },
  });
  const found = await system.store.find(task.id);
  if (found === undefined) throw new Error('the task is gone');
  return found;
}

/** Holds a page to its policy: one style, whose hash is allowed, and nothing of what others wrote. */
function checkPage({ body, contentType, headers = {} }: ApiResponse): string {
  const text = String(body);
  expect(contentType).toBe('text/html;charset=UTF-8');
  expect(text).not.toMatch(/<script|onerror|<img/i);
  const styles = [...text.matchAll(/<style>([^<]*)<\/style>/g)].map(([, style = '']) => style);
  const hashes = styles.map((style) => createHash('sha256').update(style).digest('base64'));
  expect(headers['Content-Security-Policy']).toContain(`default-src 'none'; style-src 'sha256-${hashes[0]}'`);
  expect(styles).toHaveLength(1);
  return text;
}

it('the page shows accounts in trouble first, and tasks, whatever they are called', async () => {
  const task = await createHostileTask();
  const agent = { account: 'good', isStale: false, ageMs: 1_000, failures: 0 } as unknown as AgentView;
  const bad = {
    ...agent,
    account: hostile,
    isStale: true,
    ageMs: undefined,
    failures: 2,
    lastError: hostile,
  };
  const nowMs = system.clock.now();
  const healths = new Map([
    ['good', { state: 'UP' as const }],
    ['down', { state: 'DOWN' as const, reason: 'it does not answer' }],
  ]);
  const agents = [agent, { ...agent, account: 'down' }, bad];
  const text = checkPage(toStatusPage({ agents, healths, open: [], recent: [task], nowMs }));
  expect(text).toMatch(/<td>down<\/td>\s*<td><span class="bad">DOWN<\/span><\/td>[\s\S]*it does not answer/);
  expect(text.indexOf('>down<')).toBeLessThan(text.indexOf('>good<'));
  expect(text.indexOf('stale')).toBeLessThan(text.indexOf('>good<'));
  expect(text).toContain('not listed yet');
  expect(text).toContain(`<a href="status?task=${task.id}">`);
  expect(text).toContain('Internal error in TestFirst');
});

it('the page of a task shows its history and its outputs', async () => {
  const text = checkPage(toTaskPage(await createHostileTask(), system.clock.now()));
  expect(text).toContain('Processing op: TestFirst');
  expect(text).toMatch(/<pre>&#34;&#62;&#60;script.* diff<\/pre>/);
});
