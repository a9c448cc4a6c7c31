import type { ResourceView } from '#contract/answers/resources.ts';
import type { CachingRules } from '../account/account.ts';
import { isKindAllowed } from '../rows/cached-kinds.ts';
import { isApplicationKind } from '../rows/cached-objects.ts';
import type { ObjectFacts } from '../rows/facts.ts';
import { toResourceView } from './resource-view.ts';

/** The cached objects of an application in one account, of any kind. */
export interface AccountResources {
  readonly account: string;
  readonly resources: readonly ObjectFacts[];
  readonly rules: Pick<CachingRules, 'kinds' | 'omitKinds' | 'rawResources' | 'allApplicationRelationships'>;
}

/**
 * `GET /applications/{application}/rawResources`: an application's objects of the kinds that each account shows there.
 *
 * `kindExpressions` show only kinds that one of them matches as a whole, `omitKindExpressions` hide those. In Clouddriver the former have
 * no effect.
 */
export function toRawResourceViews(accounts: readonly AccountResources[]): ResourceView[] {
  return accounts.flatMap(({ account, resources, rules }) => {
    const isShown = createKindFilter(rules);
    return resources.filter(isShown).map((facts) => toResourceView(account, facts));
  });
}

function createKindFilter(rules: AccountResources['rules']): (facts: ObjectFacts) => boolean {
  const included = rules.rawResources.kindExpressions.map(compileWhole);
  const omitted = rules.rawResources.omitKindExpressions.map(compileWhole);
  const isKindShown = (kind: string): boolean => {
    if (!isKindAllowed(rules, kind)) return false;
    if (included.length > 0) return included.some((expression) => expression.test(kind));
    return !omitted.some((expression) => expression.test(kind));
  };
  return ({ kind, spinnakerKind }) =>
    (rules.allApplicationRelationships || isApplicationKind(spinnakerKind)) && isKindShown(kind);
}

/** The account's expressions were checked when its configuration was read. */
function compileWhole(expression: string): RegExp {
  return new RegExp(`^(?:${expression})$`);
}
