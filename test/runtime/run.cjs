#!/usr/bin/env node
'use strict'

/**
 * `node test/runtime/run.cjs FILE …`: runs a module of the checkout, on the Node that it brings where the installed one is
 * older. npm 10 leaves that one out of node_modules/.bin: it removes the links of the platform packages that do not fit,
 * which are those of the one that fits.
 */

const path = require('path')
const { pathToFileURL } = require('url')
const start = require('../../src/entry.cjs')

start(() => {
  // As if the module had been named to Node.
  process.argv.splice(1, 2, path.resolve(process.argv[2]))
  return import(pathToFileURL(process.argv[1]).href)
})
