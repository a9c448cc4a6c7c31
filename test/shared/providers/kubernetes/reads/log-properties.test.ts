import { expect, test } from 'vitest';
import { parseLogProperties, propertiesMax } from '#providers/kubernetes/reads/log-properties.ts';

test.each([
  { log: '', properties: {} },
  { log: 'hello\nworld', properties: {} },
  { log: 'SPINNAKER_PROPERTY_Version=1.2', properties: { version: '1.2' } },
  { log: '  SPINNAKER_PROPERTY_url=http://x/?a=b \r\n', properties: { url: 'http://x/?a=b' } },
  { log: '[main] SPINNAKER_PROPERTY_A=1', properties: { '[main] a': '1' } },
  { log: 'SPINNAKER_PROPERTY_empty=', properties: {} },
  { log: 'SPINNAKER_PROPERTY_nothing', properties: {} },
  { log: 'SPINNAKER_PROPERTY_a=1\nSPINNAKER_PROPERTY_a=2', properties: { a: '2' } },
  {
    log: 'SPINNAKER_PROPERTY_a=1\nSPINNAKER_CONFIG_JSON={"b":{"c":[1,2]},"d":null}',
    properties: { a: '1', b: { c: [1, 2] }, d: null },
  },
  { log: 'SPINNAKER_PROPERTY_a=1\nSPINNAKER_CONFIG_JSON={"b":', properties: {} },
  { log: 'SPINNAKER_CONFIG_JSON=[1]', properties: {} },
  { log: 'SPINNAKER_CONFIG_JSON={"a":9007199254740993}', properties: { a: 9007199254740993n } },
  { log: 'SPINNAKER_PROPERTY___proto__=x', properties: JSON.parse('{"__proto__":"x"}') },
])('the properties in $log', ({ log, properties }) => {
  expect(JSON.stringify(parseLogProperties(log))).toBe(JSON.stringify(properties));
});

test('of more properties than a pipeline can bear, there are none', () => {
  const toLog = (count: number): string =>
    Array.from({ length: count }, (_, index) => `SPINNAKER_PROPERTY_k${index}=1`).join('\n');
  expect(Object.keys(parseLogProperties(toLog(propertiesMax)))).toHaveLength(propertiesMax);
  expect(parseLogProperties(toLog(propertiesMax + 1))).toEqual({});
});
