import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { getBundles } from '../../infra/bundles.ts';
import {
  ceilings,
  describeLargest,
  type FunctionKind,
  getBundle,
  getSizes,
  listFunctions,
  measureImport,
  writeBundle,
} from '../support/function-bundles.ts';
import { makeTempDir, type TempDir } from '../support/temp-dir.ts';

const functions = listFunctions();
const kinds = Object.keys(ceilings) as FunctionKind[];

/**
 * A machine that is busy makes imports slow by the clock, not by what their processors do; and of so many, hardly each one is
 * disturbed: the cheapest tells what the bundle costs.
 */
const importsMax = 20;

let dir: TempDir;
beforeAll(async () => {
  dir = await makeTempDir();
});
afterAll(() => dir[Symbol.asyncDispose]());

describe('the bundles', () => {
  it('are those of all functions', () => {
    const modules = functions.map(({ module }) => module);

    expect([...getBundles().keys()].sort()).toEqual([...new Set(modules)].sort());
  });

  it.each(functions)('$module stays below the ceilings of its kind ($kind)', ({ module, kind }) => {
    const bundle = getBundle(module);
    const { startKb, wholeKb } = getSizes(bundle);
    const atStart = describeLargest(bundle, ['at-start']);
    const later = describeLargest(bundle, ['later']);

    expect(startKb, `KB at start; the largest are ${atStart}`).toBeLessThanOrEqual(ceilings[kind].startKb);
    expect(wholeKb, `KB in all; loaded later are ${later}`).toBeLessThanOrEqual(ceilings[kind].wholeKb);
  });

  it.each(kinds)('of kind %s start in time, by the processor: the largest does', async (kind) => {
    const ofKind = functions.filter((row) => row.kind === kind);
    const module = ofKind
      .map(({ module }) => module)
      .sort((one, other) => getStart(other) - getStart(one))[0];
    if (module === undefined) throw new Error(`there is no function of kind ${kind}`);
    const file = await writeBundle(module, dir.path);

    expect(
      await measureCheapest(file, ceilings[kind].importMs),
      `ms to import ${module}`,
    ).toBeLessThanOrEqual(ceilings[kind].importMs);
  });

  it('leave for later what functions need that reach a cluster, an artifact or AWS', () => {
    const late = /undici|client\/kubernetes-client|client-(eks|sts|secrets-manager)|credential-provider-ini/;

    for (const module of ['api/credentials/list-credentials', 'api/manifests/get-manifest']) {
      const { files } = getBundle(module);
      const sources = (loaded: string) =>
        files.filter((file) => file.loaded === loaded).flatMap((file) => Object.keys(file.sources));

      expect(sources('at-start').filter((path) => late.test(path))).toEqual([]);
      expect(sources('later').filter((path) => late.test(path)).length).toBeGreaterThan(10);
    }
  });

  it.each(kinds)('of kind %s have the ceilings that docs/stacks.md tells', (kind) => {
    const text = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'stacks.md'), 'utf8');
    const row = text.split('\n').find((line) => line.startsWith(`| \`${kind}\` |`));
    const { startKb, wholeKb, importMs } = ceilings[kind];

    expect(row?.split('|').slice(3, 6).map(Number)).toEqual([startKb, wholeKb, importMs]);
  });

  it('load nothing late where nothing is asked', () => {
    for (const { module } of functions.filter(({ kind }) => kind === 'static')) {
      expect(getBundle(module).files.filter(({ loaded }) => loaded === 'later')).toEqual([]);
    }
  });
});

function getStart(module: string): number {
  return getSizes(getBundle(module)).startKb;
}

/** The processor's milliseconds of the cheapest of several imports; no further one once it took no more than that. */
async function measureCheapest(file: string, enoughMs: number): Promise<number> {
  let cheapest = Number.POSITIVE_INFINITY;
  for (let round = 0; round < importsMax && cheapest > enoughMs; round += 1) {
    cheapest = Math.min(cheapest, (await measureImport(file)).processorMs);
  }
  return cheapest;
}
