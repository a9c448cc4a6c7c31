/**
 * Undici's connection pool without the rest of undici (fetch, WebSocket, caches): a third of the bundle and of the
 * time to load it. The package is pinned; its types are those of the public entry.
 */
declare module 'undici/lib/dispatcher/pool.js' {
  import { Pool } from 'undici';

  export default Pool;
}
