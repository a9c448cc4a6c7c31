import type { AgentView } from '#contract/answers/cache.ts';
import type { AccountHealthSummary } from '#contract/answers/credentials.ts';
import { asJsonArray, asJsonObject, getPath } from '#core/json.ts';
import type { ApiResponse } from '#http/api-response.ts';
import { type Html, html, toPage } from '#http/html-page.ts';
import type { Task } from '../task.ts';
import { listHistory } from '../task-progress.ts';
import { toTaskSummary } from '../task-view.ts';

/** Accounts that the page shows at most: those in trouble come first. */
const accountsMax = 200;

/** Outputs of a task that its page shows, and characters of each, at most. */
const outputsMax = 50;
const outputMax = 100_000;

/** States of accounts in trouble. */
const sickStates: ReadonlySet<string> = new Set(['DOWN', 'DEGRADED', 'REJECTED', 'DISCONNECTED', 'OUTDATED']);

/** Links to objects that a page has at most. */
const linksMax = 200;

/** What the page shows. */
export interface Status {
  /** Caching agents of accounts that the caller may see. */
  readonly agents: readonly AgentView[];
  /** The health of such accounts, as far as this installation knows it. */
  readonly healths: ReadonlyMap<string, AccountHealthSummary>;
  /** Tasks that the caller may read: open ones, and those of late, newest first. */
  readonly open: readonly Task[];
  readonly recent: readonly Task[];
  readonly nowMs: number;
}

/** The page of an installation: its accounts, and its tasks. */
export function toStatusPage({ agents, healths, open, recent, nowMs }: Status): ApiResponse {
  return toPage(
    'Busdriver',
    html`<h1>Busdriver</h1>
<h2>Accounts</h2>${listAccounts(agents, healths)}
<h2>Open tasks</h2>${listTasks(open, nowMs)}
<h2>Tasks of late</h2>${listTasks(recent, nowMs)}
<p>All of it for programs: <a href="tasks">tasks</a>, <a href="cache/introspection">caching</a>,
<a href="credentials?expand=true">accounts</a>, <a href="v3/api-docs">the API</a>.</p>`,
  );
}

/** The page of one task. */
export function toTaskPage(task: Task, nowMs: number): ApiResponse {
  const { operations, objects, user, durationMs } = toTaskSummary(task, nowMs);
  const outputs = task.journal.flatMap((entry) => entry.outputs ?? []);
  const facts = [
    ['State', formatState(task)],
    ['Status', toTaskSummary(task, nowMs).status],
    ['Account', task.accounts.join(', ')],
    ['Operations', operations.join(', ')],
    ['Asked for', objects.join(', ')],
    ['Objects now', listObjectLinks(task)],
    ['User', user],
    ['Accepted', formatTime(task.acceptedAtMs)],
    ['Duration', formatMs(durationMs)],
    ['Worker', task.ownerId],
  ] as const;
  const shown = outputs.slice(0, outputsMax).map(
    ({ manifest, phase, stdOut, stdError }) => html`<h3>${manifest} ${phase}</h3>
<pre>${`${stdOut}\n${stdError}`.trim().slice(0, outputMax)}</pre>`,
  );
  return toPage(
    `Task ${task.id}`,
    html`<p><a href="status">Busdriver</a></p><h1>Task ${task.id}</h1>
<table>${facts.map(([name, value]) => html`<tr><th>${name}</th><td class="line">${value}</td></tr>`)}</table>
<h2>History</h2><div class="wide"><table>${listHistory(task).map(
      ({ phase, status }) => html`<tr><td>${phase}</td><td class="line">${status}</td></tr>`,
    )}</table></div>
${shown.length > 0 ? html`<h2>Outputs</h2>${shown}` : ''}`,
  );
}

