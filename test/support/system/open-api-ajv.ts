import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { hasWrittenInteger } from '../cluster/written-numbers.ts';

/** Validators of the schemas of an OpenAPI 3.1 document. */
export interface DocumentValidators {
  /** The validator of a schema, by its reference: `#/components/schemas/Task`. Keywords it does not know are errors. */
  get(reference: string): ValidateFunction;
  /** What a validator found, in words. */
  explain(validate: ValidateFunction): string;
}

/** Makes validators from a document by a library that had no part in making it. */
export function createValidators(document: object): DocumentValidators {
  const ajv = new Ajv2020({ allErrors: true, allowUnionTypes: true, strictRequired: false });
  ajv.addVocabulary(Object.keys(document));
  ajv.addKeyword({ keyword: 'x-numbers', validate: (_: unknown, data: unknown) => !hasWrittenInteger(data) });
  ajv.addSchema(document, 'api');
  return {
    get: (reference) => ajv.getSchema(`api${reference}`) ?? fail(reference),
    explain: ({ errors }) => ajv.errorsText(errors, { dataVar: 'body', separator: '\n' }),
  };
}

function fail(reference: string): never {
  throw new Error(`The document has no ${reference}`);
}
