import type { JsonObject } from '#core/json.ts';
import type { ProjectSpec } from './views.ts';

/** An application as Front50 has it. */
export interface CatalogApplication {
  readonly name: string;
  /** Owner's e-mail address, cloud providers, and whatever else was entered for it. */
  readonly attributes: JsonObject;
}

/** A project as Front50 has it. */
export interface CatalogProject extends ProjectSpec {
  readonly id: string;
  /** Owner's e-mail address, its configuration, and whatever else was entered for it. */
  readonly attributes: JsonObject;
}

/**
 * The applications and projects of Front50. Answers are remembered for a while. While the catalog cannot be reached it returns what it last
 * knew, and that this is incomplete: no page fails for lack of it.
 */
export interface Catalog {
  /** All applications, and whether the catalog answered within the last minutes. */
  listApplications(): Promise<{
    readonly applications: readonly CatalogApplication[];
    readonly isCurrent: boolean;
  }>;
  /** The application of that name, in any case. */
  findApplication(name: string): Promise<CatalogApplication | undefined>;
  /** The project of that name or id, in any case. @throws UnavailableError when the catalog cannot be reached and does not remember it. */
  findProject(name: string): Promise<CatalogProject | undefined>;
  /** All projects; the last known ones while it cannot be reached. */
  listProjects(): Promise<readonly CatalogProject[]>;
}
