import { describe, expect, it } from 'vitest';
import { providerAdditions } from './provider-additions.ts';
import { RepositoryTexts } from './repository-texts.ts';
import { settingAdditions } from './setting-additions.ts';

const texts = RepositoryTexts.load();

/** Every sentence says what is missing, and where it goes. */
describe.each([...providerAdditions, ...settingAdditions])('of $what', (addition) => {
  it('nothing is forgotten', () => {
    expect(addition.count(texts)).toBeGreaterThan(3);
    expect(addition.findForgotten(texts)).toEqual([]);
  });

  it('each rule misses what is in no file', () => {
    expect(addition.findLax(texts, RepositoryTexts.empty)).toEqual([]);
  });
});
