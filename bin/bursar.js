#!/usr/bin/env node
// CommonJS on purpose: Node 20 loads an ES module through libuv's pool, and the pool's size is fixed at first use.
// DuckDB works on that pool; with its default of four threads a few queries at once make every file access wait.
process.env['UV_THREADPOOL_SIZE'] ??= '12';

const { existsSync, readFileSync } = require('node:fs');
const path = require('node:path');
const { pathToFileURL } = require('node:url');

const home = path.join(__dirname, '..');
const bundle = path.join(home, 'dist', 'main.js');

// Answered here, so that scripts which ask for the version do not pay for loading the rest.
if (process.argv[2] === '--version' || process.argv[2] === '-V') {
  console.log(JSON.parse(readFileSync(path.join(home, 'package.json'), 'utf8')).version);
} else if (existsSync(bundle)) {
  void import(pathToFileURL(bundle).href)
    .then(({ main }) => main(process.argv.slice(2)))
    .then((exitCode) => {
      process.exitCode = exitCode;
    });
} else {
  console.error('bursar: not built yet: npm run build');
  process.exitCode = 1;
}
