import type { CallerRights } from '#access/authorization.ts';
import { NotFoundError } from '#core/errors.ts';
import type { ProviderSet } from '#provider-kit/provider-set.ts';
import { viewHandler } from '#views/http/view-handler.ts';
import type { ProjectSpec } from '#views/views.ts';

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
  const { rights } = request.access;
  const mayShow = await request.access.openAccountFilter();
  return views.listProjectClusters(toReadable(project, { rights, mayShow, providers }));
});

/** A project of which only the accounts and applications are left that the caller may read. */
function toReadable(
  project: ProjectSpec,
  {
    rights,
    mayShow,
    providers,
  }: {
    readonly rights: CallerRights;
    readonly mayShow: (account: string) => boolean;
    readonly providers: Pick<ProviderSet, 'findAccount'>;
  },
): ProjectSpec {
  const mayRead = (application: string): boolean => rights.mayUseApplication(application, 'READ');
  const clusters = project.clusters
    // What is not configured has nothing to show.
    .filter(({ account }) => !providers.findAccount(account) || mayShow(account))
    // No applications are all of the project's: a cluster is not to become one for all by losing its last.
    .filter(({ applications }) => applications.length === 0 || applications.some(mayRead))
    .map((each) => ({ ...each, applications: each.applications.filter(mayRead) }));
  return { ...project, applications: project.applications.filter(mayRead), clusters };
}
