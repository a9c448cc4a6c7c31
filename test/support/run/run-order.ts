import path from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const root = path.resolve(import.meta.dirname, '../../..');

/**
 * A sequencer by which some files begin before all others, in the order given: those that take long, so that none of them is left
 * when everything else is done. Then come those whose worker goes on with the next one of them, and then the rest, as vitest has
 * it. Groups keep their order.
 *
 * @param first paths from the repository's root
 */
export function startWith(first: readonly string[]): typeof BaseSequencer {
  const ranks = new Map(first.map((file, index) => [path.join(root, file), index]));
  const getRank = ({ moduleId, project }: TestSpecification) =>
    ranks.get(path.normalize(moduleId)) ?? first.length + (project.config.isolate ? 1 : 0);
  const getGroup = ({ project }: TestSpecification) => project.config.sequence.groupOrder;

  return class extends BaseSequencer {
    override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
      const sorted = await super.sort(files);
      return sorted.toSorted(
        (one, other) => getGroup(one) - getGroup(other) || getRank(one) - getRank(other),
      );
    }
  };
}
