import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

/** The exit code of a test run tells whether all tests passed, because a CI job looks at nothing else. */

const root = fileURLToPath(new URL('../..', import.meta.url))

test.each([
  ['all tests pass', 1, 0],
  ['one test fails', 2, 1],
] as const)(
  'the exit code of a test run is right if %s',
  (_name, given, code) => {
    // Inside the checkout, so that its packages are found, but outside the folders with tests.
    const folder = mkdtempSync(join(root, 'node_modules', '.exit-code-'))
    const setup = join(root, 'test/support/postgresql-setup.ts')
    writeFileSync(
      join(folder, 'vitest.config.ts'),
      `export default { test: { include: ['*.check.ts'], globalSetup: ${JSON.stringify(setup)} } }`,
    )
    writeFileSync(
      join(folder, 'one.check.ts'),
      `import { expect, test } from 'vitest'\ntest('one', () => expect(${given}).toBe(1))`,
    )
    const vitest = join(root, 'node_modules/vitest/vitest.mjs')
    const run = spawnSync(process.execPath, [vitest, 'run', '--root', folder], { encoding: 'utf8' })
    rmSync(folder, { recursive: true })
    expect(run.stdout).toContain(code === 0 ? '1 passed' : '1 failed')
    expect(run.status).toBe(code)
  },
  60_000,
)
