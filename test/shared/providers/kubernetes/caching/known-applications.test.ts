import { describe, expect, it } from 'vitest';
import { createApplicationsLoader } from '#providers/kubernetes/caching/known-applications.ts';

const asking = { checkApplicationInFront50: true };
const application = { name: 'CART', attributes: {} };

function findCatalog(answer: { readonly isCurrent: boolean; readonly applications: (typeof application)[] }) {
  return () => ({
    listApplications: async () => answer,
    findApplication: async () => undefined,
    findProject: async () => undefined,
    listProjects: async () => [],
  });
}

describe('the applications that count', () => {
  it('are not asked for unless the setting says so', () => {
    expect(createApplicationsLoader({ checkApplicationInFront50: false }, undefined)).toBeUndefined();
  });

  it.each([true, false])(
    'are those that Front50 has or had, in lower case (current: %s)',
    async (isCurrent) => {
      const load = createApplicationsLoader(asking, findCatalog({ isCurrent, applications: [application] }));
      expect(await load?.()).toEqual(new Set(['cart']));
    },
  );

  it('may be none', async () => {
    const load = createApplicationsLoader(asking, findCatalog({ isCurrent: true, applications: [] }));
    expect(await load?.()).toEqual(new Set());
  });

  it('are not none while Front50 never answered', async () => {
    const load = createApplicationsLoader(asking, findCatalog({ isCurrent: false, applications: [] }));
    await expect(load?.()).rejects.toThrow('Front50, which has the applications, does not answer');
  });

  it('cannot be told without Front50', async () => {
    const load = createApplicationsLoader(asking, undefined);
    await expect(load?.()).rejects.toThrow('set services.front50.baseUrl');
  });
});
