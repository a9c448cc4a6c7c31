/** What a promise is rejected with; undefined where it is not. */
export async function getFailure(promise: Promise<unknown> | undefined): Promise<unknown> {
  try {
    await promise;
    return undefined;
  } catch (error) {
    return error;
  }
}
