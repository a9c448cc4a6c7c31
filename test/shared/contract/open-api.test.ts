import { readFileSync } from 'node:fs';
import { validate } from '@readme/openapi-parser';
import { describe, expect, it } from 'vitest';
import { createOpenApiDocument } from '#contract/open-api.ts';
import { apiVersion } from '#core/api-version.ts';
import { asJsonArray, asJsonObject, getPath, type JsonObject } from '#core/json.ts';
import { routes } from '#functions/routes.ts';
import { operationDefinitions } from '#providers/kubernetes/operations/index.ts';
import { v1OperationDefinitions } from '#providers/kubernetes/v1/operations/index.ts';
import { root } from '#test/architecture/source-files.ts';
import { createValidators } from '#test/support/system/open-api-ajv.ts';

const document = createOpenApiDocument([...operationDefinitions, ...v1OperationDefinitions]);
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({
    route: `${method.toUpperCase()} ${path}`,
    path,
    operation,
  })),
);

describe('the OpenAPI document', () => {
  it('is committed as it is generated: `npm run openapi` writes it', async () => {
    const text = `${JSON.stringify(document, undefined, 2)}\n`;
    await expect(text).toMatchFileSnapshot('../../../docs/openapi.json');
  });

  it('is valid', async () => {
    const copy = structuredClone(document) as unknown as Parameters<typeof validate>[0];
    expect(await validate(copy)).toMatchObject({ valid: true, warnings: [] });
  });

  it('has the version of the package', () => {
    const { version } = JSON.parse(readFileSync(`${root}/package.json`, 'utf8'));
    expect(apiVersion).toBe(version);
  });
});

describe('a route', () => {
  it('is in the document when it is in the inventory, under the name of its function unless that has several', () => {
    const modules = Map.groupBy(routes, ({ module }) => module);
    const named = [...modules.values()].filter((rows) => rows.length === 1).flat();
    const names = new Map(
      named.map(({ method, path, module }) => [`${method} ${path}`, toOperationId(module)]),
    );
    const documented = operations.map(({ route }) => route);
    const ids = operations.map(({ operation }) => operation['operationId']);

    expect(documented.sort()).toEqual(routes.map(({ method, path }) => `${method} ${path}`).sort());
    expect(new Set(ids).size).toBe(ids.length);
    for (const { route, operation } of operations) {
      expect([route, operation['operationId']]).toEqual([route, names.get(route) ?? expect.any(String)]);
    }
  });

  it.each(operations)(
    'has its path parameters, answers, errors and examples: $route',
    ({ path, operation }) => {
      const parameters = asJsonArray(operation['parameters']).map(getParameter);
      const inPath = parameters.filter((each) => each['in'] === 'path').map(({ name }) => `{${name}}`);
      expect(inPath).toEqual(path.split('/').filter((part) => part.startsWith('{')));
      expect(parameters.every(({ example, $ref }) => example !== undefined || $ref !== undefined)).toBe(true);
      const statuses = Object.keys(asJsonObject(operation['responses']) ?? {});
      expect(statuses).toEqual(expect.arrayContaining(['400', '403', '429', '500', '503', '504']));
      expect(statuses.filter((status) => ['200', '201', '202', '204'].includes(status))).toHaveLength(1);
      expect(statuses.includes('413')).toBe(operation['requestBody'] !== undefined);
      for (const content of listContents(operation)) {
        expect(content['example'] ?? Object.keys(asJsonObject(content['examples']) ?? {})[0]).toBeDefined();
      }
    },
  );
});

describe('an operation of a provider', () => {
  it('is one of those that a list may hold, with its own fields and its account', () => {
    const { schemas } = document.components;
    const items = asJsonArray(getPath(schemas['Operations'], 'items', 'oneOf'));
    const names = items.flatMap((item) => Object.keys(asJsonObject(getPath(item, 'properties')) ?? {}));
    const all = [...operationDefinitions, ...v1OperationDefinitions].map(({ name }) => name);
    expect(names).toEqual([...new Set(all)]);
    const { properties } = schemas['ScaleManifestDescription'] ?? {};
    expect(properties).toMatchObject({
      account: { type: ['string', 'number', 'boolean', 'null'] },
      manifestName: { type: ['string', 'number', 'boolean', 'null'] },
      replicas: { type: ['number', 'string', 'null'], minimum: 0 },
    });
    expect(schemas['DeployKubernetesAtomicOperationDescription']).toMatchObject({
      properties: {
        account: { type: ['string', 'number', 'boolean', 'null'] },
        targetSize: { type: ['number', 'string', 'null'] },
        containers: { anyOf: [{ items: { $ref: '#/components/schemas/KubernetesV1Container' } }, {}] },
      },
    });
  });
});

describe('the schemas', () => {
  const validators = createValidators(document);
  const contents = [
    ...operations.flatMap(({ route, operation }) =>
      listContents(operation).map((content) => ({ route, content })),
    ),
    ...Object.entries(document.components.responses).map(([route, response]) => ({
      route,
      content: asJsonObject(getPath(response, 'content', 'application/json')) ?? {},
    })),
  ].filter(({ content }) => content['schema'] !== undefined);

  it.each(contents)('accept their examples: $route', ({ content }) => {
    const reference = String(getPath(content, 'schema', '$ref'));
    const accepts = validators.get(reference);
    for (const [name, example] of Object.entries(asJsonObject(content['examples']) ?? {})) {
      accepts(getPath(example, 'value'));
      expect({ name, errors: accepts.errors ?? [] }).toEqual({ name, errors: [] });
    }
  });
});

/** A parameter, or the one that many routes share. */
function getParameter(value: unknown): JsonObject {
  const parameter = asJsonObject(value) ?? {};
  const [, name] = /^#\/components\/parameters\/(\w+)$/.exec(String(parameter['$ref'])) ?? [];
  return name === undefined ? parameter : (document.components.parameters[name] ?? {});
}

/** The contents of the request and of the answer. */
function listContents(operation: JsonObject): JsonObject[] {
  const answers = ['200', '201', '202'].map((status) => getPath(operation, 'responses', status));
  const holders = [operation['requestBody'], ...answers];
  return holders
    .flatMap((holder) => Object.values(asJsonObject(getPath(holder, 'content')) ?? {}))
    .map((content) => asJsonObject(content) ?? {});
}

/** `api/tasks/get-task` is `getTask`. */
function toOperationId(module: string): string {
  const name = module.slice(module.lastIndexOf('/') + 1);
  return name.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
}