/** Links to the deployed objects as they are now, each with why it is not stable. */
function listObjectLinks({ account, journal }: Task): Html[] {
  const results = journal.flatMap(({ results = [] }) => results).slice(0, outputsMax);
  const links = results.flatMap((result) =>
    Object.entries(asJsonObject(getPath(JSON.parse(result), 'manifestNamesByNamespace')) ?? {}).flatMap(
      ([location, names]) =>
        asJsonArray(names).map((name) => {
          const parts = [account, ...(location === '' ? [] : [location]), String(name)];
          return html`<a href="manifests/${parts.map((part) => encodeURIComponent(part.toWellFormed())).join('/')}">${String(name)}</a> `;
        }),
    ),
  );
  return links.slice(0, linksMax);
}

interface AccountRow {
  readonly account: string;
  readonly state: string;
  readonly isStale: boolean;
  readonly ageMs: number | undefined;
  readonly error: string;
}

function listAccounts(agents: readonly AgentView[], healths: Status['healths']): Html {
  const rows = [...Map.groupBy(agents, ({ account }) => account)].map(([account, own]): AccountRow => {
    const ages = own.map(({ ageMs }) => ageMs);
    const { state = 'UNKNOWN', reason = '' } = healths.get(account) ?? {};
    return {
      ...{ account, state },
      isStale: own.some(({ isStale }) => isStale),
      ageMs: ages.includes(undefined) ? undefined : Math.max(...ages.map((age) => age ?? 0)),
      error: own.find(({ failures, lastError }) => (failures ?? 0) > 0 && lastError)?.lastError ?? reason,
    };
  });
  if (rows.length === 0) return html`<p>None that you may see is cached yet.</p>`;
  const rank = ({ isStale, state }: AccountRow) => Number(isStale) + Number(sickStates.has(state));
  const sorted = rows.toSorted((one, other) => rank(other) - rank(one));
  const more = sorted.length > accountsMax ? html`<p>and ${sorted.length - accountsMax} more</p>` : '';
  return html`<div class="wide"><table><tr><th>Account</th><th>Health</th><th>Cache</th><th>Age</th><th>Last error</th></tr>${sorted
    .slice(0, accountsMax)
    .map(
      ({ account, state, isStale, ageMs, error }) => html`<tr><td>${account}</td>
<td>${sickStates.has(state) ? html`<span class="bad">${state}</span>` : state}</td>
<td>${isStale ? html`<span class="bad">stale</span>` : html`<span class="good">current</span>`}</td>
<td>${ageMs === undefined ? 'not listed yet' : formatMs(ageMs)}</td><td class="line">${error}</td></tr>`,
    )}</table></div>${more}`;
}

function listTasks(tasks: readonly Task[], nowMs: number): Html {
  if (tasks.length === 0) return html`<p>None.</p>`;
  const rows = tasks.map((task) => {
    const { operations, objects, status, failure, durationMs, user } = toTaskSummary(task, nowMs);
    return html`<tr><td><a href="status?task=${encodeURIComponent(task.id)}">${formatTime(task.acceptedAtMs)}</a></td>
<td>${formatState(task)}</td><td>${task.account}</td><td>${operations.join(', ')} ${objects.join(', ')}</td><td>${user}</td>
<td>${formatMs(durationMs)}</td><td class="line">${failure ?? status}</td></tr>`;
  });
  return html`<div class="wide"><table><tr><th>Accepted</th><th>State</th><th>Account</th><th>Operation</th><th>User</th>
<th>Duration</th><th>Status</th></tr>${rows}</table></div>`;
}

function formatState({ state }: Task): Html {
  if (state === 'STARTED') return html`open`;
  return state === 'COMPLETED'
    ? html`<span class="good">completed</span>`
    : html`<span class="bad">failed</span>`;
}

/** `42 s`, `3 min`, `5 h` */
function formatMs(ms: number): string {
  if (ms < 120_000) return `${(ms / 1_000).toFixed(ms < 10_000 ? 1 : 0)} s`;
  return ms < 7_200_000 ? `${Math.round(ms / 60_000)} min` : `${Math.round(ms / 3_600_000)} h`;
}

function formatTime(ms: number): string {
  return new Date(ms).toISOString().slice(0, 19).replace('T', ' ');
}
