#!/usr/bin/env node
'use strict'

/**
 * The installed command. Node 10 and newer can read its syntax, so that an old one refuses in a sentence. In a checkout the
 * Node that the checkout brings takes the place of an old one.
 */

const { spawn } = require('child_process')
const { existsSync } = require('fs')
const path = require('path')
const { engines } = require('../package.json')

module.exports = start
if (require.main === module) start(() => import('./main.ts'))

/** Calls `load` on a supported Node; on an older one runs the same script on the checkout's Node, or refuses. */
function start(load) {
  const oldest = engines.node.replace('>=', '')
  if (isAtLeast(process.versions.node, oldest)) return load()
  const runtime = checkoutRuntime()
  if (existsSync(runtime)) return runOn(runtime)
  const found = process.versions.node
  process.stderr.write(`ledger-gateway needs Node ${oldest} or newer; this is Node ${found}.\n`)
  process.exitCode = 1
}

function isAtLeast(version, oldest) {
  const [major, minor] = version.split('.').map(Number)
  const [oldestMajor, oldestMinor = 0] = oldest.split('.').map(Number)
  return major > oldestMajor || (major === oldestMajor && minor >= oldestMinor)
}

/** Where npm puts what test/runtime/package.json names for this platform; beside an installed package nothing is there. */
function checkoutRuntime() {
  const isWindows = process.platform === 'win32'
  const name = `node-${isWindows ? 'win' : process.platform}-${process.arch}`
  const file = isWindows ? 'node.exe' : 'node'
  return path.join(__dirname, '..', 'node_modules', name, 'bin', file)
}

/** Runs this script on another Node, and ends as that one ends. */
function runOn(runtime) {
  // For what it starts.
  process.env.PATH = path.dirname(runtime) + path.delimiter + process.env.PATH
  const child = spawn(runtime, process.argv.slice(1), { stdio: 'inherit' })
  // SIGUSR2 confirms the clock. Here it would end this process alone.
  for (const signal of ['SIGTERM', 'SIGHUP', 'SIGUSR2'])
    process.on(signal, () => child.kill(signal))
  // A terminal sends it to the child as well, which takes two for "at once".
  process.on('SIGINT', () => {})
  child.on('error', (error) => {
    process.stderr.write(`ledger-gateway cannot run ${runtime}: ${error.message}\n`)
    process.exitCode = 1
  })
  child.on('exit', (code, signal) => {
    if (signal === null) process.exit(code)
    process.removeAllListeners(signal)
    process.kill(process.pid, signal)
  })
}
