import { describe, expect, it } from 'vitest';
import { type Answer, validateAnswer } from './validate-answer.ts';

const json = 'application/json;charset=UTF-8';
const up: Answer = {
  method: 'GET',
  path: '/health',
  status: 200,
  contentType: json,
  body: '{"status":"UP"}',
};
const [yes, no] = [{ state: true }, { state: false }];
const manifest = {
  ...{ account: 'prod', name: 'deployment web', location: 'default', moniker: {} },
  manifest: { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web' }, spec: { replicas: 'N' } },
  status: { stable: yes, paused: no, available: yes, failed: no },
  ...{ artifacts: [], events: [], warnings: [], metrics: [] },
};
const read: Answer = { ...up, path: '/manifests/prod/default/deployment%20web' };
const notFound = {
  ...{ timestamp: '2026-11-21T06:15:35.252+00:00', status: 404, error: 'Not Found' },
  message: 'No route for GET /nowhere',
};
const refused = (status: number) => ({ ...read, status: 404, body: JSON.stringify({ ...notFound, status }) });

/** An answer with another `spec` of the object. */
const shown = (spec: object | null) => {
  return { ...read, body: JSON.stringify({ ...manifest, manifest: { ...manifest.manifest, spec } }) };
};

describe('validateAnswer', () => {
  it('accepts what the document has', () => {
    validateAnswer(up);
    validateAnswer({ ...read, body: JSON.stringify(manifest).replace('"N"', '2.0') });
    validateAnswer(refused(404));
    validateAnswer({ ...up, path: '/nowhere', status: 404, body: JSON.stringify(notFound) });
  });

  it.each<[string, Answer, RegExp]>([
    ['an unknown member', { ...up, body: '{"status":"UP","since":1}' }, /additional properties/],
    ['a missing member', { ...up, body: '{}' }, /must have required property 'status'/],
    ['a status of no mention', { ...up, status: 201 }, /which the document does not have/],
    [
      'another type of content',
      { ...up, contentType: 'text/plain' },
      /as text\/plain instead of application\/json/,
    ],
    ['another charset', { ...up, contentType: 'application/json' }, /as application\/json/],
    ['no JSON', { ...up, body: '<html>' }, /JSON/],
    ['an integer inside a manifest', shown({ replicas: 2 }), /body\/manifest must pass "x-numbers"/],
    ['a null among the members of a manifest', shown(null), /body\/manifest\/spec/],
    ['an error that says another status', refused(500), /body\/status must be equal to constant/],
    [
      'an answer without a route that is no error',
      { ...up, path: '/nowhere' },
      /which the document does not have/,
    ],
  ])('refuses %s', (_what, answer, message) => {
    expect(() => validateAnswer(answer)).toThrow(message);
  });
});
