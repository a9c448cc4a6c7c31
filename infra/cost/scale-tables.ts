import { assumptions, type Origin } from './assumption-data.ts';
import { type Bill, makeBill, sumGroups } from './bill.ts';
import type { Group } from './bill-lines.ts';
import { formatCostHelp } from './cost-options.ts';
import { emptyScenario, toRows, toSumRow } from './deploy-tables.ts';
import { evaluate, listNames } from './formula.ts';
import { countProcessors, type Peer, peerRows, peers, reckonPeer } from './peers.ts';
import { quantities } from './quantities.ts';
import { type Basis, type Mode, modes, type Scenario } from './scenario.ts';
import { formatCents, formatDollars, formatQuantity, toMarkdown } from './table.ts';

/** Numbers of accounts for which the page shows bills. */
const sizes = [1, 10, 100, 300, 1_000] as const;

/** Of how many the page shows every line. */
const shownAccounts = 1_000;

/** An installation of the page: every account is deployed to once a day. */
function toScenario(accounts: number, mode: Mode): Scenario {
  const streamAccounts = mode === 'stream' ? accounts : 0;
  return { ...emptyScenario, accounts, mode, streamAccounts, deploysPerDay: accounts };
}

/** What installations cost, from one account to a thousand, beside others. */
export function toInstallationTable(basis: Basis): string {
  const bills = sizes.map((accounts) => makeBill(toScenario(accounts, 'adaptive'), basis));
  const toRow = (what: string, ...own: readonly Group[]): string[] => [
    what,
    ...bills.map((bill) => formatDollars(sumGroups(bill, ...own))),
  ];
  const ofMode = (mode: Mode): string[] =>
    sizes.map((accounts) => formatDollars(makeBill(toScenario(accounts, mode), basis).dollars));
  const secrets = sizes.map((accounts) => {
    const bill = makeBill({ ...toScenario(accounts, 'adaptive'), secrets: accounts }, basis);
    return formatDollars(sumGroups(bill, 'secrets'));
  });
  const values = makeBill(emptyScenario, basis).values;
  const ofPeer = (peer: Peer): string[] =>
    sizes.map((accounts) => formatDollars(reckonPeer(peer, accounts, values)));
  const rows = [
    toRow('at rest', 'fixed'),
    toRow('a NAT gateway of its own', 'wayOut'),
    toRow('Gate and Fiat, all day', 'connected'),
    toRow('caching', 'turns', 'streams', 'accounts'),
    toRow('deploys, one an account and day', 'deploys', 'polls'),
    [
      '**Busdriver by turns, adaptive: `cacheMode: interval`**',
      ...bills.map(({ dollars }) => `**${formatDollars(dollars)}**`),
    ],
    [
      '… for each account',
      ...bills.map(({ dollars, scenario }) => formatDollars(dollars / scenario.accounts)),
    ],
    ['Busdriver, every account in use all day', ...ofMode('interval')],
    ['Busdriver, every account watched: at most what the default costs', ...ofMode('stream')],
    ['more where all kubeconfigs are secrets', ...secrets],
    ...Object.values(peers).map((peer) => [peer.name, ...ofPeer(peer)]),
  ];
  return toMarkdown(['Accounts', ...sizes.map((accounts) => accounts.toLocaleString('en-US'))], rows);
}

/** Every line of what caching a thousand accounts costs, by mode, with the quantities that the formulas name. */
export function toCachingTables(basis: Basis): string {
  const [interval, adaptive, stream] = modes.map((mode) => makeBill(toScenario(shownAccounts, mode), basis));
  if (interval === undefined || adaptive === undefined || stream === undefined) return '';
  const own: readonly Group[] = ['turns', 'accounts'];
  const dear = toRows(interval, ...own);
  const rows = toRows(adaptive, ...own).map((row, index) => [...row, dear[index]?.at(-1) ?? '']);
  const sums = [adaptive, interval].map((bill) => `**${formatCents(sumGroups(bill, ...own))}**`);
  const watched = [
    ...toRows(stream, 'streams', 'accounts'),
    toSumRow('1,000 accounts', sumGroups(stream, 'streams', 'accounts')),
  ];
  return [
    '### By turns',
    '',
    toMarkdown(
      ['What', 'Formula', 'adaptive', 'in use all day'],
      [...rows, ['**1,000 accounts**', '', ...sums]],
    ),
    '',
    '### Watched',
    '',
    toMarkdown(['What', 'Formula', 'US$'], watched),
    '',
    '### Quantities',
    '',
    toQuantityTable([adaptive, interval, stream], ['adaptive', 'in use all day', 'watched']),
  ].join('\n');
}

