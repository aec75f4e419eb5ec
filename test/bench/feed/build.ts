import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/**
 * Compiles the processes of the benchmark as the program itself is compiled: what runs sources on the fly gives every
 * function a name of its own, and with that costs memory that nobody has in service.
 */
export function buildProcesses(): URL {
  const root = new URL('../../../', import.meta.url)
  const out = new URL('node_modules/.cache/ledger-gateway-bench/', root)
  mkdirSync(out, { recursive: true })
  const config = new URL('tsconfig.json', out)
  writeFileSync(
    config,
    JSON.stringify({
      extends: fileURLToPath(new URL('tsconfig.json', root)),
      compilerOptions: {
        noEmit: false,
        rootDir: fileURLToPath(root),
        outDir: '.',
        // The whole check is another command's.
        noCheck: true,
      },
      include: [],
      files: ['server.ts', 'clients.ts'].map((file) =>
        fileURLToPath(new URL(`test/bench/feed/${file}`, root)),
      ),
    }),
  )
  execFileSync(fileURLToPath(new URL('node_modules/.bin/tsc', root)), ['-p', fileURLToPath(config)])
  for (const name of ['prisma', 'package.json']) {
    const link = new URL(name, out)
    if (!existsSync(link)) symlinkSync(fileURLToPath(new URL(name, root)), fileURLToPath(link))
  }
  return new URL('test/bench/feed/', out)
}
