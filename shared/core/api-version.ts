/** Version of the API; the same as the package's. */
export const apiVersion = '0.1.0';
