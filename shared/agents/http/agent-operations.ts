import { mapConcurrently } from '#core/concurrency.ts';
import { InvalidInputError, NotFoundError } from '#core/errors.ts';
import { type ApiRequest, type ApiResponse, ok } from '#http/api-handler.ts';
import { findClouddriverId } from '#http/clouddriver-view.ts';
import { getNumber } from '#http/query-number.ts';
import { findTask } from '#tasks/list-tasks.ts';
import { isOfAgents, toAgentOperation } from '../agent-operation.ts';
import type { OperatorServices } from '../services/operators.ts';

/** Operations of one page: unless the caller says, and at most. */
const itemsDefault = 20;
const itemsMax = 200;

/** How far back pages reach, in operations: rows of the list are read up to the page. */
const depthMax = 10_000;

/** Tasks that are read at a time. */
const concurrency = 8;

/** Answers a page of what agents were to do in the last seven days for accounts that the caller may read, the newest first. */
export async function listAgentOperations(
  request: ApiRequest,
  services: OperatorServices,
): Promise<ApiResponse> {
  const items = getNumber(request, 'items', { min: 1, max: itemsMax, otherwise: itemsDefault });
  const page = getNumber(request, 'page', { min: 0, max: depthMax, otherwise: 0 });
  if ((page + 1) * items > depthMax) {
    throw new InvalidInputError(
      `Query parameter 'page' must not lead beyond ${depthMax} operations: at most ${Math.floor(depthMax / items) - 1} with items=${items}`,
    );
  }
  const rows = await services.agentTasks.list((page + 1) * items);
  const tasks = await mapConcurrently(rows.slice(page * items), concurrency, (row) =>
    findTask(services.store, row),
  );
  const clouddriverId = findClouddriverId(services);
  const known = tasks.filter((task) => task !== undefined);
  const shown = known.filter((task) => request.access.mayReadTask(task));
  return ok(shown.map((task) => toAgentOperation(task, clouddriverId)));
}

/** Answers one. @throws NotFoundError for a task that no agent was to run, or that is forgotten; AccessDeniedError */
export async function getAgentOperation(
  request: ApiRequest,
  services: OperatorServices,
): Promise<ApiResponse> {
  const id = request.getParameter('opId');
  const task = await services.store.find(id);
  if (task === undefined || !isOfAgents(task)) throw new NotFoundError(`No operation of an agent is '${id}'`);
  request.access.checkTask(task);
  return ok(toAgentOperation(task, findClouddriverId(services)));
}
