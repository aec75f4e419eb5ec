import { execFile } from 'node:child_process'
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import packageJson from '../../package.json' with { type: 'json' }

/** Packs the packages and installs them from their tarballs, as users get them. */

const root = fileURLToPath(new URL('../..', import.meta.url))
const run = promisify(execFile)

/** Packs a folder, by default the checkout, into `folder`, and returns the path of the tarball. */
export async function pack(folder: string, packed = root): Promise<string> {
  const words = ['pack', '--silent', '--pack-destination', folder]
  const { stdout } = await run('npm', words, { cwd: packed })
  return join(folder, stdout.trim().split('\n').at(-1) ?? '')
}

/** Creates the package of the compiled `src/client` in `folder`, packs it there, and returns the path of the tarball. */
export async function packClient(folder: string): Promise<string> {
  const compiled = join(root, 'dist/client')
  const target = join(folder, 'client-package')
  rmSync(target, { recursive: true, force: true })
  mkdirSync(target)
  writeFileSync(join(target, 'package.json'), `${JSON.stringify(clientManifest, undefined, 2)}\n`)
  copyFileSync(join(root, 'LICENSE'), join(target, 'LICENSE'))
  const readme = readFileSync(join(root, 'docs/client.md'), 'utf8')
  // The package has none of the other documents.
  writeFileSync(join(target, 'README.md'), readme.replaceAll(relativeLink, 'docs/$1'))
  for (const file of readdirSync(compiled)) {
    if (/\.(?:js|d\.ts)$/.test(file)) copyFileSync(join(compiled, file), join(target, file))
  }
  return await pack(folder, target)
}

/** A link to another document or to an example; the target is its first group. */
const relativeLink = /\[[^\]]*\]\((?!https?:|#)([^)]*)\)/g

const entry = (name: string) => ({ types: `./${name}.d.ts`, default: `./${name}.js` })

const clientManifest = {
  name: '@ledger-gateway/client',
  version: packageJson.version,
  description: 'Queries a Ledger Gateway and follows its feed, from Node, browsers and React',
  keywords: ['graphql', 'subscriptions', 'utxo', 'ledger', 'iota', 'react'],
  license: packageJson.license,
  type: 'module',
  sideEffects: false,
  engines: { node: '>=20' },
  exports: { '.': entry('index'), './react': entry('react'), './scalars': entry('scalars') },
  peerDependencies: { react: '>=18' },
  peerDependenciesMeta: { react: { optional: true } },
}

/** Installs tarballs into an empty folder, as a user does. npm prefers packages from its cache. */
export async function install(folder: string, ...tarballs: readonly string[]): Promise<void> {
  mkdirSync(folder)
  writeFileSync(join(folder, 'package.json'), '{"private":true,"type":"module"}')
  const words = ['--omit=dev', '--prefer-offline', '--no-audit', '--no-fund', '--silent']
  await run('npm', ['install', ...words, ...tarballs], { cwd: folder })
}
