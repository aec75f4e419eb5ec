#!/usr/bin/env node
'use strict'

/** The command of a checkout: runs the sources, and first generates what they need where it is missing or out of date. */

const path = require('path')
const start = require('../../src/entry.cjs')

start(() => {
  // Code compiled and types stripped once are kept, beside the packages, where nobody else may write.
  const cache = path.join(__dirname, '../../node_modules/.cache/ledger-gateway/compiled')
  require('module').enableCompileCache(cache)
  return import('../support/generate.ts')
    .then(({ clientsOf, generateClients }) =>
      generateClients(clientsOf(process.argv, process.env.DATABASE_URL)),
    )
    .then((isGenerated) => {
      if (isGenerated) return true
      process.exitCode = 1
      return false
    })
    .then((isReady) => {
      const isShown = process.argv[2] === 'serve' && process.env.EXPLORER !== 'off'
      if (!isReady || !isShown) return isReady
      return import('../support/build-explorer.ts')
        .then(({ buildExplorer }) => buildExplorer())
        .then(() => true)
    })
    .then((isReady) => {
      if (isReady) return import('../../src/main.ts')
    })
})
