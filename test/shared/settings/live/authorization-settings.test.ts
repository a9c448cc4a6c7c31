import { expect, test } from 'vitest';
import type { JsonObject } from '#core/json.ts';
import { hasSameAuthorization, listReportedChecks } from '#settings/live/authorization-settings.ts';

const services = { fiat: { enabled: true } };

test.each<[JsonObject]>([[{ services }], [{ services, busdriver: { checkApplication: 'report' } }]])(
  'a warning says that rights on applications are only reported, and how to enforce them: %j',
  (settings) => {
    expect(listReportedChecks(settings)).toEqual([
      {
        message: 'rights on applications are only reported',
        reason:
          "busdriver.checkApplication: report: operations run without WRITE of their applications; the audit's wouldRefuse names " +
          'them, and enforce refuses them with 403',
      },
    ]);
  },
);

test.each<[JsonObject]>([
  [{}],
  [{ busdriver: { checkApplication: 'report' } }],
  [{ services, busdriver: { checkApplication: 'enforce' } }],
  [{ services, busdriver: { checkApplication: 'off' } }],
])('no warning where nothing is reported: %j', (settings) => {
  expect(listReportedChecks(settings)).toEqual([]);
});

test('another check is another authorization', () => {
  const one = { services, busdriver: { checkApplication: 'enforce' } };
  expect(hasSameAuthorization(one, { services })).toBe(false);
  expect(hasSameAuthorization(one, structuredClone(one))).toBe(true);
});
