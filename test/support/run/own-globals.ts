/** Suites share a worker: what an earlier one made global, such as Lambda's streams of answers, is none of the next one's. */
Reflect.deleteProperty(globalThis, 'awslambda');
