import { NotFoundError } from '../../../shared/core/errors.ts';
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
  return views.listProjectClusters(project);
});
