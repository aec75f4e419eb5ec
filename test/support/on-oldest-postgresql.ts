import { spawnSync } from 'node:child_process'

/**
 * `npm run test:oldest [-- FILE …]` runs the tests of PostgreSQL, or some files, on the oldest version of PostgreSQL that the gateway
 * supports. Its package exists for Linux on x64 only.
 */

const words = process.argv.slice(2)
const usual = ['test/store', 'test/node', 'test/e2e/replicas.test.ts', '-t', 'postgresql|replica']

if (process.platform === 'linux' && process.arch === 'x64') {
  const { status } = spawnSync(
    process.execPath,
    ['node_modules/vitest/vitest.mjs', 'run', ...(words.length > 0 ? words : usual)],
    {
      stdio: 'inherit',
      env: { ...process.env, TEST_POSTGRESQL: 'oldest', TEST_DATABASE: 'postgresql' },
    },
  )
  process.exitCode = status ?? 1
} else {
  console.log('The oldest PostgreSQL has a package for Linux on x64 only.')
}
