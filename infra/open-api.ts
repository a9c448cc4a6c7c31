import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The part of an OpenAPI document from which API Gateway is set up. */
export interface OpenApiDocument {
  readonly info: { readonly title: string; readonly version: string };
  /** Operations by path and, in lower case, method. */
  readonly paths: { readonly [path: string]: { readonly [method: string]: OpenApiOperation } };
}

/** One operation. */
export interface OpenApiOperation {
  readonly operationId: string;
  readonly parameters?: readonly OpenApiParameter[];
}

/** A parameter of an operation. */
export interface OpenApiParameter {
  readonly name: string;
  /** Where it is: `path`, `query`, `header`. */
  readonly in: string;
}

/** Reads the document that describes the API, as it is committed. */
export function readOpenApiDocument(): OpenApiDocument {
  const file = join(import.meta.dirname, '..', 'docs', 'openapi.json');
  return JSON.parse(readFileSync(file, 'utf8')) as OpenApiDocument;
}