function toQuantityTable(bills: readonly Bill[], columns: readonly string[], ...groups: Group[]): string {
  const counted = bills
    .flatMap(({ lines }) => lines)
    .filter(({ group }) => groups.length === 0 || groups.includes(group));
  const named = new Set(counted.flatMap(({ formula }) => listNames(formula)));
  const rows = Object.entries(quantities)
    .filter(([name]) => named.has(name))
    .map(([name, meaning]) => [
      `\`${name}\``,
      ...bills.map(({ values }) => formatQuantity(values.get(name) ?? 0)),
      meaning,
    ]);
  return toMarkdown(['Name', ...columns, 'Meaning'], rows);
}

/** What one account costs in mode `stream`, and some of them. */
export function toStreamTable(basis: Basis): string {
  const rows = [1, 2, 10, 50, 51, 500].map((streamAccounts) => {
    const bill = makeBill({ ...toScenario(1_000, 'adaptive'), streamAccounts }, basis);
    const dollars = sumGroups(bill, 'streams');
    return [
      formatQuantity(streamAccounts),
      formatQuantity(bill.values.get('streamWorkers') ?? 0),
      formatDollars(dollars),
      formatDollars(dollars / streamAccounts),
    ];
  });
  return toMarkdown(['Watched accounts', 'Workers', 'US$ for watching', 'US$ each'], rows);
}

/** What a thousand agents cost that are connected all the time, whether there is work or not. */
export function toAgentTable(basis: Basis): string {
  const bill = makeBill({ ...emptyScenario, agents: 1_000 }, basis);
  const rows = [...toRows(bill, 'agents'), toSumRow('1,000 agents', sumGroups(bill, 'agents'))];
  const lines = toMarkdown(['What', 'Formula', 'US$'], rows);
  return [lines, '', toQuantityTable([bill], ['A month'], 'agents')].join('\n');
}

/** What others cost, and what each does for it. */
export function toPeerTable(basis: Basis): string {
  const values = makeBill(emptyScenario, basis).values;
  const [adaptive, interval, stream] = ['adaptive', 'interval', 'stream'].map((mode) =>
    makeBill(toScenario(shownAccounts, mode as Mode), basis),
  );
  const { clouddriverLow, clouddriverHigh, goClouddriver } = peers;
  const ofPeer = (peer: Peer): number => reckonPeer(peer, shownAccounts, values);
  const ofPeers = (format: (dollars: number) => string): string[] => [
    `${format(ofPeer(clouddriverLow))} to ${format(ofPeer(clouddriverHigh))}`,
    format(ofPeer(goClouddriver)),
  ];
  const bills = [adaptive, interval, stream].flatMap((bill) => (bill === undefined ? [] : [bill]));
  const each = (dollars: number): string => formatCents(dollars / shownAccounts);
  const processors = (peer: Peer): string => formatQuantity(countProcessors(peer, shownAccounts));
  const clouddrivers = `${processors(clouddriverLow)} to ${processors(clouddriverHigh)} processors`;
  return toMarkdown(
    ['1,000 accounts', 'Busdriver, adaptive', 'in use all day', 'watched', 'Clouddriver', 'go-clouddriver'],
    [
      ['US$ a month', ...bills.map(({ dollars }) => formatDollars(dollars)), ...ofPeers(formatDollars)],
      ['US$ for an account', ...bills.map(({ dollars }) => each(dollars)), ...ofPeers(each)],
      [
        'while nothing changes',
        ...bills.map((bill) => formatDollars(getIdleDollars(bill, basis))),
        'the same as ever',
        'the same as ever',
      ],
      [
        'runs on',
        'functions',
        'functions',
        'functions',
        clouddrivers,
        `at most ${processors(goClouddriver)} processors`,
      ],
      ...peerRows,
    ],
  );
}

/** What the same installation costs while no object changes. */
function getIdleDollars({ scenario }: Bill, basis: Basis): number {
  return makeBill({ ...scenario, changesPerHour: 0, deploysPerDay: 0 }, basis).dollars;
}

/** Where the figures about others are from. */
export function toPeerSources(): string {
  const rows = Object.values(peers).map(
    ({ name, accounts, processors, gb, processorsLeast, source, address }) => [
      name,
      `[${source}](${address})`,
      formatQuantity(processors / accounts),
      formatQuantity(gb / accounts),
      formatQuantity(processorsLeast),
    ],
  );
  const head = [
    '',
    'Published',
    'Processors an account',
    'GB an account',
    'Processors at least (assumption)',
  ];
  return toMarkdown(head, rows);
}

