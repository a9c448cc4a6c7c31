import type { JsonObject } from '#core/json.ts';
import type { ProjectSpec } from './views.ts';

/** An application as the catalog has it. */
export interface CatalogApplication {
  readonly name: string;
  /** Owner's e-mail address, cloud providers, and whatever else was entered for it. */
  readonly attributes: JsonObject;
}

/** A project as the catalog has it. */
export interface CatalogProject extends ProjectSpec {
  readonly id: string;
  /** Owner's e-mail address, its configuration, and whatever else was entered for it. */
  readonly attributes: JsonObject;
}

/**
 * What people entered of applications and projects: Front50. Answers are remembered for a while; a catalog that cannot be reached
 * answers what it knew last, and that it is not complete: no page fails for want of it.
 */
export interface Catalog {
  /** All applications, and whether the catalog could be asked within the last minutes. */
  listApplications(): Promise<{
    readonly applications: readonly CatalogApplication[];
    readonly isCurrent: boolean;
  }>;
  /** The application of that name, in any case. */
  findApplication(name: string): Promise<CatalogApplication | undefined>;
  /**
   * The project of that name or id, in any case.
   *
   * @throws UnavailableError when the catalog cannot be asked and does not remember it.
   */
  findProject(name: string): Promise<CatalogProject | undefined>;
  /** All projects, those of before where it cannot be asked. */
  listProjects(): Promise<readonly CatalogProject[]>;
}
