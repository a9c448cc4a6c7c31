/**
 * What bundles take for `node:http`. An ES module that imports the real one touches each of its members, and so loads the
 * WebSocket and the fetch that some of them bring: 10 to 20 ms of a start, for nothing that we use. Asking for it like this
 * touches none.
 */
module.exports = process.getBuiltinModule('node:http');
