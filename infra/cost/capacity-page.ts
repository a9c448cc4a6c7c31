import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** What docs/capacity.md measured of something that was done once. */
export interface MeasuredRow {
  readonly requests: number;
  readonly readUnits: number;
  readonly writeUnits: number;
}

/** What docs/capacity.md says that bills depend on. */
export interface Capacity {
  /** Objects of the large account. */
  readonly objects: number;
  /** Applications of the large account. */
  readonly applications: number;
  readonly firstFill: MeasuredRow;
  /** `GET /applications` where there is the large account alone. */
  readonly listApplications: MeasuredRow;
}

/** The page that `npm run capacity` writes. */
export const capacityPage = 'docs/capacity.md';

/**
 * Reads a page that `npm run capacity` wrote: the numbers of its large account.
 *
 * @throws Error when a row is not there: then the page has another form, and this has to watch.
 */
export function parseCapacity(page: string): Capacity {
  const [, section = ''] = page.split(/^## One large account$/m);
  const [own = ''] = section.split(/^## /m);
  const rows = own.split('\n').map((line) => line.split('|').map((cell) => cell.trim()));
  const getRow = (what: string): readonly number[] => {
    const row = rows.find(([, name]) => name === what);
    if (row === undefined) throw new Error(`${capacityPage}: there is no row '${what}' of the large account`);
    return row.slice(2, -1).map((cell) => Number(cell.replace(/,/g, '').split(' ')[0]));
  };
  const getMeasured = (what: string): MeasuredRow => {
    const [, requests = 0, readUnits = 0, writeUnits = 0] = getRow(what);
    return { requests, readUnits, writeUnits };
  };
  const [objects = 0] = getRow('**objects of an account**');
  const [applications = 0] = getRow('applications');
  return {
    objects,
    applications,
    firstFill: getMeasured('the first fill'),
    listApplications: getMeasured('GET /applications'),
  };
}

/** What the repository's page says. */
export function readCapacity(): Capacity {
  return parseCapacity(readFileSync(join(import.meta.dirname, '..', '..', capacityPage), 'utf8'));
}
