import { expect, test } from 'vitest';
import { InvalidInputError } from '#core/errors.ts';
import { parseDeployPriority } from '#providers/kubernetes/kinds/priority.ts';

test.each([
  [100, 100],
  ['100', 100],
  [' 7 ', 7],
  ['-5', -5],
  ['NAMESPACE_PRIORITY', 0],
  ['namespace_priority', 0],
  ['Role_Priority', 20],
  ['ROLE_BINDING_PRIORITY', 30],
  ['RESOURCE_DEFINITION_PRIORITY', 30],
  ['SERVICE_ACCOUNT_PRIORITY', 40],
  ['STORAGE_CLASS_PRIORITY', 40],
  ['ADMISSION_PRIORITY', 40],
  ['MOUNTABLE_DATA_BACKING_RESOURCE_PRIORITY', 40],
  ['MOUNTABLE_DATA_PRIORITY', 50],
  ['NETWORK_RESOURCE_PRIORITY', 70],
  ['API_SERVICE_PRIORITY', 80],
  ['PDB_PRIORITY', 90],
  ['WORKLOAD_MODIFIER_PRIORITY', 90],
  ['WORKLOAD_CONTROLLER_PRIORITY', 100],
  ['WORKLOAD_PRIORITY', 100],
  ['WORKLOAD_ATTACHMENT_PRIORITY', 110],
  ['LOWEST_PRIORITY', 1000],
])('a deploy priority of %j is %i', (value, priority) => {
  expect(parseDeployPriority(value, 'A.example.com')).toBe(priority);
});

test.each(['', 'HIGH', '1.5', 'toString', Number.NaN])('%j is no deploy priority', (value) => {
  expect(() => parseDeployPriority(value, 'A.example.com')).toThrow(InvalidInputError);
  expect(() => parseDeployPriority(value, 'A.example.com')).toThrow(/deployPriority.*LOWEST_PRIORITY/);
});
