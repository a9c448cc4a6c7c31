import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * Begins with the suites that are named slow, so that none of them is left when everything else is done. Then come those whose worker
 * goes on with the next one of them, and then the rest, as vitest has it. Groups keep their order.
 */
export class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((one, other) => getGroup(one) - getGroup(other) || getRank(one) - getRank(other));
  }
}

function getGroup({ project }: TestSpecification): number {
  return project.config.sequence.groupOrder;
}

function getRank({ moduleId, project }: TestSpecification): number {
  if (/\.(slow|measuring)\.test\.ts$/.test(moduleId)) return 0;
  return project.config.isolate ? 2 : 1;
}
