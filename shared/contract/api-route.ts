import type * as z from 'zod';
import type { JsonValue } from '#core/json.ts';

/** A value that shows what a caller sends or gets. */
export type ApiExample = {
  readonly summary: string;
  readonly value: JsonValue;
};

/** Examples by a name of letters; at least one. */
export type ApiExamples = { readonly [name: string]: ApiExample };

/** One parameter of a route. Those of the path are required, the others are not. */
export interface ApiParameter {
  readonly in: 'path' | 'query' | 'header';
  readonly name: string;
  readonly description: string;
  readonly schema: z.ZodType;
  readonly example: JsonValue;
}

/** The body of a request, in JSON. */
export interface ApiRequestBody {
  readonly description: string;
  /** What is accepted: the input side of a schema that may transform. */
  readonly schema: z.ZodType;
  /** False when the route does without a body. */
  readonly required: boolean;
  readonly examples: ApiExamples;
}

/** What 200 answers: JSON of a schema, or bytes. */
export type ApiAnswer =
  | { readonly description: string; readonly schema: z.ZodType; readonly examples: ApiExamples }
  | {
      readonly description: string;
      readonly bytes: true;
      readonly example: string;
      /** Default: bytes of any type. */
      readonly contentType?: 'text/html';
    };

/** One route as the API's document tells it. */
export interface ApiRoute {
  /** Unique, a verb and a noun. */
  readonly operationId: string;
  /** The group it stands in. */
  readonly tag: string;
  /** One line. */
  readonly summary: string;
  /** What else a caller must know, in CommonMark. */
  readonly description?: string;
  readonly parameters?: readonly ApiParameter[];
  readonly request?: ApiRequestBody;
  readonly answer: ApiAnswer;
  /** Status of the answer. Default 200. With 204 it has no body. */
  readonly answerStatus?: 201 | 202 | 204;
  /** Its errors have go-clouddriver's form, but for those of the front door. */
  readonly hasPlainErrors?: true;
  /**
   * It is answered out of the cache: headers tell how old the answer is, and the request may demand a fresher one. `whereLiveFails`:
   * it is only where a cluster does not answer.
   */
  readonly isCached?: true | 'whereLiveFails';
  /** It has an `ETag`, as all that is `isCached: true` does: who has the answer already is answered 304. */
  readonly isTagged?: true;
  /** Path of a page to which requests of browsers are answered 303. */
  readonly browsersAreSentTo?: string;
  /** Errors besides those that every route, and every route with a body, has. */
  readonly errors?: readonly (404 | 405 | 409 | 412)[];
}

/** Routes by method and path, as `functions/routes.ts` writes them: `GET /task/{id}`. */
export type ApiRoutes = { readonly [route: string]: ApiRoute };

/** Routes of one tag. */
export function groupRoutes(
  tag: string,
  routes: { readonly [route: string]: Omit<ApiRoute, 'tag'> },
): ApiRoutes {
  return Object.fromEntries(Object.entries(routes).map(([name, route]) => [name, { ...route, tag }]));
}

/** An operation of a provider whose description the document shows. */
export interface DescribedOperation {
  /** Name in the request: `deployManifest`. */
  readonly name: string;
  /** What its description is called. Default: made of the name, for which no other operation may have that. */
  readonly title?: string;
  /** What reads its description: an object with fields, made by `objectField`. */
  readonly schema: z.ZodType;
}
