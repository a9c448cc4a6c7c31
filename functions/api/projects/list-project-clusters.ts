import { NotFoundError } from '../../../shared/core/errors.ts';
import type { ProjectSpec } from '../../../shared/core/views.ts';
import { viewHandler } from '../../../shared/runtime/view-handler.ts';

/** GET /projects/{project}/clusters: what runs in the clusters of one of Front50's projects. */
export const handler = viewHandler(async function listProjectClusters(request, { views, providers }) {
  const name = request.getParameter('project');
  const catalog = providers.findCatalog();
  const project = await catalog?.findProject(name);
  if (project === undefined) {
    const reason = catalog
      ? ''
      : ': projects are those of Front50, for which services.front50.baseUrl is not set';
    throw new NotFoundError(`Project '${name}' not found${reason}`);
  }
  return views.listProjectClusters(
    withApplications(project, (application) => request.access.rights.mayUseApplication(application, 'READ')),
  );
});

/** A project of which only these applications are left. A cluster for which none is left is none. */
function withApplications(project: ProjectSpec, mayRead: (application: string) => boolean): ProjectSpec {
  const clusters = project.clusters
    .map((each) => ({ ...each, applications: each.applications.filter(mayRead) }))
    .filter(({ applications }, index) => applications.length > 0 || isForAll(project.clusters[index]));
  return { ...project, applications: project.applications.filter(mayRead), clusters };
}

function isForAll(cluster: ProjectSpec['clusters'][number] | undefined): boolean {
  return cluster?.applications.length === 0;
}
