import { readFixture } from '#test/support/run/fixture.ts';

/** Who calls: nobody who says his name; somebody without rights; who may read, or write, account and application; an administrator. */
export const callers = ['none', 'stranger', 'reader', 'writer', 'admin'] as const;

export type CallerName = (typeof callers)[number];

/** Who tells what they may do: Gate alone, by its header; Fiat; and Fiat, in each of the ways in which it cannot. */
export const judges = ['gate', 'up', 'slow', 'down', 'code 500', 'wrong-json'] as const;

export type Judge = (typeof judges)[number];

/**
 * What becomes of a request: let `in`, whatever the function says then; `refused` for want of a right; `closed` since nobody can tell;
 * answered `whole`, or `cut` down to what is not of the restricted account.
 */
export type Outcome = 'in' | 'refused' | 'closed' | 'whole' | 'cut';

type Outcomes = readonly [Outcome, Outcome, Outcome, Outcome, Outcome];

const inForAll: Outcomes = ['in', 'in', 'in', 'in', 'in'];
const closed: Outcomes = ['closed', 'closed', 'closed', 'closed', 'closed'];
/** Gate lists accounts that somebody may write to: of who may read it knows nothing. */
const inForListed: Outcomes = ['refused', 'refused', 'refused', 'in', 'in'];
const inForAdmins: Outcomes = ['refused', 'refused', 'refused', 'refused', 'in'];
const wholeForListed: Outcomes = ['cut', 'cut', 'cut', 'whole', 'whole'];
const wholeForReaders: Outcomes = ['cut', 'cut', 'whole', 'whole', 'whole'];

/** Outcomes by what a route asks, in the order of `callers`: with Gate alone, with Fiat, and with Fiat away. */
const rules = {
  /** Nothing is asked. */
  open: [inForAll, inForAll, inForAll],
  /** READ of the account, and of the application where the path or the answer has one. */
  read: [inForListed, ['refused', 'refused', 'in', 'in', 'in'], closed],
  /** WRITE of the account, EXECUTE of the application. */
  write: [inForListed, ['refused', 'refused', 'refused', 'in', 'in'], closed],
  /** The right to manage accounts: without Fiat every program of the machine itself has it. */
  manage: [inForAll, inForAdmins, closed],
  /** The same, and WRITE of the account. */
  manageAccount: [inForListed, inForAdmins, closed],
  /** READ of the application, of which only what is in accounts that may be read is shown. Without Fiat applications are everybody's. */
  application: [wholeForListed, ['refused', 'refused', 'whole', 'whole', 'whole'], closed],
  /** READ of the application, and of no account. */
  ofApplication: [inForAll, ['refused', 'refused', 'in', 'in', 'in'], closed],
  /** What may be read is shown. */
  list: [wholeForListed, wholeForReaders, closed],
  /** The same, of which there is nothing here. */
  emptyList: [inForAll, inForAll, closed],
  /** Names of all applications are told to everybody; while Fiat is away to who does not say his name: Fiat itself asks for them. */
  names: [wholeForListed, wholeForReaders, ['cut', 'closed', 'closed', 'closed', 'closed']],
  /** All are shown to who does not say his name, and what may be read to others; there is nothing here. */
  images: [inForAll, inForAll, ['in', 'closed', 'closed', 'closed', 'closed']],
} as const satisfies { readonly [rule: string]: readonly [Outcomes, Outcomes, Outcomes] };

/** What each route asks. A new route has no row here, and fails. */
export const table = readFixture<{ readonly [route: string]: keyof typeof rules }>('access.yaml');

/** What becomes of a route's request by who calls and who judges. @throws Error for a route that the table does not have */
export function getExpectation(route: string, caller: CallerName, judge: Judge): Outcome {
  const rule = table[route];
  if (rule === undefined) throw new Error(`${route} has no row in test/fixtures/access.yaml`);
  const [gate, fiat, away] = rules[rule];
  const outcomes = judge === 'gate' ? gate : judge === 'up' || judge === 'slow' ? fiat : away;
  return outcomes[callers.indexOf(caller)] ?? 'closed';
}
