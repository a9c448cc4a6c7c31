import { UnavailableError } from '#core/errors.ts';
import type { Catalog, CatalogApplication, CatalogProject } from '#views/catalog.ts';
import { parseApplications, parseProjects } from './answers.ts';
import type { Front50Client } from './client.ts';
import { createRemembered, type RememberedOptions } from './remembered.ts';

interface CatalogOptions extends Pick<RememberedOptions<unknown>, 'clock' | 'randomness' | 'log'> {
  readonly client: Pick<Front50Client, 'getJson'>;
}

/** The greatest age of an answer in which something is missing, milliseconds: it may have been entered a moment ago. */
const freshForMissingMs = 2_000;

/**
 * The catalog of Front50. It requests all applications, or all projects, at once, and no more often than needed: Front50 has them in
 * memory, and one answer serves all callers.
 */
export function createCatalog({ client, ...parts }: CatalogOptions): Catalog {
  const readApplications = createRemembered<readonly CatalogApplication[]>({
    what: 'applications',
    load: async () => parseApplications(await client.getJson('v2/applications?restricted=false')),
    ...parts,
  });
  const readProjects = createRemembered<readonly CatalogProject[]>({
    what: 'projects',
    load: async () => parseProjects(await client.getJson('v2/projects')),
    ...parts,
  });

  return {
    async listApplications() {
      const { value = [], isCurrent } = await readApplications();
      return { applications: value, isCurrent };
    },
    async findApplication(name) {
      const wanted = name.toLowerCase();
      const isWanted = (application: CatalogApplication) => application.name.toLowerCase() === wanted;
      const found = (await readApplications()).value?.find(isWanted);
      return found ?? (await readApplications(freshForMissingMs)).value?.find(isWanted);
    },
    async findProject(name) {
      const wanted = name.toLowerCase();
      const isWanted = (project: CatalogProject) =>
        project.id.toLowerCase() === wanted || project.name.toLowerCase() === wanted;
      const found = (await readProjects()).value?.find(isWanted);
      if (found !== undefined) return found;
      const { value, isCurrent } = await readProjects(freshForMissingMs);
      const second = value?.find(isWanted);
      if (second !== undefined || isCurrent) return second;
      throw new UnavailableError('Front50, which has the projects, does not answer; try again');
    },
    async listProjects() {
      return (await readProjects()).value ?? [];
    },
  };
}
