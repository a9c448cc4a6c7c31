import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { toDeployTable, toPriceTable, toReadmeText, toRestTable } from './deploy-tables.ts';
import {
  toAgentTable,
  toAssumptionTable,
  toCachingTables,
  toCountTable,
  toFillTable,
  toHelpBlock,
  toInstallationTable,
  toLimitTable,
  toPeerSources,
  toPeerTable,
  toStreamTable,
} from './scale-tables.ts';
import type { Basis } from './scenario.ts';

const root = join(import.meta.dirname, '..', '..');

/** What is generated: pages, from the root, and their parts by the names that stand in their markers. */
const parts: { readonly [page: string]: { readonly [name: string]: (basis: Basis) => string } } = {
  'README.md': { cost: toReadmeText },
  'docs/deploy.md': { prices: toPriceTable, 'cost at rest': toRestTable, 'cost of deploys': toDeployTable },
  'docs/scale.md': {
    installations: toInstallationTable,
    others: toPeerTable,
    'sources about others': toPeerSources,
    caching: toCachingTables,
    streams: toStreamTable,
    agents: toAgentTable,
    'first fills': toFillTable,
    limits: toLimitTable,
    counts: toCountTable,
    assumptions: toAssumptionTable,
    help: toHelpBlock,
  },
};

/** A page with its parts generated anew. */
export interface CostPage {
  /** Path from the root, with `/`. */
  readonly path: string;
  readonly text: string;
  /** What is to be found there now. */
  readonly former: string;
}

/**
 * Generates the parts of all pages anew, without writing them.
 *
 * @throws Error when a page lacks the markers of a part.
 */
export function generatePages(basis: Basis): readonly CostPage[] {
  return Object.entries(parts).map(([path, own]) => {
    const former = readFileSync(join(root, path), 'utf8');
    const text = Object.entries(own).reduce(
      (page, [name, generate]) => replacePart(page, { path, name, content: generate(basis) }),
      former,
    );
    return { path, text, former };
  });
}

/** Writes the pages that are not as they should be. Answers their paths. */
export function writePages(basis: Basis): readonly string[] {
  const changed = generatePages(basis).filter(({ text, former }) => text !== former);
  for (const { path, text } of changed) writeFileSync(join(root, path), text);
  return changed.map(({ path }) => path);
}

function replacePart(
  page: string,
  { path, name, content }: { readonly path: string; readonly name: string; readonly content: string },
): string {
  const begin = `<!-- generated: ${name} -->\n`;
  const start = page.indexOf(begin);
  const end = page.indexOf('\n<!-- end -->', start);
  if (start < 0 || end < 0) throw new Error(`${path} lacks the markers of '${name}'`);
  return `${page.slice(0, start)}${begin}\n${content}\n${page.slice(end)}`;
}
