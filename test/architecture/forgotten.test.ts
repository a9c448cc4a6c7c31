import { describe, expect, it } from 'vitest';
import * as rules from './additions.ts';
import { findForgotten, type Rule } from './additions.ts';
import * as registries from './registries.ts';
import { RepositoryTexts } from './repository-texts.ts';

const texts = RepositoryTexts.load();

/** What there may be one more of: the items that there are, and what each must have. */
function addition<Item>(what: string, items: readonly Item[], all: readonly Rule<Item>[]) {
  const ofTexts = all.filter(({ isKept }) => isKept.length > 1);
  return {
    what,
    count: items.length,
    findAll: () => items.flatMap((item) => findForgotten(all, item, texts)),
    /** How many rules look into files, and how many of them miss something where there is none. */
    ofTexts: ofTexts.length,
    findInEmpty: () =>
      items.slice(0, 1).flatMap((item) => findForgotten(ofTexts, item, RepositoryTexts.empty)),
  };
}

const additions = [
  addition('an operation', registries.listOperations(texts), rules.operationRules),
  addition('a V1 operation of a file', registries.listV1OperationFiles(texts), rules.v1OperationFileRules),
  addition('a V1 operation', registries.listV1Operations(), rules.v1OperationRules),
  addition('a kind', registries.listKinds(), rules.kindRules),
  addition('a kind with a status', registries.listStatuses(), rules.statusRules),
  addition('a function of a status', registries.listStatusFunctions(texts), rules.statusFunctionRules),
  addition('an artifact type', registries.listArtifacts(texts), rules.artifactRules),
  addition('a provider', registries.listProviders(texts), rules.providerRules),
  addition('a setting of the environment', registries.listVariables(), rules.variableRules),
  addition('a name of the environment', registries.listWrittenVariables(texts), rules.writtenVariableRules),
  addition('an option of accounts', registries.listAccountOptions(), rules.accountOptionRules),
  addition('an option of npm start', registries.listCommandOptions(), rules.commandOptionRules),
  addition('an option of the stacks', registries.listStackOptions(), rules.stackOptionRules),
  addition('a metric', registries.listMetrics(), rules.metricRules),
];

/** Every sentence says what is missing, and where it goes. */
describe.each(additions)('of $what', ({ count, findAll, ofTexts, findInEmpty }) => {
  it('nothing is forgotten', () => {
    expect(count).toBeGreaterThan(3);
    expect(findAll()).toEqual([]);
  });

  it('each rule misses what is in no file', () => {
    expect(findInEmpty()).toHaveLength(ofTexts);
  });
});