/** What a first fill costs, and how long that of a fleet takes. */
export function toFillTable(basis: Basis): string {
  const rows = [50, 1_000, 10_000, 139_500].map((objects) => {
    const { values } = makeBill({ ...emptyScenario, objects }, basis);
    const amount = (formula: string): number => evaluate(formula, values);
    const seconds = amount('fillSeconds') * 1e6;
    const dollars = amount(
      'fillWrites × writeUnit + fillReads × readUnit + fillSeconds × workerGb × gbSecond + listWireKb × listed × natGb',
    );
    const together = (1_000 * seconds) / amount('concurrentFills');
    return [
      objects.toLocaleString('en-US'),
      formatQuantity(Math.round(amount('fillRequests') * 1e6)),
      formatQuantity(Math.round(amount('fillWrites') * 1e6)),
      formatQuantity(Math.round(amount('fillReads') * 1e6)),
      formatTime(seconds),
      dollars < 0.01 ? 'less than a cent' : formatCents(dollars),
      formatTime(together / 60),
    ];
  });
  const head = [
    'Objects',
    'Requests',
    'Write units',
    'Read units',
    'Seconds',
    'US$',
    '1,000 accounts at once: minutes',
  ];
  return toMarkdown(head, rows);
}

/** Seconds or minutes for people. */
function formatTime(time: number): string {
  return time < 0.1 ? 'less than 0.1' : Number(time.toPrecision(2)).toLocaleString('en-US');
}

/** Limits of AWS, and what a thousand accounts come to. */
export function toLimitTable(basis: Basis): string {
  const { values } = makeBill(toScenario(shownAccounts, 'interval'), basis);
  const amount = (formula: string): number => evaluate(formula, values);
  const perSecond = (formula: string): string => formatQuantity(amount(formula) / amount('seconds'));
  const writes = perSecond('changeWrites × changes + runWrites × runs');
  const rows = [
    [
      '1,000 write units and 3,000 read units a second for one partition',
      'DynamoDB',
      `one application's changes in one account: ${Math.round(1_000 / amount('changeWrites'))} a second`,
    ],
    [
      '40,000 write units a second for a table on demand, unless raised',
      'DynamoDB',
      `a thousand accounts in use all day take ${writes}`,
    ],
    [
      '120,000 messages in flight',
      'SQS',
      `never: ${perSecond('runs')} runs a second are ${perSecond('messages')} messages`,
    ],
    [
      "the workers' concurrency",
      'functions/queues.ts',
      `${perSecond('messages × runSeconds')} workers are busy with runs at a time, of ${formatQuantity(amount('concurrentFills'))}`,
    ],
    [
      'the time of `schedule-agents`: 50 s',
      'functions/schedules.ts',
      `a turn with a thousand accounts takes ${formatQuantity(amount('turnSeconds'))} s (assumption)`,
    ],
  ];
  return toMarkdown(['Limit', 'Where', 'At'], rows);
}

/** What the templates have. */
export function toCountTable({ counts }: Basis): string {
  const what: { readonly [name in keyof typeof counts]: string } = {
    alarmMetrics: 'metrics that alarms watch, by which alarms are paid',
    alarms: 'alarms',
    dashboards: 'dashboards',
    customMetrics: 'custom metrics that alarms watch, the dashboard shows or metric filters make',
    logGroups: 'log groups, which cost what they take in',
    eventRules: 'rules of EventBridge, which cost nothing',
    schedules: 'of them schedules',
    functions: 'functions, which cost what they run',
    polledQueues: 'queues that Lambda polls, dead letters included',
    tables: 'tables',
    secrets: 'secrets',
    keys: 'keys',
    endpoints: 'interface endpoints',
  };
  const rows = Object.entries(counts).map(([name, count]) => [
    `\`${name}\``,
    String(count),
    what[name as keyof typeof counts],
  ]);
  return toMarkdown(['Name', 'Count', 'What'], rows);
}

/** All that is neither a price nor chosen, with where it is from. */
export function toAssumptionTable(): string {
  const origins: { readonly [origin in Origin]: string } = {
    measured: 'measured',
    code: 'the code',
    published: 'published',
    assumed: '**assumed**',
    calendar: 'the calendar',
  };
  const rows = Object.entries(assumptions).map(([name, { value, meaning, origin, source }]) => [
    `\`${name}\``,
    String(value),
    meaning,
    origins[origin],
    origin === 'code' ? `\`${source}\`` : source,
  ]);
  return toMarkdown(['Name', 'Value', 'Meaning', 'Is', 'By, or since'], rows);
}

/** The help of the program. */
export function toHelpBlock(): string {
  return ['```', formatCostHelp(), '```'].join('\n');
}
