import { type Group, type LineRule, listLineRules } from './bill-lines.ts';
import { evaluate, type Values } from './formula.ts';
import { type Basis, type Scenario, toValues } from './scenario.ts';

/** What something costs a month. */
export interface BillLine extends LineRule {
  /** US dollars, to the cent. */
  readonly dollars: number;
}

/** What an installation costs a month. */
export interface Bill {
  readonly scenario: Scenario;
  /** What its formulas name. */
  readonly values: Values;
  readonly lines: readonly BillLine[];
  /** US dollars: what the lines say, added up. */
  readonly dollars: number;
}

/** Reckons the bill of a month. */
export function makeBill(scenario: Scenario, basis: Basis): Bill {
  const values = toValues(scenario, basis);
  const lines = listLineRules(scenario, basis.counts).map((rule) => ({
    ...rule,
    dollars: round(evaluate(rule.formula, values)),
  }));
  return { scenario, values, lines, dollars: sumLines(lines) };
}

/** Dollars of some parts of a bill. */
export function sumGroups({ lines }: Bill, ...groups: readonly Group[]): number {
  return sumLines(lines.filter(({ group }) => groups.includes(group)));
}

/** Dollars by service, the largest sum first. */
export function sumServices({ lines }: Bill): readonly (readonly [service: string, dollars: number])[] {
  return [...Map.groupBy(lines, ({ service }) => service)]
    .map(([service, own]) => [service, sumLines(own)] as const)
    .sort(([, one], [, other]) => other - one);
}

/** Added up in cents, so that whoever adds up the lines gets the same. */
function sumLines(lines: readonly BillLine[]): number {
  return round(lines.reduce((sum, { dollars }) => sum + dollars, 0));
}

function round(dollars: number): number {
  return Math.round(dollars * 100) / 100;
}
